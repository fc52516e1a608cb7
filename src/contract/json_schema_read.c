/*-------------------------------------------------------------------------
 *
 * json_schema_read.c
 *	  Reading schemas: which there are, where they are, and what they are
 *	  called.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_part.h"

#include "base/document.h"
#include "base/uri.h"
#include "miscadmin.h"
#include "settings.h"

/* --------------------------------------------------------- places and faults */

char *
json_schema_path(const SchemaNode *node, const char *keyword)
{
	char	   *path;

	check_stack_depth();
	if (node->up == NULL)
		path = node->resource != NULL && node->resource->foreign ?
			psprintf("%.*s#", node->resource->uri.len, node->resource->uri.s) : pstrdup("");
	else
	{
		path = json_schema_path(node->up, node->keyword);
		if (slice_present(node->key))
			path = problem_path(path, node->key.s, node->key.len);
		else if (node->index >= 0)
			path = problem_path_index(path, node->index);
	}
	return keyword != NULL ? psprintf("%s/%s", path, keyword) : path;
}

void
json_schema_fault(SchemaCompiler *c, const SchemaNode *node, const char *keyword,
				  const char *code, const char *format,...)
{
	char	   *path = json_schema_path(node, keyword);
	char	   *message;
	va_list		args;

	va_start(args, format);
	message = text_of_format(format, args);
	va_end(args);
	/*
	 * if the schema belongs to a document that was registered before, name it
	 * in the message
	 */
	if (node->resource != NULL && node->resource->foreign)
		problem_add(c->list, "", code, "In the schema %s: %s", path, message);
	else
		problem_add(c->list, path, code, "%s", message);
}

bool
json_schema_exceeds(SchemaCompiler *c, const SchemaNode *node, const char *keyword, int64 n,
					int limit, const char *setting)
{
	if (!c->stopped && n > limit)
	{
		json_schema_fault(c, node, keyword, "SCHEMA_LIMIT",
						  "The schema exceeds the limit of %d (setting %s).", limit, setting);
		c->stopped = true;
	}
	return c->stopped;
}

SchemaCheck *
json_schema_check_of(const SchemaNode *node, SchemaCheckKind kind)
{
	int			i;

	for (i = 0; i < node->nchecks; i++)
		if (node->checks[i].kind == kind)
			return &node->checks[i];
	return NULL;
}

/* --------------------------------------------------------------- resources */

/*
 * Returns the URI that an $id gives to a schema, or an absent slice after a
 * fault.
 */
static Slice
json_schema_identify(SchemaCompiler *c, SchemaNode *node, const JsonbValue *id, Slice base)
{
	Slice		fragment;
	Slice		uri;

	if (id->type != jbvString)
	{
		json_schema_fault(c, node, "$id", "WRONG_TYPE", "\"$id\" must be a string.");
		return SLICE_NONE;
	}
	uri = uri_resolve(base, document_text(id), &fragment);
	if (fragment.len > 0)
	{
		json_schema_fault(c, node, "$id", "WRONG_FORMAT",
						  "\"$id\" must not have a fragment; use \"$anchor\" for a part of a schema.");
		return SLICE_NONE;
	}
	return uri;
}

/* Reads $schema, which counts only where a resource begins. */
static void
json_schema_read_dialect(SchemaCompiler *c, SchemaNode *node, JsonbContainer *object)
{
	JsonbValue	dialect;
	Slice		fragment;
	Slice		uri;

	if (!document_get(object, "$schema", &dialect))
		return;
	if (dialect.type != jbvString)
	{
		json_schema_fault(c, node, "$schema", "WRONG_TYPE", "\"$schema\" must be a string.");
		return;
	}
	uri = uri_resolve(node->resource->uri,
					  document_text(&dialect), &fragment);
	node->resource->vocabularies = json_schema_vocabularies(c, uri);
	if (node->resource->vocabularies == 0)
		json_schema_fault(c, node, "$schema", "UNKNOWN_DIALECT",
						  "\"$schema\" is %s, which is neither draft 2020-12 or draft-07 of JSON Schema nor the \"$id\" of a registered meta-schema whose required vocabularies are known.",
						  place_quote(uri));
}

