/*-------------------------------------------------------------------------
 *
 * compatibility_container.c
 *	  Does a check of an array, or one that combines schemas, follow from what
 *	  is known about the value?
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/compatibility_part.h"

/* ------------------------------------------------------------------ arrays */

static void
compatibility_element_facts(const Facts *facts, int index, Facts *element)
{
	ListCell   *cell;

	compatibility_no_facts(element);
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_ITEMS);

		if (check != NULL && index < check->n)
			compatibility_add_fact(element, check->nodes[index]);
		else if (check != NULL && check->rest != NULL)
			compatibility_add_fact(element, check->rest);
	}
}

/* Returns how many elements have a schema of their own in one of the nodes. */
static int
compatibility_prefix(const List *nodes)
{
	int			n = 0;
	ListCell   *cell;

	foreach(cell, nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_ITEMS);

		n = check != NULL ? Max(n, check->n) : n;
	}
	return n;
}

static bool
compatibility_prove_items(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	int64		most = compatibility_most(facts, CHECK_MAX_ITEMS);
	int			last = Max(check->n, compatibility_prefix(facts->nodes));
	bool		proved = true;
	int			i;

	/*
	 * The element after the last one stands for all that follow.  What may be
	 * in them is also said by schemas that need not hold.
	 */
	last = Max(last, compatibility_prefix(proof->place.schemas));
	for (i = 0; i <= last && (most < 0 || i < most); i++)
	{
		const SchemaNode *wide = i < check->n ? check->nodes[i] : check->rest;
		Facts		element;

		if (wide == NULL)
			break;
		compatibility_element_facts(facts, i, &element);
		proved &= compatibility_prove_at(proof, compatibility_place_element(proof->place, i), &element, wide);
	}
	return proved;
}

static bool
compatibility_prove_contains(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	bool		least = check->count == 0;
	bool		most = check->most < 0;
	Facts		inside = compatibility_facts_of(check->rest);
	Place		outer = proof->place;
	ListCell   *cell;

	proof->place = compatibility_place_element(outer, -1);
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_CONTAINS);
		Facts		contained;

		if (fact == NULL)
			continue;
		contained = compatibility_facts_of(fact->rest);
		least |= fact->count >= check->count && compatibility_try(proof, &contained, check->rest);
		most |= fact->most >= 0 && fact->most <= check->most &&
			compatibility_try(proof, &inside, fact->rest);
	}
	proof->place = outer;
	return least && most;
}

/* ------------------------------------------------------- combined schemas */

static bool
compatibility_are_equal(Proof *proof, SchemaNode *a, SchemaNode *b)
{
	Facts		of_a = compatibility_facts_of(a);
	Facts		of_b = compatibility_facts_of(b);

	return compatibility_try(proof, &of_a, b) && compatibility_try(proof, &of_b, a);
}

/*
 * Does one of the schemas follow and, for oneOf, do the types exclude the
 * others?
 */
static bool
compatibility_prove_some(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	int			i;
	int			j;

	for (i = 0; i < check->n; i++)
	{
		bool		alone = true;

		for (j = 0; check->kind == CHECK_ONE_OF && j < check->n && alone; j++)
			alone = j == i || (compatibility_types(check->nodes[j]) & facts->types) == 0;
		if (alone && compatibility_try(proof, facts, check->nodes[i]))
			return true;
	}
	return false;
}

/*
 * Is there a fact of the same kind whose schemas are equal to these, one by
 * one?
 */
static bool
compatibility_prove_same_schemas(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	ListCell   *cell;

	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), check->kind);
		int			i;

		if (fact == NULL || fact->n != check->n)
			continue;
		for (i = 0; i < check->n; i++)
			if (!compatibility_are_equal(proof, fact->nodes[i], check->nodes[i]))
				break;
		if (i == check->n)
			return true;
	}
	return false;
}

static bool
compatibility_prove_not(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	Facts		refused = compatibility_facts_of(check->rest);
	ListCell   *cell;

	if ((compatibility_types(check->rest) & facts->types) == 0)
		return true;
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_NOT);

		if (fact != NULL && compatibility_try(proof, &refused, fact->rest))
			return true;
	}
	return false;
}

/*
 * Do both branches follow anyway, or do those of a fact with an equal
 * condition imply them?
 */
static bool
compatibility_prove_if(Proof *proof, const Facts *facts, const SchemaCheck *check)
{
	bool		branch[3] = {true, true, true};
	ListCell   *cell;
	int			i;

	for (i = 1; i < 3; i++)
		branch[i] = check->nodes[i] == NULL || compatibility_try(proof, facts, check->nodes[i]);
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_IF);

		if (fact == NULL || !compatibility_are_equal(proof, fact->nodes[0], check->nodes[0]))
			continue;
		for (i = 1; i < 3; i++)
		{
			Facts		inside = {list_copy(facts->nodes), facts->types};

			if (fact->nodes[i] != NULL)
				compatibility_add_fact(&inside, fact->nodes[i]);
			branch[i] = branch[i] || compatibility_try(proof, &inside, check->nodes[i]);
		}
	}
	return branch[1] && branch[2];
}

