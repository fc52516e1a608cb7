/*-------------------------------------------------------------------------
 *
 * json_schema_part.h
 *	  The parts of a compiled schema.  Private to json_schema and to
 *	  compatibility, which compares two schemas.
 *
 * Each schema of a document, at whatever depth, is a SchemaNode: true, false,
 * or a list of checks in the order in which they are made.  Keywords that
 * cannot be understood alone share one check: properties, patternProperties
 * and additionalProperties; prefixItems and items; contains, minContains and
 * maxContains; if, then and else.  A node belongs to a SchemaResource, which
 * is what an $id names.  Strings and values lie in copies of the documents.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JSON_SCHEMA_PART_H
#define CLUTCH_JSON_SCHEMA_PART_H

#include "contract/format.h"
#include "contract/json_schema.h"
#include "contract/pattern.h"
#include "protocol/place.h"
#include "utils/hsearch.h"
#include "utils/numeric.h"

/*
 * what a check is about, in the order in which the checks of a node are made
 */
typedef enum SchemaCheckKind
{
	CHECK_TYPE,
	CHECK_ENUM,					/* values; for const, too */
	CHECK_CONST,
	CHECK_MULTIPLE_OF,			/* number, in these five */
	CHECK_MAXIMUM,
	CHECK_EXCLUSIVE_MAXIMUM,
	CHECK_MINIMUM,
	CHECK_EXCLUSIVE_MINIMUM,
	CHECK_MAX_LENGTH,			/* count, in these two */
	CHECK_MIN_LENGTH,
	CHECK_PATTERN,				/* patterns[0] */
	CHECK_FORMAT,
	CHECK_MAX_ITEMS,			/* count, in these two */
	CHECK_MIN_ITEMS,
	CHECK_UNIQUE_ITEMS,
	CHECK_ITEMS,				/* nodes: prefixItems; rest: items */
	CHECK_CONTAINS,				/* rest; count, most: minContains, maxContains */
	CHECK_MAX_PROPERTIES,		/* count, in these two */
	CHECK_MIN_PROPERTIES,
	CHECK_REQUIRED,				/* names */
	CHECK_DEPENDENT_REQUIRED,	/* names, lists */
	CHECK_PROPERTY_NAMES,		/* rest */
	CHECK_PROPERTIES,			/* names, nodes; patterns, pattern_nodes; rest */
	CHECK_REF,					/* rest */
	CHECK_DYNAMIC_REF,			/* rest; anchor, if the scope decides */
	CHECK_ALL_OF,				/* nodes, in these three */
	CHECK_ANY_OF,
	CHECK_ONE_OF,
	CHECK_NOT,					/* rest */
	CHECK_IF,					/* nodes: if, then, else; the last two may be NULL */
	CHECK_DEPENDENT_SCHEMAS,	/* names, nodes */
	CHECK_UNEVALUATED_ITEMS,	/* rest, in these two */
	CHECK_UNEVALUATED_PROPERTIES
} SchemaCheckKind;

/* bits of SchemaCheck.types */
#define SCHEMA_NULL		(1 << 0)
#define SCHEMA_BOOLEAN	(1 << 1)
#define SCHEMA_OBJECT	(1 << 2)
#define SCHEMA_ARRAY	(1 << 3)
#define SCHEMA_STRING	(1 << 4)
#define SCHEMA_INTEGER	(1 << 5)	/* a number that is a whole one */
#define SCHEMA_FRACTION	(1 << 6)	/* a number that is not */
#define SCHEMA_NUMBER	(SCHEMA_INTEGER | SCHEMA_FRACTION)
#define SCHEMA_ANY		((1 << 7) - 1)

typedef struct SchemaNode SchemaNode;
typedef struct SchemaResource SchemaResource;

typedef struct SchemaCheck
{
	SchemaCheckKind kind;
	uint32		types;
	Numeric		number;
	int64		count;
	int64		most;			/* -1 if not limited */
	int			n;				/* number of values, of nodes, and of names and
								 * lists */
	int			npatterns;
	JsonbValue *values;
	Slice	   *names;			/* in the order of jsonb */
	SliceList  *lists;			/* in the order of jsonb */
	SchemaNode **nodes;
	Pattern   **patterns;
	SchemaNode **pattern_nodes;
	SchemaNode *rest;			/* NULL if the keyword is not there */
	bool		mixed;			/* some of the nodes are plain, and others go
								 * deeper */
	Slice		anchor;
	FormatKind	format;
	Slice		word;			/* $ref, $dynamicRef, format */
} SchemaCheck;

