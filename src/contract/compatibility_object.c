/*-------------------------------------------------------------------------
 *
 * compatibility_object.c
 *	  Does a check of an object follow from what is known about it?
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/compatibility_part.h"

/* ------------------------------------------------------------- properties */

bool
compatibility_combines(const SchemaNode *node)
{
	int			i;

	for (i = 0; i < node->nchecks; i++)
		if (node->checks[i].kind >= CHECK_REF && node->checks[i].kind <= CHECK_DEPENDENT_SCHEMAS)
			return true;
	return false;
}

/*
 * Returns the schema of the properties that the node does not name, or NULL if
 * there is none.
 */
static SchemaNode *
compatibility_other_properties(const SchemaNode *node)
{
	const SchemaCheck *check = json_schema_check_of(node, CHECK_PROPERTIES);

	if (check != NULL && check->rest != NULL)
		return check->rest;
	check = json_schema_check_of(node, CHECK_UNEVALUATED_PROPERTIES);
	return check != NULL && !compatibility_combines(node) ? check->rest : NULL;
}

bool
compatibility_matches(const SchemaCheck *check, Slice name, Facts *facts)
{
	bool		matched = false;
	int			i;

	for (i = 0; i < check->npatterns; i++)
	{
		if (!pattern_matches(check->patterns[i], name))
			continue;
		matched = true;
		if (facts != NULL)
			compatibility_add_fact(facts, check->pattern_nodes[i]);
	}
	return matched;
}

int
compatibility_find_name(const SchemaCheck *check, Slice name)
{
	int			i;

	for (i = 0; check->names != NULL && i < check->n; i++)
		if (slice_equal(check->names[i], name))
			return i;
	return -1;
}

/* Collects what is known about a property. */
static Facts
compatibility_property_facts(const Facts *facts, Slice name)
{
	Facts		property;
	ListCell   *cell;

	compatibility_no_facts(&property);
	foreach(cell, facts->nodes)
	{
		const SchemaNode *node = lfirst(cell);
		const SchemaCheck *check = json_schema_check_of(node, CHECK_PROPERTIES);
		SchemaNode *other = compatibility_other_properties(node);
		int			i = check != NULL ? compatibility_find_name(check, name) : -1;
		bool		matched = i >= 0;

		if (matched)
			compatibility_add_fact(&property, check->nodes[i]);
		matched |= check != NULL && compatibility_matches(check, name, &property);
		if (!matched && other != NULL)
			compatibility_add_fact(&property, other);
	}
	return property;
}

/* Can there be no property of that name, because it is not a valid one? */
static bool
compatibility_excludes(const Facts *facts, Slice name)
{
	JsonbValue	value = {.type = jbvString, .val.string = {name.len, unconstify(char *, name.s)}};
	ListCell   *cell;

	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_PROPERTY_NAMES);

		if (check != NULL && !compatibility_is_valid(check->rest, &value, NULL))
			return true;
	}
	return false;
}

static bool
compatibility_prove_property(Proof *proof, const Facts *facts, Slice name, const SchemaNode *wide)
{
	Facts		property;

	/*
	 * a property that the other version leaves open is assumed not to be in
	 * use
	 */
	if (!compatibility_may_have(proof->place, name) || compatibility_excludes(facts, name))
		return true;
	property = compatibility_property_facts(facts, name);
	return compatibility_prove_at(proof, compatibility_place_property(proof->place, &name),
								  &property, wide);
}

/*
 * The proof that named properties for which wide has this schema are valid
 * against it: those that match the pattern or, if it is NULL, those that the
 * check, if there is one, neither names nor has a pattern for.
 */
typedef struct NamedProof
{
	Proof	   *proof;
	const Facts *facts;
	const SchemaNode *wide;
	const SchemaCheck *check;
	const Pattern *pattern;
	bool		proved;
} NamedProof;

static bool
compatibility_prove_named(Slice name, void *arg)
{
	NamedProof *named = arg;

	if (named->pattern != NULL ? pattern_matches(named->pattern, name) :
		named->check == NULL || (compatibility_find_name(named->check, name) < 0 &&
								 !compatibility_matches(named->check, name, NULL)))
		named->proved &= compatibility_prove_property(named->proof, named->facts, name, named->wide);
	return false;
}

/* Proves it for all properties that the other version names. */
static bool
compatibility_prove_all_named(Proof *proof, const Facts *facts, const SchemaNode *wide,
							  const SchemaCheck *check, const Pattern *pattern)
{
	NamedProof	named = {proof, facts, wide, check, pattern, true};
	ListCell   *cell;

	foreach(cell, proof->place.schemas)
		(void) compatibility_visit_names(lfirst(cell), compatibility_prove_named, &named);
	return named.proved;
}

/*
 * Proves what is known about the properties that match a pattern of wide, in
 * addition to the named ones.
 */
