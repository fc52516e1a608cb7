/*-------------------------------------------------------------------------
 *
 * json_schema_keyword_part.h
 *	  Reading one keyword.  Private to json_schema_keyword.c and
 *	  json_schema_value.c.
 *
 * A reader adds a check to the schema, or a fault to the list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JSON_SCHEMA_KEYWORD_PART_H
#define CLUTCH_JSON_SCHEMA_KEYWORD_PART_H

#include "contract/json_schema_part.h"

struct SchemaKeyword;

/* a keyword that is being read: the schema that contains it, and its value */
typedef struct KeywordSight
{
	SchemaCompiler *c;
	SchemaNode *node;
	const struct SchemaKeyword *keyword;
	const JsonbValue *value;
} KeywordSight;

typedef struct SchemaKeyword
{
	const char *name;
	uint32		vocabulary;
	SchemaCheckKind kind;
	void		(*read) (const KeywordSight *at);
	int			part;			/* index into nodes, for if, then and else */
} SchemaKeyword;

/*
 * Returns the check of the keyword, which another keyword may have made
 * already.
 */
extern SchemaCheck *json_schema_check(const KeywordSight *at);

/* Adds a fault, saying that the keyword must be what is expected. */
extern void json_schema_refuse(const KeywordSight *at, const char *code, const char *expected);

/* Returns the keyword's object or array, or NULL after a fault. */
extern JsonbContainer *json_schema_expect(const KeywordSight *at, bool is_object,
										  const char *expected);

/* Returns a compiled pattern, or NULL after a fault. */
extern Pattern *json_schema_read_regex(const KeywordSight *at, Slice source);

/* Read a keyword that is one schema, and one that is an array of schemas. */
extern void json_schema_read_rest(const KeywordSight *at);
extern void json_schema_read_array(const KeywordSight *at);

/* Gives the schema a name, to which references can lead. */
extern void json_schema_add_anchor(const KeywordSight *at, Slice name, bool dynamic);

/*
 * Reads an array of strings, and sorts it in the order of jsonb.  Returns false
 * if the value is something else.
 */
extern bool json_schema_names(const JsonbValue *value, SliceList *names);

/* --- json_schema_draft_7.c: the keywords of draft-07 --- */
extern void json_schema_read_named_by_id(const KeywordSight *at);
extern void json_schema_read_items(const KeywordSight *at);
extern void json_schema_read_additional_items(const KeywordSight *at);
extern void json_schema_read_dependencies(const KeywordSight *at);

/* --- json_schema_value.c: the keywords that hold no schemas --- */
extern void json_schema_read_type(const KeywordSight *at);
extern void json_schema_read_enum(const KeywordSight *at);
extern void json_schema_read_const(const KeywordSight *at);
extern void json_schema_read_number(const KeywordSight *at);
extern void json_schema_read_count(const KeywordSight *at);
extern void json_schema_read_max_contains(const KeywordSight *at);
extern void json_schema_read_unique(const KeywordSight *at);
extern void json_schema_read_pattern(const KeywordSight *at);
extern void json_schema_read_format(const KeywordSight *at);
extern void json_schema_read_required(const KeywordSight *at);
extern void json_schema_read_dependent_required(const KeywordSight *at);

#endif							/* CLUTCH_JSON_SCHEMA_KEYWORD_PART_H */
