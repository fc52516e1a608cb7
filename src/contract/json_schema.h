/*-------------------------------------------------------------------------
 *
 * json_schema.h
 *	  JSON Schema, draft 2020-12 and draft-07: compiled once, run on jsonb in
 *	  place.
 *
 * All vocabularies except content are supported; format is an assertion only
 * if the setting clutch.assert_formats, or the vocabulary of a meta-schema,
 * says so.  References to other documents are resolved when the schema is
 * compiled, by a function of the caller and never over the network.  A
 * compiled schema is self-contained: it has a memory context of its own, into
 * which everything that it needs has been copied.
 *
 * Compiling and validating are bounded by the settings clutch.max_schema_*.  A
 * schema that exceeds a limit has a fault; a validation that does so raises
 * 54000, code SCHEMA_LIMIT.  docs/schemas.md is the page for users.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JSON_SCHEMA_H
#define CLUTCH_JSON_SCHEMA_H

#include "protocol/problem.h"
#include "utils/jsonb.h"

typedef struct JsonSchema JsonSchema;

/*
 * Returns the document that has this absolute URI, without a fragment, or NULL
 * if there is none.
 */
typedef Jsonb *(*JsonSchemaFinder) (Slice uri);

/*
 * Compiles a schema.  base is its URI, unless its $id gives it another one.
 * Faults are added to the list, with paths in the schema, and the result is
 * NULL.  Without faults, the result lives as long as the parent context, or
 * until json_schema_free.
 */
extern JsonSchema *json_schema_compile(Jsonb *document, Slice base, JsonSchemaFinder find,
									   MemoryContext parent, ProblemList *list);
extern void json_schema_free(JsonSchema *schema);

/* Returns its URI: that of its $id, or the one with which it was compiled. */
extern Slice json_schema_uri(const JsonSchema *schema);

/* Returns how much memory it takes. */
extern Size json_schema_size(const JsonSchema *schema);

/*
 * Is the value valid?  Every fault is added to the list, with the code
 * CONTRACT_BROKEN, its schema_path and its keyword.  The paths begin with
 * base, such as "/payload".  If list is NULL, only the verdict is determined,
 * which is faster.
 */
extern bool json_schema_validate(const JsonSchema *schema, const JsonbValue *value,
								 const char *base, ProblemList *list);

#endif							/* CLUTCH_JSON_SCHEMA_H */