struct SchemaNode
{
	const SchemaNode *up;		/* the enclosing schema, or NULL if it is a
								 * document */
	const char *keyword;		/* the keyword that contains it */
	Slice		key;			/* its key below that keyword, if the keyword
								 * holds an object of schemas */
	int			index;			/* its index, if the keyword holds an array of
								 * schemas; otherwise -1 */
	int			depth;			/* 1 for a document */
	SchemaResource *resource;
	bool		never;			/* the schema is false */
	bool		collects;		/* has an unevaluated... check */
	bool		plain;			/* has only type, enum and const */
	bool		visiting;		/* set while references are followed */
	bool		visited;
	bool		types_known;	/* compatibility has found out the types */
	uint32		types;			/* of the values that may be valid */
	int			nchecks;
	SchemaCheck *checks;
};

typedef struct SchemaAnchor
{
	Slice		name;
	bool		dynamic;
	SchemaNode *node;
} SchemaAnchor;

struct SchemaResource
{
	Slice		uri;			/* absolute, without a fragment */
	JsonbContainer *container;	/* NULL for a boolean schema */
	SchemaNode *root;
	bool		foreign;		/* it belongs to another document than the one
								 * that was compiled */
	uint32		vocabularies;
	List	   *anchors;		/* of SchemaAnchor * */
};

struct JsonSchema
{
	MemoryContext context;
	SchemaNode *root;
	bool		is_dynamic;		/* what a reference leads to may depend on the
								 * way to it */
};

/* bits of SchemaResource.vocabularies */
#define VOCABULARY_APPLICATOR	(1 << 0)
#define VOCABULARY_UNEVALUATED	(1 << 1)
#define VOCABULARY_VALIDATION	(1 << 2)
#define VOCABULARY_FORMAT		(1 << 3)	/* format asserts */
#define VOCABULARY_NOTED		(1 << 4)	/* understood, without any effect */
#define VOCABULARY_CORE			(1 << 5)
#define VOCABULARY_DRAFT_7		(1 << 6)	/* the keywords of draft-07 */
#define VOCABULARY_STANDARD		(VOCABULARY_APPLICATOR | VOCABULARY_UNEVALUATED | \
								 VOCABULARY_VALIDATION | VOCABULARY_CORE)

/*
 * a reference that has been read, and will be resolved when all documents are
 * there
 */
typedef struct SchemaPending
{
	SchemaNode *node;
	SchemaCheckKind kind;
} SchemaPending;

typedef struct SchemaNodeEntry
{
	const void *container;		/* the key */
	SchemaNode *node;
} SchemaNodeEntry;

/* another URI of a resource: the one by which its document was found */
typedef struct SchemaAlias
{
	Slice		uri;
	SchemaResource *resource;
} SchemaAlias;

/* used while a schema is being compiled; everything is in its context */
typedef struct SchemaCompiler
{
	JsonSchema *schema;
	JsonSchemaFinder find;
	ProblemList *list;
	HTAB	   *nodes;			/* of SchemaNodeEntry: by the place of their container */
	List	   *resources;		/* of SchemaResource * */
	List	   *aliases;		/* of SchemaAlias * */
	List	   *pending;		/* of SchemaPending * */
	int			keywords;
	int			npatterns;
	bool		stopped;		/* a limit was exceeded */
} SchemaCompiler;

/* --- json_schema_read.c --- */

/*
 * Reads a document, that is, a schema and all schemas within it.  Its URI is
 * base.
 */
extern SchemaNode *json_schema_read_document(SchemaCompiler *c, Jsonb *document, Slice base,
											 bool foreign);

/*
 * Reads a schema inside another one: the value of a keyword or, if key is
 * present or index is not -1, one of the schemas that the keyword holds.
 */
extern SchemaNode *json_schema_read(SchemaCompiler *c, SchemaNode *up, const JsonbValue *value,
									const char *keyword, Slice key, int index);

/* Returns the check of that kind, or NULL if the node has none. */
extern SchemaCheck *json_schema_check_of(const SchemaNode *node, SchemaCheckKind kind);

/*
 * Has a limit been exceeded?  If so, adds a fault, and nothing more is read.
 */
extern bool json_schema_exceeds(SchemaCompiler *c, const SchemaNode *node, const char *keyword,
								int64 n, int limit, const char *setting);

/*
 * Returns the path of a schema, or of a keyword in it, in its document;
 * palloc'd.
 */
extern char *json_schema_path(const SchemaNode *node, const char *keyword);

/* Adds a fault of the schema itself. */
extern void json_schema_fault(SchemaCompiler *c, const SchemaNode *node, const char *keyword,
							  const char *code, const char *format,...) pg_attribute_printf(5, 6);

/* --- json_schema_draft_7.c --- */

