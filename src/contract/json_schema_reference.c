/*-------------------------------------------------------------------------
 *
 * json_schema_reference.c
 *	  Resolving the references of a schema: $ref and $dynamicRef.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_part.h"

#include "base/document.h"
#include "base/uri.h"
#include "miscadmin.h"
#include "protocol/value.h"

#define DRAFT	"https://json-schema.org/draft/2020-12/"
#define DRAFT_7	"//json-schema.org/draft-07/schema"

/* --------------------------------------------------------------- resources */

static SchemaResource *
json_schema_resource(SchemaCompiler *c, Slice uri)
{
	ListCell   *cell;

	foreach(cell, c->resources)
	{
		SchemaResource *resource = lfirst(cell);

		if (slice_equal(resource->uri, uri))
			return resource;
	}
	foreach(cell, c->aliases)
	{
		SchemaAlias *alias = lfirst(cell);

		if (slice_equal(alias->uri, uri))
			return alias->resource;
	}
	return NULL;
}

void
json_schema_add_resource(SchemaCompiler *c, SchemaResource *resource)
{
	if (json_schema_resource(c, resource->uri) != NULL)
		json_schema_fault(c, resource->root, "$id", "DUPLICATE_VALUE",
						  "The URI %s is that of another schema, too.", place_quote(resource->uri));
	c->resources = lappend(c->resources, resource);
}

void
json_schema_add_alias(SchemaCompiler *c, Slice uri, SchemaResource *resource)
{
	SchemaAlias *alias = palloc(sizeof(SchemaAlias));

	*alias = (SchemaAlias) {uri, resource};
	c->aliases = lappend(c->aliases, alias);
}

static Jsonb *
json_schema_find(SchemaCompiler *c, Slice uri)
{
	return c->find != NULL ? c->find(uri) : NULL;
}

static const struct
{
	const char *uri;
	uint32		bit;
}			schema_vocabularies[] = {
	{DRAFT "vocab/core", VOCABULARY_CORE},
	{DRAFT "vocab/applicator", VOCABULARY_APPLICATOR},
	{DRAFT "vocab/unevaluated", VOCABULARY_UNEVALUATED},
	{DRAFT "vocab/validation", VOCABULARY_VALIDATION},
	{DRAFT "vocab/meta-data", VOCABULARY_NOTED},
	{DRAFT "vocab/format-annotation", VOCABULARY_NOTED},
	{DRAFT "vocab/format-assertion", VOCABULARY_FORMAT},
	{DRAFT "vocab/content", VOCABULARY_NOTED},
};

static uint32
json_schema_vocabulary(Slice uri)
{
	int			i;

	for (i = 0; i < lengthof(schema_vocabularies); i++)
		if (slice_is(uri, schema_vocabularies[i].uri))
			return schema_vocabularies[i].bit;
	return 0;
}

uint32
json_schema_vocabularies(SchemaCompiler *c, Slice uri)
{
	Jsonb	   *document;
	JsonbContainer *listed;
	uint32		all = VOCABULARY_CORE;
	int			i;

	if (slice_equal(uri, SLICE_OF(DRAFT "schema")))
		return VOCABULARY_STANDARD;
	if (slice_equal(uri, SLICE_OF("http:" DRAFT_7)) || slice_equal(uri, SLICE_OF("https:" DRAFT_7)))
		return VOCABULARY_CORE | VOCABULARY_APPLICATOR | VOCABULARY_VALIDATION | VOCABULARY_DRAFT_7;
	document = json_schema_find(c, uri);
	if (document == NULL)
		return 0;
	listed = document_get_container(&document->root, "$vocabulary");
	if (listed == NULL || !JsonContainerIsObject(listed))
		return VOCABULARY_STANDARD;
	for (i = 0; i < JsonContainerSize(listed); i++)
	{
		uint32		bit = json_schema_vocabulary(value_key_at(listed, i));
		JsonbValue	required;

		value_at(listed, i, &required);
		if (bit == 0 && required.type == jbvBool && required.val.boolean)
			return 0;
		all |= bit;
	}
	return all;
}

/* ----------------------------------------------------------------- targets */

