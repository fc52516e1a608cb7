/*-------------------------------------------------------------------------
 *
 * json_schema.c
 *	  JSON Schema, draft 2020-12: compiling a schema.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema.h"

#include "contract/json_schema_part.h"
#include "utils/memutils.h"

static HTAB *
json_schema_node_table(void)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(void *);
	control.entrysize = sizeof(SchemaNodeEntry);
	control.hcxt = CurrentMemoryContext;
	return hash_create("schemas of a document", 64, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Builds the schema in its own context. */
static void
json_schema_build(SchemaCompiler *c, Jsonb *document, Slice base)
{
	Jsonb	   *copy = palloc(VARSIZE(document));

	memcpy(copy, document, VARSIZE(document));
	c->nodes = json_schema_node_table();
	c->schema->root = json_schema_read_document(c, copy, slice_copy(base), false);
	json_schema_resolve(c);
	if (c->list->n == 0)
		json_schema_refuse_loops(c);
	hash_destroy(c->nodes);
}

JsonSchema *
json_schema_compile(Jsonb *document, Slice base, JsonSchemaFinder find,
					MemoryContext parent, ProblemList *list)
{
	/*
	 * an error may be raised, so it belongs to the caller's context at first
	 */
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch schema",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	SchemaCompiler c = {.find = find, .list = problem_list()};
	int			i;

	c.schema = palloc0(sizeof(JsonSchema));
	c.schema->context = context;
	json_schema_build(&c, document, base);
	MemoryContextSwitchTo(caller);
	for (i = 0; i < c.list->n; i++)
		problem_add(list, c.list->items[i].path, c.list->items[i].code, "%s",
					c.list->items[i].message);
	list->dropped += c.list->dropped;
	if (c.list->n > 0)
	{
		MemoryContextDelete(context);
		return NULL;
	}
	pfree(c.list);
	MemoryContextSetParent(context, parent);
	return c.schema;
}

void
json_schema_free(JsonSchema *schema)
{
	MemoryContextDelete(schema->context);
}

Slice
json_schema_uri(const JsonSchema *schema)
{
	return schema->root->resource->uri;
}

Size
json_schema_size(const JsonSchema *schema)
{
	return MemoryContextMemAllocated(schema->context, true);
}