static SchemaResource *
json_schema_new_resource(SchemaCompiler *c, SchemaNode *node, Slice uri, JsonbContainer *object)
{
	SchemaResource *resource = palloc0(sizeof(SchemaResource));

	resource->uri = uri;
	resource->container = object;
	resource->root = node;
	resource->vocabularies = VOCABULARY_STANDARD;
	if (node->resource != NULL)
	{
		resource->foreign = node->resource->foreign;
		resource->vocabularies = node->resource->vocabularies;
	}
	node->resource = resource;
	json_schema_add_resource(c, resource);
	return resource;
}

/* ----------------------------------------------------------------- schemas */

/*
 * Records the schema by the place of its container, to which references lead.
 */
static void
json_schema_remember(SchemaCompiler *c, SchemaNode *node, const JsonbContainer *container)
{
	SchemaNodeEntry *entry;
	bool		found;

	entry = hash_search(c->nodes, &container, HASH_ENTER, &found);
	entry->node = node;
}

static void
json_schema_read_object(SchemaCompiler *c, SchemaNode *node, JsonbContainer *object)
{
	JsonbValue	id;

	json_schema_remember(c, node, object);
	if (json_schema_begins_resource(node, object, &id))
	{
		Slice		uri = json_schema_identify(c, node, &id, node->resource->uri);

		if (slice_present(uri))
			(void) json_schema_new_resource(c, node, uri, object);
	}
	if (node->resource->root == node)
		json_schema_read_dialect(c, node, object);
	json_schema_read_keywords(c, node, object);
}

static void
json_schema_fill(SchemaCompiler *c, SchemaNode *node, const JsonbValue *value)
{
	if (json_schema_exceeds(c, node, NULL, node->depth, clutch_max_schema_depth,
							"clutch.max_schema_depth") ||
		json_schema_exceeds(c, node, NULL, ++c->keywords, clutch_max_schema_keywords,
							"clutch.max_schema_keywords"))
		return;
	if (value->type == jbvBool)
		node->never = !value->val.boolean;
	else if (value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data))
		json_schema_read_object(c, node, value->val.binary.data);
	else
		json_schema_fault(c, node, NULL, "WRONG_TYPE",
						  "A schema must be an object, true or false.");
}

SchemaNode *
json_schema_read(SchemaCompiler *c, SchemaNode *up, const JsonbValue *value,
				 const char *keyword, Slice key, int index)
{
	SchemaNode *node = palloc0(sizeof(SchemaNode));

	check_stack_depth();
	node->up = up;
	node->keyword = keyword;
	node->key = key;
	node->index = index;
	node->depth = up->depth + 1;
	node->resource = up->resource;
	if (!c->stopped)
		json_schema_fill(c, node, value);
	return node;
}

/*
 * Determines the document's own URI: that of its $id, or the one by which it
 * was found.
 */
static void
json_schema_begin_document(SchemaCompiler *c, SchemaNode *node, JsonbContainer *object, Slice base,
						   bool foreign)
{
	Slice		uri = base;
	JsonbValue	id;

	if (document_get(object, "$id", &id))
		uri = json_schema_identify(c, node, &id, base);
	if (!slice_present(uri))
		uri = base;
	(void) json_schema_new_resource(c, node, uri, object);
	node->resource->foreign = foreign;
	if (!slice_equal(uri, base))
		json_schema_add_alias(c, base, node->resource);
}

SchemaNode *
json_schema_read_document(SchemaCompiler *c, Jsonb *document, Slice base, bool foreign)
{
	SchemaNode *node = palloc0(sizeof(SchemaNode));
	JsonbValue	value;
	bool		is_object = JB_ROOT_IS_OBJECT(document);

	node->index = -1;
	node->depth = 1;
	json_schema_begin_document(c, node, is_object ? &document->root : NULL, base, foreign);
	if (json_schema_exceeds(c, node, NULL, VARSIZE(document), clutch_max_schema_bytes,
							"clutch.max_schema_bytes"))
		return node;
	value = document_value(document);
	json_schema_fill(c, node, &value);
	return node;
}