static bool
compatibility_prove_pattern(Proof *proof, const Facts *facts, const Pattern *pattern,
							const SchemaNode *wide)
{
	Facts		matching;
	bool		closed = false;
	ListCell   *cell;
	int			i;

	compatibility_no_facts(&matching);
	foreach(cell, facts->nodes)
	{
		const SchemaNode *node = lfirst(cell);
		const SchemaCheck *check = json_schema_check_of(node, CHECK_PROPERTIES);
		SchemaNode *other = compatibility_other_properties(node);

		for (i = 0; check != NULL && i < check->npatterns; i++)
			if (slice_equal(pattern_source(check->patterns[i]), pattern_source(pattern)))
				compatibility_add_fact(&matching, check->pattern_nodes[i]);
		closed |= other != NULL && other->never && (check == NULL || check->npatterns == 0);
	}
	return compatibility_prove_all_named(proof, facts, wide, NULL, pattern) &&
		(closed || !compatibility_may_have_others(proof->place) ||
		 compatibility_prove_at(proof, compatibility_place_property(proof->place, NULL), &matching, wide));
}

bool
compatibility_prove_others(Proof *proof, const Facts *facts, const SchemaCheck *check,
						   const SchemaNode *wide)
{
	Facts		others;
	Place		place = compatibility_place_property(proof->place, NULL);
	bool		proved = compatibility_prove_all_named(proof, facts, wide, check, NULL);
	ListCell   *cell;
	int			i;

	compatibility_no_facts(&others);
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_PROPERTIES);
		SchemaNode *other = compatibility_other_properties(lfirst(cell));

		if (other != NULL)
			compatibility_add_fact(&others, other);
		for (i = 0; fact != NULL && i < fact->npatterns; i++)
		{
			Facts		matching = compatibility_facts_of(fact->pattern_nodes[i]);
			bool		same = false;
			int			j;

			for (j = 0; check != NULL && j < check->npatterns && !same; j++)
				same = slice_equal(pattern_source(fact->patterns[i]), pattern_source(check->patterns[j]));
			proved &= same || compatibility_prove_at(proof, place, &matching, wide);
		}
	}
	return proved & compatibility_prove_at(proof, place, &others, wide);
}

bool
compatibility_prove_properties(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	bool		proved = true;
	int			i;

	for (i = 0; i < check->n; i++)
		proved &= compatibility_prove_property(proof, facts, check->names[i], check->nodes[i]);
	for (i = 0; i < check->npatterns; i++)
		proved &= compatibility_prove_pattern(proof, facts, check->patterns[i], check->pattern_nodes[i]);
	return check->rest == NULL ? proved :
		proved & compatibility_prove_others(proof, facts, check, check->rest);
}

/* ----------------------------------------------------------------- objects */

static bool
compatibility_requires(const Facts *facts, Slice name)
{
	ListCell   *cell;

	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_REQUIRED);

		if (check != NULL && compatibility_find_name(check, name) >= 0)
			return true;
	}
	return false;
}

bool
compatibility_prove_required(Proof *proof, const Facts *facts, const SchemaNode *wide,
							 const SchemaCheck *check)
{
	bool		proved = true;
	int			i;

	for (i = 0; i < check->n; i++)
		proved &= compatibility_requires(facts, check->names[i]) ||
			compatibility_refuse(proof, wide, "required", "%s is required, but not in the other version.",
								 place_quote(check->names[i]));
	return proved;
}

static bool
compatibility_requires_beside(const Facts *facts, Slice name, Slice beside)
{
	ListCell   *cell;

	if (compatibility_requires(facts, name))
		return true;
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_DEPENDENT_REQUIRED);
		int			i = check != NULL ? compatibility_find_name(check, beside) : -1;
		int			j;

		for (j = 0; i >= 0 && j < check->lists[i].n; j++)
			if (slice_equal(check->lists[i].items[j], name))
				return true;
	}
	return false;
}

bool
compatibility_prove_dependent_required(const Facts *facts, const SchemaCheck *check)
{
	int			i;
	int			j;

	for (i = 0; i < check->n; i++)
		for (j = 0; j < check->lists[i].n; j++)
			if (!compatibility_requires_beside(facts, check->lists[i].items[j], check->names[i]))
				return false;
	return true;
}

bool
compatibility_prove_dependent_schemas(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	bool		proved = true;
	int			i;

	for (i = 0; i < check->n; i++)
	{
		Facts		beside = {list_copy(facts->nodes), facts->types};
		ListCell   *cell;

		foreach(cell, facts->nodes)
		{
			const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_DEPENDENT_SCHEMAS);
			int			j = fact != NULL ? compatibility_find_name(fact, check->names[i]) : -1;

			if (j >= 0)
				compatibility_add_fact(&beside, fact->nodes[j]);
		}
		proved &= compatibility_prove(proof, &beside, check->nodes[i]);
	}
	return proved;
}

bool
compatibility_prove_names(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	Facts		names;
	ListCell   *cell;

	compatibility_no_facts(&names);
	names.types = SCHEMA_STRING;
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_PROPERTY_NAMES);

		if (fact != NULL)
			compatibility_add_fact(&names, fact->rest);
	}
	return compatibility_prove(proof, &names, check->rest);
}

/* Proves the number of properties, by its bounds or by what is required. */
bool
compatibility_prove_number(const Facts *facts, const SchemaCheck *check)
{
	ListCell   *cell;

	if (check->kind == CHECK_MAX_PROPERTIES)
	{
		int64		most = compatibility_most(facts, CHECK_MAX_PROPERTIES);

		return most >= 0 && most <= check->count;
	}
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_MIN_PROPERTIES);

		if (fact != NULL && fact->count >= check->count)
			return true;
	}
	return check->count == 0;
}