/*
 * Returns the anchor of the resource with that name, or NULL if there is none.
 */
static SchemaAnchor *
json_schema_anchor(const SchemaResource *resource, Slice name)
{
	ListCell   *cell;

	foreach(cell, resource->anchors)
	{
		SchemaAnchor *anchor = lfirst(cell);

		if (slice_equal(anchor->name, name))
			return anchor;
	}
	return NULL;
}

/*
 * Returns the next token of a JSON pointer, unescaped.  The pointer must begin
 * with a slash.
 */
static Slice
json_schema_take_token(Slice *pointer)
{
	char	   *token = palloc(pointer->len);
	int			n = 0;
	int			i;

	for (i = 1; i < pointer->len && pointer->s[i] != '/'; i++)
	{
		char		c = pointer->s[i];

		if (c == '~' && i + 1 < pointer->len && (pointer->s[i + 1] == '0' || pointer->s[i + 1] == '1'))
			c = pointer->s[++i] == '0' ? '~' : '/';
		token[n++] = c;
	}
	pointer->s += i;
	pointer->len -= i;
	return (Slice) {token, n};
}

/*
 * Goes one step down, by a key or an index.  Returns false if there is
 * nothing.
 */
static bool
json_schema_descend(JsonbContainer *container, Slice token, JsonbValue *value)
{
	char	   *text = slice_cstring(token);
	unsigned long index;

	if (JsonContainerIsObject(container))
		return getKeyJsonValueFromContainer(container, token.s, token.len, value) != NULL;
	/* a token may also contain a byte 0, at which strtoul would stop */
	if (token.len == 0 || strspn(text, "0123456789") != token.len)
		return false;
	index = strtoul(text, NULL, 10);
	if (index >= JsonContainerSize(container))
		return false;
	value_at(container, index, value);
	return true;
}

static SchemaNode *
json_schema_node_at(SchemaCompiler *c, const JsonbContainer *container)
{
	SchemaNodeEntry *entry = hash_search(c->nodes, &container, HASH_FIND, NULL);

	return entry != NULL ? entry->node : NULL;
}

/*
 * Returns the schema to which a JSON pointer leads.  It may be in a place
 * where no known keyword holds schemas; in that case it is read now, as part
 * of the enclosing schema.
 */
static SchemaNode *
json_schema_point(SchemaCompiler *c, SchemaResource *resource, Slice pointer)
{
	SchemaNode *around = resource->root;
	JsonbValue	value = {.type = jbvBinary};
	SchemaNode *node = NULL;
	Slice		rest = pointer;
	Slice		beyond = pointer;

	value.val.binary.data = resource->container;
	while (rest.len > 0)
	{
		if (value.type != jbvBinary || value.val.binary.data == NULL ||
			!json_schema_descend(value.val.binary.data, json_schema_take_token(&rest), &value))
			return NULL;
		node = value.type == jbvBinary ? json_schema_node_at(c, value.val.binary.data) : NULL;
		if (node != NULL)
		{
			around = node;
			beyond = rest;
		}
	}
	if (node != NULL)
		return node;
	return json_schema_read(c, around, &value,
							slice_cstring(slice_after(beyond, 1)), SLICE_NONE, -1);
}

/*
 * Has this very document been read, under another URI?  Then this URI is
 * another one of it.  Two versions of a payload type may have the same $id, but
 * are not the same document.
 */
static bool
json_schema_is_known(SchemaCompiler *c, Jsonb *document, Slice found_by)
{
	JsonbValue	id;
	Slice		fragment;
	SchemaResource *known;

	if (!JB_ROOT_IS_OBJECT(document) || !document_get(&document->root, "$id", &id) ||
		id.type != jbvString)
		return false;
	known = json_schema_resource(c, uri_resolve(found_by, document_text(&id),
												&fragment));
	if (known == NULL || known->container == NULL ||
		compareJsonbContainers(&document->root, known->container) != 0)
		return false;
	json_schema_add_alias(c, found_by, known);
	return true;
}

/*
 * Returns the resource that a reference names, reading its document if
 * necessary.
 */
