/*-------------------------------------------------------------------------
 *
 * json_schema_draft_7.c
 *	  The keywords of draft-07 that draft 2020-12 has changed.
 *
 * They become the checks of the keywords that have replaced them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_keyword_part.h"

#include "base/document.h"
#include "protocol/value.h"

/* Does the $id only give a name to a part of its document, as $anchor does now? */
static bool
json_schema_id_is_name(Slice id)
{
	return id.len > 1 && id.s[0] == '#';
}

bool
json_schema_only_refers(const SchemaNode *node, JsonbContainer *object)
{
	JsonbValue	reference;

	return (node->resource->vocabularies & VOCABULARY_DRAFT_7) && document_get(object, "$ref", &reference);
}

bool
json_schema_begins_resource(const SchemaNode *node, JsonbContainer *object, JsonbValue *id)
{
	if (node->up == NULL || json_schema_only_refers(node, object) || !document_get(object, "$id", id))
		return false;
	return !(node->resource->vocabularies & VOCABULARY_DRAFT_7) || !json_schema_id_is_name(document_text(id));
}

void
json_schema_read_named_by_id(const KeywordSight *at)
{
	Slice		id = document_text(at->value);

	if (json_schema_id_is_name(id))
		json_schema_add_anchor(at, slice_after(id, 1), false);
}

void
json_schema_read_items(const KeywordSight *at)
{
	if (at->value->type == jbvBinary && JsonContainerIsArray(at->value->val.binary.data))
		json_schema_read_array(at);
	else
		json_schema_read_rest(at);
}

/*
 * Says nothing unless "items" is an array.  Its value has been read by now,
 * because jsonb puts shorter keys first.
 */
void
json_schema_read_additional_items(const KeywordSight *at)
{
	SchemaCheck *check = json_schema_check_of(at->node, CHECK_ITEMS);

	if (check != NULL && check->n > 0)
		json_schema_read_rest(at);
}

/* Returns a schema that requires these names. */
static SchemaNode *
json_schema_that_requires(const KeywordSight *at, Slice key, SliceList names)
{
	SchemaNode *node = palloc0(sizeof(SchemaNode));

	node->up = at->node;
	node->keyword = at->keyword->name;
	node->key = key;
	node->index = -1;
	node->depth = at->node->depth + 1;
	node->resource = at->node->resource;
	node->checks = palloc0(sizeof(SchemaCheck));
	node->nchecks = 1;
	node->checks[0].kind = CHECK_REQUIRED;
	node->checks[0].n = names.n;
	node->checks[0].names = names.items;
	return node;
}

/* The value for a property is a schema or a list of properties. */
void
json_schema_read_dependencies(const KeywordSight *at)
{
	JsonbContainer *object = json_schema_expect(at, true, "an object of schemas and of arrays of strings");
	SchemaCheck *check;
	int			n = object != NULL ? JsonContainerSize(object) : 0;
	int			i;

	if (object == NULL)
		return;
	check = json_schema_check(at);
	check->names = palloc(sizeof(Slice) * n);
	check->nodes = palloc0(sizeof(SchemaNode *) * n);
	check->n = n;
	for (i = 0; i < n; i++)
	{
		JsonbValue	value;
		SliceList	names;

		value_at(object, i, &value);
		check->names[i] = value_key_at(object, i);
		if (json_schema_names(&value, &names))
			check->nodes[i] = json_schema_that_requires(at, check->names[i], names);
		else
			check->nodes[i] = json_schema_read(at->c, at->node, &value, at->keyword->name, check->names[i], -1);
	}
}
