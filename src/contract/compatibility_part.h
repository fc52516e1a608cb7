/*-------------------------------------------------------------------------
 *
 * compatibility_part.h
 *	  Private declarations of compatibility: what is known about a value, and
 *	  what is to be proved about it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COMPATIBILITY_PART_H
#define CLUTCH_COMPATIBILITY_PART_H

#include "contract/compatibility.h"
#include "contract/json_schema_part.h"

/*
 * what is known: the value is valid against all of these schemas, and of one
 * of these types
 */
typedef struct Facts
{
	List	   *nodes;			/* of SchemaNode *, including what they refer
								 * to by $ref and allOf */
	uint32		types;			/* none if there is no such value */
} Facts;

/* what the narrow version says about a part of the value */
typedef struct Place
{
	List	   *schemas;		/* of SchemaNode * */
	bool		is_union;		/* the part may be one of several, and not all of
								 * the schemas need be about each of them */
} Place;

/*
 * A proof that has begun.  If it is needed again inside itself, the schemas
 * are recursive.
 */
typedef struct ProofStep
{
	const struct ProofStep *outer;
	const Facts *facts;
	Place		place;
	const SchemaNode *wide;
} ProofStep;

typedef struct Proof
{
	const ProofStep *steps;
	Place		place;			/* see compatibility_place.c */
	List	   *split;			/* the anyOf and oneOf whose cases are being
								 * examined */
	int			done;
	const char *code;
	ProblemList *list;			/* NULL if only the verdict counts */
} Proof;

/* --- compatibility.c --- */

/*
 * Is such a value valid against the schema?  Adds faults if there is a list.
 */
extern bool compatibility_prove(Proof *proof, const Facts *facts, const SchemaNode *wide);

/* The same without faults. */
extern bool compatibility_try(Proof *proof, const Facts *facts, const SchemaNode *wide);

/* Adds a fault of a keyword of wide if there is a list.  Returns false. */
extern bool compatibility_refuse(Proof *proof, const SchemaNode *wide, const char *keyword,
								 const char *format,...) pg_attribute_printf(4, 5);

/* Is the value valid against the schema?  Adds faults if there is a list. */
extern bool compatibility_is_valid(const SchemaNode *node, const JsonbValue *value, ProblemList *list);

/* Returns facts that consist only of what the schema says. */
extern Facts compatibility_facts_of(SchemaNode *node);
extern void compatibility_add_fact(Facts *facts, SchemaNode *node);
extern void compatibility_no_facts(Facts *facts);

/* Returns the types of the values that may be valid against the schema. */
extern uint32 compatibility_types(SchemaNode *node);

/* --- compatibility_place.c --- */

/* Returns the place of the whole value. */
extern Place compatibility_place_of(SchemaNode *narrow);

/*
 * Returns the place of a property.  Without a name (NULL), it may be any
 * property that the narrow version does not name.
 */
extern Place compatibility_place_property(Place outer, const Slice *name);

/* Returns the place of an element.  With the index -1, it may be any of them. */
extern Place compatibility_place_element(Place outer, int index);

/*
 * Calls visit for each name of a property that a schema of a place has, in
 * whatever keyword, until it returns true.  Returns whether it has.
 */
extern bool compatibility_visit_names(const SchemaNode *node, bool (*visit) (Slice name, void *arg), void *arg);

/* May the value have a property of that name, or one that nothing names? */
extern bool compatibility_may_have(Place place, Slice name);
extern bool compatibility_may_have_others(Place place);

/* The same as compatibility_prove for a part of the value. */
extern bool compatibility_prove_at(Proof *proof, Place place, const Facts *facts,
								   const SchemaNode *wide);

/* --- compatibility_value.c: does the check of wide follow from the facts? --- */
extern bool compatibility_prove_value(Proof *proof, const Facts *facts, const SchemaNode *wide,
									  const SchemaCheck *check);

/*
 * Returns the lowest maximum that one of the facts sets for a count, or -1 if
 * none does.
 */
extern int64 compatibility_most(const Facts *facts, SchemaCheckKind kind);

/* --- compatibility_object.c: the same for the checks of objects --- */
extern bool compatibility_prove_properties(Proof *proof, const Facts *facts, const SchemaCheck *check);
extern bool compatibility_prove_required(Proof *proof, const Facts *facts, const SchemaNode *wide,
										 const SchemaCheck *check);
extern bool compatibility_prove_dependent_required(const Facts *facts, const SchemaCheck *check);
extern bool compatibility_prove_dependent_schemas(Proof *proof, const Facts *facts,
												  const SchemaCheck *check);
extern bool compatibility_prove_names(Proof *proof, const Facts *facts, const SchemaCheck *check);
extern bool compatibility_prove_number(const Facts *facts, const SchemaCheck *check);

/*
 * Are the properties that the check neither names nor has a pattern for valid
 * against wide?  Without a check (NULL), these are all properties.
 */
extern bool compatibility_prove_others(Proof *proof, const Facts *facts, const SchemaCheck *check,
									   const SchemaNode *wide);

/* Returns the index of the name among those of the check, or -1. */
extern int	compatibility_find_name(const SchemaCheck *check, Slice name);

/*
 * Does the name match a pattern of the check?  The schemas of all matching
 * patterns are added to facts, unless that is NULL.
 */
extern bool compatibility_matches(const SchemaCheck *check, Slice name, Facts *facts);

/*
 * Does the node refer to or combine other schemas, which may name properties,
 * too?
 */
extern bool compatibility_combines(const SchemaNode *node);

/* --- compatibility_container.c: and for all others --- */
extern bool compatibility_prove_container(Proof *proof, const Facts *facts, const SchemaNode *wide,
										  const SchemaCheck *check);

#endif							/* CLUTCH_COMPATIBILITY_PART_H */