static SchemaResource *
json_schema_need_resource(SchemaCompiler *c, Slice uri)
{
	SchemaResource *resource = json_schema_resource(c, uri);
	Slice		found_by = uri;
	Jsonb	   *document;

	if (resource != NULL)
		return resource;
	/* the vocabularies are parts of the schema of schemas */
	if (slice_starts(uri, SLICE_OF(DRAFT "meta/")))
		found_by = SLICE_OF(DRAFT "schema");
	if (json_schema_resource(c, found_by) == NULL && (document = json_schema_find(c, found_by)) != NULL &&
		!json_schema_is_known(c, document, found_by))
		(void) json_schema_read_document(c, document, found_by, true);
	return json_schema_resource(c, uri);
}

static SchemaNode *
json_schema_target(SchemaCompiler *c, SchemaCheck *check, const SchemaNode *node)
{
	Slice		fragment;
	Slice		uri = uri_resolve(node->resource->uri, check->word, &fragment);
	SchemaResource *resource = json_schema_need_resource(c, uri);
	SchemaAnchor *anchor;

	if (resource == NULL || (fragment.len > 0 && !slice_present(fragment = uri_decode(fragment, true))))
		return NULL;
	if (fragment.len == 0)
		return resource->root;
	if (fragment.s[0] == '/')
		return json_schema_point(c, resource, fragment);
	anchor = json_schema_anchor(resource, fragment);
	if (anchor == NULL)
		return NULL;
	if (check->kind == CHECK_DYNAMIC_REF && anchor->dynamic)
	{
		check->anchor = anchor->name;
		c->schema->is_dynamic = true;
	}
	return anchor->node;
}

void
json_schema_resolve(SchemaCompiler *c)
{
	/* the list grows meanwhile */
	int			i;

	for (i = 0; i < list_length(c->pending) && !c->stopped; i++)
	{
		SchemaPending *pending = list_nth(c->pending, i);
		SchemaCheck *check = json_schema_check_of(pending->node, pending->kind);

		CHECK_FOR_INTERRUPTS();
		check->rest = json_schema_target(c, check, pending->node);
		if (check->rest == NULL && !c->stopped)
			json_schema_fault(c, pending->node,
							  pending->kind == CHECK_REF ? "$ref" : "$dynamicRef", "UNKNOWN_SCHEMA",
							  "%s does not lead to a schema of this document or a registered one.",
							  place_quote(check->word));
	}
}

/* ------------------------------------------------------------------- loops */

static void json_schema_visit(SchemaCompiler *c, SchemaNode *node);

/* Visits the schemas that are applied to the same value. */
static void
json_schema_visit_check(SchemaCompiler *c, SchemaCheck *check)
{
	int			i;

	switch (check->kind)
	{
		case CHECK_REF:
		case CHECK_DYNAMIC_REF:
		case CHECK_NOT:
			json_schema_visit(c, check->rest);
			break;
		case CHECK_ALL_OF:
		case CHECK_ANY_OF:
		case CHECK_ONE_OF:
		case CHECK_IF:
		case CHECK_DEPENDENT_SCHEMAS:
			for (i = 0; i < check->n; i++)
				if (check->nodes[i] != NULL)
					json_schema_visit(c, check->nodes[i]);
			break;
		default:
			break;
	}
}

static void
json_schema_visit(SchemaCompiler *c, SchemaNode *node)
{
	int			i;

	check_stack_depth();
	if (node->visiting)
		json_schema_fault(c, node, NULL, "ENDLESS_REFERENCE",
						  "The schema refers to itself without going into a property or an element, so its check would not end.");
	if (node->visiting || node->visited)
		return;
	node->visiting = true;
	for (i = 0; i < node->nchecks; i++)
		json_schema_visit_check(c, &node->checks[i]);
	node->visiting = false;
	node->visited = true;
}

void
json_schema_refuse_loops(SchemaCompiler *c)
{
	HASH_SEQ_STATUS status;
	SchemaNodeEntry *entry;

	hash_seq_init(&status, c->nodes);
	while ((entry = hash_seq_search(&status)) != NULL)
		json_schema_visit(c, entry->node);
}
