/*-------------------------------------------------------------------------
 *
 * compatibility_place.c
 *	  Which schemas of the narrow version are about a part of the value?
 *
 * The one assumption of a proof is that no value has a property that the
 * narrow version does not name.  A schema below "not", or one of several in
 * "anyOf", names properties as any other does, although a value need not be
 * valid against it.  So a place has all schemas that are applied to that part
 * of the value, with whatever result.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/compatibility_part.h"

#include "miscadmin.h"

/* ----------------------------------------------------------------- schemas */

/* Adds a schema, if there is one, and those that it applies to the same value. */
static List *
compatibility_place_add(List *place, SchemaNode *node)
{
	int			i;
	int			j;

	check_stack_depth();
	if (node == NULL || list_member_ptr(place, node))
		return place;
	place = lappend(place, node);
	for (i = 0; i < node->nchecks; i++)
	{
		const SchemaCheck *check = &node->checks[i];

		if (check->kind < CHECK_REF || check->kind > CHECK_DEPENDENT_SCHEMAS)
			continue;
		place = compatibility_place_add(place, check->rest);
		for (j = 0; check->nodes != NULL && j < check->n; j++)
			place = compatibility_place_add(place, check->nodes[j]);
	}
	return place;
}

List *
compatibility_place_of(SchemaNode *narrow)
{
	return compatibility_place_add(NIL, narrow);
}

static List *
compatibility_place_add_property(List *place, const SchemaCheck *check, const Slice *name)
{
	bool		matched = false;
	int			i;

	for (i = 0; i < check->n; i++)
		if (name == NULL || slice_equal(check->names[i], *name))
		{
			place = compatibility_place_add(place, check->nodes[i]);
			matched = name != NULL;
		}
	for (i = 0; i < check->npatterns; i++)
		if (name == NULL || pattern_matches(check->patterns[i], *name))
		{
			place = compatibility_place_add(place, check->pattern_nodes[i]);
			matched = name != NULL;
		}
	return matched ? place : compatibility_place_add(place, check->rest);
}

List *
compatibility_place_property(const List *outer, const Slice *name)
{
	List	   *place = NIL;
	ListCell   *cell;

	foreach(cell, outer)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_PROPERTIES);
		const SchemaCheck *others = json_schema_check_of(lfirst(cell), CHECK_UNEVALUATED_PROPERTIES);

		if (check != NULL)
			place = compatibility_place_add_property(place, check, name);
		if (others != NULL)
			place = compatibility_place_add(place, others->rest);
	}
	return place;
}

List *
compatibility_place_element(const List *outer, int index)
{
	static const SchemaCheckKind kinds[] = {CHECK_ITEMS, CHECK_CONTAINS, CHECK_UNEVALUATED_ITEMS};
	List	   *place = NIL;
	ListCell   *cell;
	int			i;
	int			j;

	foreach(cell, outer)
		for (i = 0; i < lengthof(kinds); i++)
		{
			const SchemaCheck *check = json_schema_check_of(lfirst(cell), kinds[i]);

			if (check == NULL)
				continue;
			for (j = 0; j < check->n; j++)
				if (index < 0 || index == j)
					place = compatibility_place_add(place, check->nodes[j]);
			if (index < 0 || index >= check->n)
				place = compatibility_place_add(place, check->rest);
		}
	return place;
}

/* -------------------------------------------------------------- properties */

/* Does the schema welcome properties that it does not name? */
static bool
compatibility_welcomes(const SchemaNode *node)
{
	const SchemaCheck *check = json_schema_check_of(node, CHECK_PROPERTIES);
	const SchemaCheck *others = json_schema_check_of(node, CHECK_UNEVALUATED_PROPERTIES);
	const SchemaCheck *dynamic = json_schema_check_of(node, CHECK_DYNAMIC_REF);

	return (check != NULL && check->rest != NULL && !check->rest->never) ||
		(others != NULL && !others->rest->never) ||
		(dynamic != NULL && slice_present(dynamic->anchor));
}

static bool
compatibility_names(const SchemaNode *node, Slice name)
{
	int			i;

	for (i = 0; i < node->nchecks; i++)
		if (compatibility_find_name(&node->checks[i], name) >= 0 ||
			(node->checks[i].kind == CHECK_PROPERTIES && compatibility_matches(&node->checks[i], name, NULL)))
			return true;
	return false;
}

/* Where no schema says anything, everything is welcome. */
static bool
compatibility_is_silent(const List *place)
{
	ListCell   *cell;

	foreach(cell, place)
	{
		const SchemaNode *node = lfirst(cell);

		if (node->nchecks > 0 || node->never)
			return false;
	}
	return true;
}

bool
compatibility_may_have(const List *place, Slice name)
{
	ListCell   *cell;

	foreach(cell, place)
		if (compatibility_names(lfirst(cell), name) || compatibility_welcomes(lfirst(cell)))
			return true;
	return compatibility_is_silent(place);
}

bool
compatibility_may_have_others(const List *place)
{
	ListCell   *cell;

	foreach(cell, place)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_PROPERTIES);

		if ((check != NULL && check->npatterns > 0) || compatibility_welcomes(lfirst(cell)))
			return true;
	}
	return compatibility_is_silent(place);
}

bool
compatibility_prove_at(Proof *proof, List *place, const Facts *facts, const SchemaNode *wide)
{
	List	   *outer = proof->place;
	bool		proved;

	proof->place = place;
	proved = compatibility_prove(proof, facts, wide);
	proof->place = outer;
	return proved;
}