/*
 * unevaluated... is the same as additional... if the schema combines no
 * others.
 */
static bool
compatibility_prove_unevaluated(Proof *proof, const Facts *facts, const SchemaNode *wide,
								const SchemaCheck *check)
{
	if (check->rest->nchecks == 0 && !check->rest->never)
		return true;
	if (compatibility_combines(wide) || check->kind == CHECK_UNEVALUATED_ITEMS)
		return false;
	return compatibility_prove_others(proof, facts, json_schema_check_of(wide, CHECK_PROPERTIES),
									  check->rest);
}

/* ------------------------------------------------------------------ checks */

static const char *
compatibility_keyword(SchemaCheckKind kind)
{
	static const char *const keywords[] = {
		"items", "contains", "maxProperties", "minProperties", "required", "dependentRequired",
		"propertyNames", "properties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if",
		"dependentSchemas", "unevaluatedItems", "unevaluatedProperties"
	};

	return keywords[kind - CHECK_ITEMS];
}

/* Proves the checks whose schemas report faults of their own. */
static bool
compatibility_prove_inside(Proof *proof, const Facts *facts, const SchemaNode *wide,
						   const SchemaCheck *check, bool *proved)
{
	int			i;

	*proved = true;
	switch (check->kind)
	{
		case CHECK_ITEMS:
			*proved = (facts->types & SCHEMA_ARRAY) == 0 || compatibility_prove_items(proof, facts, check);
			return true;
		case CHECK_REQUIRED:
			*proved = (facts->types & SCHEMA_OBJECT) == 0 ||
				compatibility_prove_required(proof, facts, wide, check);
			return true;
		case CHECK_PROPERTIES:
			*proved = (facts->types & SCHEMA_OBJECT) == 0 || compatibility_prove_properties(proof, facts, check);
			return true;
		case CHECK_DEPENDENT_SCHEMAS:
			*proved = (facts->types & SCHEMA_OBJECT) == 0 ||
				compatibility_prove_dependent_schemas(proof, facts, check);
			return true;
		case CHECK_REF:
		case CHECK_DYNAMIC_REF:
			*proved = compatibility_prove(proof, facts, check->rest);
			return true;
		case CHECK_ALL_OF:
			for (i = 0; i < check->n; i++)
				*proved &= compatibility_prove(proof, facts, check->nodes[i]);
			return true;
		default:
			return false;
	}
}

/* Proves the other checks. */
static bool
compatibility_prove_alone(Proof *proof, const Facts *facts, const SchemaNode *wide,
						  const SchemaCheck *check)
{
	uint32		concerned = check->kind >= CHECK_ANY_OF && check->kind <= CHECK_IF ? SCHEMA_ANY :
		check->kind == CHECK_CONTAINS || check->kind == CHECK_UNEVALUATED_ITEMS ? SCHEMA_ARRAY :
		SCHEMA_OBJECT;

	if ((facts->types & concerned) == 0)
		return true;
	switch (check->kind)
	{
		case CHECK_CONTAINS:
			return compatibility_prove_contains(proof, facts, check);
		case CHECK_MAX_PROPERTIES:
		case CHECK_MIN_PROPERTIES:
			return compatibility_prove_number(facts, check);
		case CHECK_DEPENDENT_REQUIRED:
			return compatibility_prove_dependent_required(facts, check);
		case CHECK_PROPERTY_NAMES:
			return compatibility_prove_names(proof, facts, check);
		case CHECK_ANY_OF:
			return compatibility_prove_some(proof, facts, check);
		case CHECK_ONE_OF:
			return compatibility_prove_some(proof, facts, check) ||
				compatibility_prove_same_schemas(proof, facts, check);
		case CHECK_NOT:
			return compatibility_prove_not(proof, facts, check);
		case CHECK_IF:
			return compatibility_prove_if(proof, facts, check);
		case CHECK_UNEVALUATED_ITEMS:
		case CHECK_UNEVALUATED_PROPERTIES:
			return compatibility_prove_unevaluated(proof, facts, wide, check);
		default:
			return false;
	}
}

bool
compatibility_prove_container(Proof *proof, const Facts *facts, const SchemaNode *wide,
							  const SchemaCheck *check)
{
	bool		proved;

	if (compatibility_prove_inside(proof, facts, wide, check, &proved))
		return proved;
	return compatibility_prove_alone(proof, facts, wide, check) ||
		compatibility_refuse(proof, wide, compatibility_keyword(check->kind),
							 "\"%s\" may refuse what the other version allows.",
							 compatibility_keyword(check->kind));
}
