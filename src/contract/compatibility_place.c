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
 * A property that is not named may match any pattern or none, and one that is
 * evaluated elsewhere has nothing to do with "unevaluated...".  So some of the
 * schemas of such a place, and of all places in it, may not apply: if one of
 * them says nothing, it may be the only one that does.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/compatibility_part.h"

#include "base/document.h"
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

Place
compatibility_place_of(SchemaNode *narrow)
{
	return (Place) {compatibility_place_add(NIL, narrow), false};
}

/*
 * Does the schema list objects or arrays?  It names what is in them, but has no
 * schema for it.
 */
static bool
compatibility_lists_containers(const SchemaNode *node)
{
	int			i;
	int			j;

	for (i = 0; i < node->nchecks; i++)
		for (j = 0; node->checks[i].values != NULL && j < node->checks[i].n; j++)
			if (node->checks[i].values[j].type == jbvBinary)
				return true;
	return false;
}

/* A part of a value that is listed may be anything. */
static void
compatibility_place_add_listed(Place *place, const SchemaNode *node)
{
	static SchemaNode anything;

	if (!compatibility_lists_containers(node))
		return;
	place->schemas = list_append_unique_ptr(place->schemas, &anything);
	place->is_union = true;
}

static List *
compatibility_place_add_property(List *place, const SchemaCheck *check, const Slice *name)
{
	int			named = name != NULL ? compatibility_find_name(check, *name) : -1;
	bool		matched = named >= 0;
	int			i;

	if (matched)
		place = compatibility_place_add(place, check->nodes[named]);
	for (i = 0; i < check->npatterns; i++)
		if (name == NULL || pattern_matches(check->patterns[i], *name))
		{
			place = compatibility_place_add(place, check->pattern_nodes[i]);
			matched = name != NULL;
		}
	return matched ? place : compatibility_place_add(place, check->rest);
}

Place
compatibility_place_property(Place outer, const Slice *name)
{
	Place		place = {NIL, outer.is_union || name == NULL};
	ListCell   *cell;

	foreach(cell, outer.schemas)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_PROPERTIES);
		const SchemaCheck *others = json_schema_check_of(lfirst(cell), CHECK_UNEVALUATED_PROPERTIES);

		if (check != NULL)
			place.schemas = compatibility_place_add_property(place.schemas, check, name);
		if (others != NULL)
			place.schemas = compatibility_place_add(place.schemas, others->rest);
		place.is_union |= others != NULL;
		compatibility_place_add_listed(&place, lfirst(cell));
	}
	return place;
}

Place
compatibility_place_element(Place outer, int index)
{
	static const SchemaCheckKind kinds[] = {CHECK_ITEMS, CHECK_CONTAINS, CHECK_UNEVALUATED_ITEMS};
	Place		place = {NIL, outer.is_union || index < 0};
	ListCell   *cell;
	int			i;
	int			j;

	foreach(cell, outer.schemas)
	{
		compatibility_place_add_listed(&place, lfirst(cell));
		for (i = 0; i < lengthof(kinds); i++)
		{
			const SchemaCheck *check = json_schema_check_of(lfirst(cell), kinds[i]);

			if (check == NULL)
				continue;
			for (j = 0; j < check->n; j++)
				if (index < 0 || index == j)
					place.schemas = compatibility_place_add(place.schemas, check->nodes[j]);
			if (index < 0 || index >= check->n)
				place.schemas = compatibility_place_add(place.schemas, check->rest);
			place.is_union |= kinds[i] == CHECK_UNEVALUATED_ITEMS;
		}
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

	return compatibility_lists_containers(node) ||
		(check != NULL && check->rest != NULL && !check->rest->never) ||
		(others != NULL && !others->rest->never);
}

/* Visits the texts that a schema lists, which is that of names. */
static bool
compatibility_visit_listed(SchemaNode *names, bool (*visit) (Slice name, void *arg), void *arg)
{
	ListCell   *cell;
	int			i;
	int			j;

	foreach(cell, compatibility_place_add(NIL, names))
	{
		const SchemaNode *node = lfirst(cell);

		for (i = 0; i < node->nchecks; i++)
			for (j = 0; node->checks[i].values != NULL && j < node->checks[i].n; j++)
			{
				const JsonbValue *value = &node->checks[i].values[j];

				if (value->type == jbvString && visit(document_text(value), arg))
					return true;
			}
	}
	return false;
}

bool
compatibility_visit_names(const SchemaNode *node, bool (*visit) (Slice name, void *arg), void *arg)
{
	int			i;
	int			j;
	int			k;

	for (i = 0; i < node->nchecks; i++)
	{
		const SchemaCheck *check = &node->checks[i];

		for (j = 0; check->names != NULL && j < check->n; j++)
			if (visit(check->names[j], arg))
				return true;
		for (j = 0; check->lists != NULL && j < check->n; j++)
			for (k = 0; k < check->lists[j].n; k++)
				if (visit(check->lists[j].items[k], arg))
					return true;
		if (check->kind == CHECK_PROPERTY_NAMES && compatibility_visit_listed(check->rest, visit, arg))
			return true;
	}
	return false;
}

static bool
compatibility_is_name(Slice name, void *arg)
{
	return slice_equal(name, *(const Slice *) arg);
}

static bool
compatibility_names(const SchemaNode *node, Slice name)
{
	const SchemaCheck *check = json_schema_check_of(node, CHECK_PROPERTIES);

	return (check != NULL && compatibility_matches(check, name, NULL)) ||
		compatibility_visit_names(node, compatibility_is_name, &name);
}

/* Where no schema says anything, everything is welcome. */
static bool
compatibility_may_be_silent(Place place)
{
	int			silent = 0;
	ListCell   *cell;

	foreach(cell, place.schemas)
	{
		const SchemaNode *node = lfirst(cell);

		silent += node->nchecks == 0 && !node->never;
	}
	return silent == list_length(place.schemas) || (place.is_union && silent > 0);
}

bool
compatibility_may_have(Place place, Slice name)
{
	ListCell   *cell;

	foreach(cell, place.schemas)
		if (compatibility_names(lfirst(cell), name) || compatibility_welcomes(lfirst(cell)))
			return true;
	return compatibility_may_be_silent(place);
}

bool
compatibility_may_have_others(Place place)
{
	ListCell   *cell;

	foreach(cell, place.schemas)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_PROPERTIES);

		if ((check != NULL && check->npatterns > 0) || compatibility_welcomes(lfirst(cell)))
			return true;
	}
	return compatibility_may_be_silent(place);
}

bool
compatibility_prove_at(Proof *proof, Place place, const Facts *facts, const SchemaNode *wide)
{
	Place		outer = proof->place;
	bool		proved;

	proof->place = place;
	proved = compatibility_prove(proof, facts, wide);
	proof->place = outer;
	return proved;
}