/* Are all keywords but $ref to be ignored?  In draft-07, they are beside it. */
extern bool json_schema_only_refers(const SchemaNode *node, JsonbContainer *object);

/* Does a resource begin with this part of a document?  If so, *id is set to its $id. */
extern bool json_schema_begins_resource(const SchemaNode *node, JsonbContainer *object, JsonbValue *id);

/* --- json_schema_keyword.c --- */

/* Reads the checks of a schema that is an object. */
extern void json_schema_read_keywords(SchemaCompiler *c, SchemaNode *node,
									  JsonbContainer *object);

/* --- json_schema_reference.c --- */

extern void json_schema_add_resource(SchemaCompiler *c, SchemaResource *resource);
extern void json_schema_add_alias(SchemaCompiler *c, Slice uri, SchemaResource *resource);

/*
 * Returns the vocabularies of the meta-schema with that URI, or 0 if it is not
 * known.
 */
extern uint32 json_schema_vocabularies(SchemaCompiler *c, Slice uri);

/* Resolves all pending references, and reads the documents that they need. */
extern void json_schema_resolve(SchemaCompiler *c);

/* Adds faults for references that lead back to the same place without end. */
extern void json_schema_refuse_loops(SchemaCompiler *c);

/* --- json_schema_validate.c --- */

/* the way to a schema: the enclosing resources, from the inside out */
typedef struct SchemaScope
{
	const struct SchemaScope *outer;
	const SchemaResource *resource;
} SchemaScope;

/* whether a schema describes an object or an array */
typedef struct SchemaVerdict
{
	const SchemaNode *node;
	const JsonbContainer *container;
	bool		valid;
	bool		listed;			/* its faults are in the list */
} SchemaVerdict;

typedef struct SchemaRun
{
	MemoryContext context;		/* for what is kept */
	int64		steps;
	int			depth;
	bool		remembers;		/* a verdict may be used again */
	bool		is_over;		/* the list is full or takes too long, so
								 * nothing counts any more */
	ProblemList *listing;		/* NULL as long as the verdict is not known */
	SchemaVerdict *verdicts;	/* NULL as long as the run is short */
} SchemaRun;

/* a value that is being checked, and what the caller wants to know about it */
typedef struct SchemaSight
{
	SchemaRun  *run;
	const JsonbValue *value;
	const DocumentPlace *place;
	const SchemaScope *scope;
	ProblemList *list;			/* NULL if only the verdict counts */
	bool	   *evaluated;		/* which of its children are evaluated, or NULL
								 * if nobody asks */
} SchemaSight;

/* Is the value valid against the schema? */
extern bool json_schema_run(const SchemaNode *node, const SchemaSight *sight);

/*
 * The same for a child of the value, with its key, or with an absent key in an
 * array.
 */
extern bool json_schema_run_child(const SchemaNode *node, const SchemaSight *sight,
								  const JsonbValue *child, Slice key, int index);

/*
 * Counts steps.  If there are too many, ends the list, or raises an error if it
 * is empty.
 */
extern void json_schema_count(SchemaRun *run, int64 steps);

/* Does the text match?  This takes steps. */
extern bool json_schema_matches(const SchemaSight *sight, const Pattern *pattern, Slice text);

/*
 * Is there more to check, after what has been checked was valid, or was not?
 * Without a list, the first fault is enough.
 */
extern bool json_schema_goes_on(const SchemaSight *sight, bool valid);

/* Adds a fault of the value if there is a list.  Returns false. */
extern bool json_schema_broken(const SchemaSight *sight, const SchemaNode *node,
							   const char *keyword, const char *format,...) pg_attribute_printf(4, 5);

/*
 * Return the container of the value if it is an object, or an array, and NULL
 * otherwise.
 */
extern const JsonbContainer *json_schema_object(const JsonbValue *value);
extern const JsonbContainer *json_schema_array(const JsonbValue *value);

/* Returns one of the bits SCHEMA_... */
extern uint32 json_schema_type_of(const JsonbValue *value);

/* Are two values equal in the sense of JSON Schema? */
extern bool json_schema_equal(const JsonbValue *a, const JsonbValue *b);

/* --- json_schema_scalar.c, json_schema_container.c: one check of a value --- */
extern bool json_schema_check_scalar(const SchemaNode *node, const SchemaCheck *check,
									 const SchemaSight *sight);
extern bool json_schema_check_array(const SchemaNode *node, const SchemaCheck *check,
									const SchemaSight *sight);
extern bool json_schema_check_object(const SchemaNode *node, const SchemaCheck *check,
									 const SchemaSight *sight);

#endif							/* CLUTCH_JSON_SCHEMA_PART_H */
