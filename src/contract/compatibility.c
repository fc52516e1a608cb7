/*-------------------------------------------------------------------------
 *
 * compatibility.c
 *	  Compatibility: may one schema take the place of another?
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/compatibility.h"

#include "contract/compatibility_part.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/*
 * after so many steps, what has not been proved counts as false; a proof with
 * many facts takes as many as it takes longer
 */
#define MOST_STEPS	100000

/* ------------------------------------------------------------------- facts */

static uint32
compatibility_types_of_some(const SchemaCheck *check)
{
	uint32		types = 0;
	int			i;

	for (i = 0; i < check->n; i++)
		types |= check->nodes != NULL ? compatibility_types(check->nodes[i]) :
			json_schema_type_of(&check->values[i]);
	return types;
}

/* A schema may be referred to from many places, so it is looked at only once. */
uint32
compatibility_types(SchemaNode *node)
{
	uint32		types = node->never ? 0 : SCHEMA_ANY;
	int			i;
	int			j;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node->types_known)
		return node->types;
	for (i = 0; i < node->nchecks; i++)
	{
		const SchemaCheck *check = &node->checks[i];

		if (check->kind == CHECK_TYPE)
			types &= check->types;
		else if (check->kind == CHECK_ENUM || check->kind == CHECK_CONST ||
				 check->kind == CHECK_ANY_OF || check->kind == CHECK_ONE_OF)
			types &= compatibility_types_of_some(check);
		else if (check->kind == CHECK_REF || check->kind == CHECK_DYNAMIC_REF)
			types &= compatibility_types(check->rest);
		for (j = 0; check->kind == CHECK_ALL_OF && j < check->n; j++)
			types &= compatibility_types(check->nodes[j]);
	}
	node->types = types;
	node->types_known = true;
	return types;
}

void
compatibility_no_facts(Facts *facts)
{
	facts->nodes = NIL;
	facts->types = SCHEMA_ANY;
}

static void
compatibility_add_node(Facts *facts, SchemaNode *node)
{
	int			i;
	int			j;

	check_stack_depth();
	if (list_member_ptr(facts->nodes, node))
		return;
	facts->nodes = lappend(facts->nodes, node);
	for (i = 0; i < node->nchecks; i++)
	{
		SchemaCheck *check = &node->checks[i];

		if (check->kind == CHECK_REF || check->kind == CHECK_DYNAMIC_REF)
			compatibility_add_node(facts, check->rest);
		for (j = 0; check->kind == CHECK_ALL_OF && j < check->n; j++)
			compatibility_add_node(facts, check->nodes[j]);
	}
}

void
compatibility_add_fact(Facts *facts, SchemaNode *node)
{
	compatibility_add_node(facts, node);
	facts->types &= compatibility_types(node);
}

Facts
compatibility_facts_of(SchemaNode *node)
{
	Facts		facts;

	compatibility_no_facts(&facts);
	compatibility_add_fact(&facts, node);
	return facts;
}

/* ------------------------------------------------------------------ faults */

bool
compatibility_refuse(Proof *proof, const SchemaNode *wide, const char *keyword,
					 const char *format,...)
{
	char	   *message;
	va_list		args;

	if (proof->list == NULL)
		return false;
	va_start(args, format);
	message = text_of_format(format, args);
	va_end(args);
	/* if the schema is one that is referred to, name it in the message */
	if (wide->resource->foreign)
		problem_add(proof->list, "", proof->code, "In the schema %s: %s",
					json_schema_path(wide, keyword), message);
	else
		problem_add(proof->list, json_schema_path(wide, keyword), proof->code, "%s", message);
	return false;
}

/* ------------------------------------------------------- a few values, or cases */

bool
compatibility_is_valid(const SchemaNode *node, const JsonbValue *value, ProblemList *list)
{
	DocumentPlace place = {.base = ""};
	SchemaRun	run = {.context = CurrentMemoryContext};
	SchemaSight sight = {&run, value, &place, NULL, list, NULL};

	return json_schema_run(node, &sight);
}

/* May a value that the facts describe be this one? */
static bool
compatibility_is_possible(const Facts *facts, const JsonbValue *value)
{
	ListCell   *cell;

	if ((json_schema_type_of(value) & facts->types) == 0)
		return false;
	foreach(cell, facts->nodes)
		if (!compatibility_is_valid(lfirst(cell), value, NULL))
			return false;
	return true;
}

/*
 * Returns the values if the facts leave only some that can be listed, or NULL
 * otherwise.
 */
static const SchemaCheck *
compatibility_values(const Facts *facts)
{
	ListCell   *cell;

	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_CONST);

		if (check == NULL)
			check = json_schema_check_of(lfirst(cell), CHECK_ENUM);
		if (check != NULL)
			return check;
	}
	return NULL;
}

/*
 * Proves each of the few values that are allowed by the facts, by validating
 * it.  Without a list of problems, the first failure ends the proof.
 */
static bool
compatibility_prove_values(Proof *proof, const Facts *facts, const SchemaNode *wide,
						   const SchemaCheck *values)
{
	bool		proved = true;
	int			i;

	for (i = 0; i < values->n; i++)
	{
		ProblemList *list = proof->list != NULL ? problem_list() : NULL;

		if (!compatibility_is_possible(facts, &values->values[i]) ||
			compatibility_is_valid(wide, &values->values[i], list))
			continue;
		proved = false;
		if (list == NULL)
			break;
		problem_add(proof->list, list->items[0].schema_path, proof->code,
					"A value that is allowed in the other version is not allowed here.");
		pfree(list);
	}
	return proved;
}

/*
 * Does one of the facts say that the value is valid against one of several
 * schemas?  If so, the proof must succeed for each of them.
 */
static bool
compatibility_prove_cases(Proof *proof, const Facts *facts, const SchemaNode *wide,
						  const SchemaCheck *check)
{
	bool		proved = true;
	int			i;

	proof->split = lappend(proof->split, unconstify(SchemaCheck *, check));
	for (i = 0; i < check->n && proved; i++)
	{
		Facts		one = {list_copy(facts->nodes), facts->types};

		compatibility_add_fact(&one, check->nodes[i]);
		proved = compatibility_try(proof, &one, wide);
	}
	proof->split = list_delete_last(proof->split);
	return proved;
}

/*
 * Proves the cases of an anyOf or oneOf one by one or, if there is none that
 * helps, those of each type.
 */
static bool
compatibility_prove_split(Proof *proof, const Facts *facts, const SchemaNode *wide)
{
	uint32		type;
	ListCell   *cell;
	bool		several = (facts->types & (facts->types - 1)) != 0;

	foreach(cell, facts->nodes)
	{
		SchemaCheck *check = json_schema_check_of(lfirst(cell), CHECK_ANY_OF);

		if (check == NULL)
			check = json_schema_check_of(lfirst(cell), CHECK_ONE_OF);
		if (check != NULL && !list_member_ptr(proof->split, check) &&
			compatibility_prove_cases(proof, facts, wide, check))
			return true;
	}
	for (type = 1; several && type < SCHEMA_ANY; type <<= 1)
	{
		Facts		one = {facts->nodes, facts->types & type};

		if (!compatibility_try(proof, &one, wide))
			return false;
	}
	return several;
}

/* ------------------------------------------------------------------ proofs */

static bool
compatibility_prove_checks(Proof *proof, const Facts *facts, const SchemaNode *wide)
{
	bool		proved = true;
	int			i;

	if (wide->never)
		return compatibility_refuse(proof, wide, NULL,
									"The other version allows values here, and this one does not.");
	for (i = 0; i < wide->nchecks && (proved || proof->list != NULL); i++)
		proved &= wide->checks[i].kind <= CHECK_UNIQUE_ITEMS ?
			compatibility_prove_value(proof, facts, wide, &wide->checks[i]) :
			compatibility_prove_container(proof, facts, wide, &wide->checks[i]);
	return proved;
}

static bool
compatibility_is_same(const List *a, const List *b)
{
	return list_length(a) == list_length(b) && list_difference_ptr(a, b) == NIL;
}

/*
 * Has this very proof begun already?  In that case it holds if all others do.
 */
static bool
compatibility_has_begun(const Proof *proof, const Facts *facts, const SchemaNode *wide)
{
	const ProofStep *step;

	for (step = proof->steps; step != NULL; step = step->outer)
		if (step->wide == wide && step->facts->types == facts->types &&
			compatibility_is_same(step->facts->nodes, facts->nodes) &&
			step->place.is_union == proof->place.is_union &&
			compatibility_is_same(step->place.schemas, proof->place.schemas))
			return true;
	return false;
}

static bool
compatibility_prove_directly(Proof *proof, const Facts *facts, const SchemaNode *wide)
{
	ProofStep	step = {proof->steps, facts, proof->place, wide};
	const SchemaCheck *values = compatibility_values(facts);
	bool		proved;

	CHECK_FOR_INTERRUPTS();
	proof->done += 1 + (list_length(facts->nodes) + list_length(proof->place.schemas)) / 16;
	if (proof->done > MOST_STEPS)
		return compatibility_refuse(proof, wide, NULL,
									"The two versions are too large to be compared; register the schema with compatibility \"none\".");
	if (values != NULL)
		return compatibility_prove_values(proof, facts, wide, values);
	proof->steps = &step;
	proved = compatibility_prove_checks(proof, facts, wide);
	proof->steps = step.outer;
	return proved;
}

/* Proves it without faults, so nothing of the proof need be kept. */
static bool
compatibility_try_all(Proof *proof, const Facts *facts, const SchemaNode *wide)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch proof",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	ProblemList *list = proof->list;
	bool		proved;

	proof->list = NULL;
	proved = compatibility_prove_directly(proof, facts, wide) ||
		(proof->done <= MOST_STEPS && compatibility_prove_split(proof, facts, wide));
	proof->list = list;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return proved;
}

bool
compatibility_try(Proof *proof, const Facts *facts, const SchemaNode *wide)
{
	check_stack_depth();
	return facts->types == 0 || (wide->nchecks == 0 && !wide->never) ||
		list_member_ptr(facts->nodes, wide) || compatibility_has_begun(proof, facts, wide) ||
		compatibility_try_all(proof, facts, wide);
}

bool
compatibility_prove(Proof *proof, const Facts *facts, const SchemaNode *wide)
{
	return compatibility_try(proof, facts, wide) ||
		(proof->list != NULL && compatibility_prove_directly(proof, facts, wide));
}

void
compatibility_check(const JsonSchema *narrow, const JsonSchema *wide, const char *code,
					ProblemList *list)
{
	Proof		proof = {.code = code, .list = list, .place = compatibility_place_of(narrow->root)};
	Facts		facts = compatibility_facts_of(narrow->root);
	int			before = list->n;

	/*
	 * what a $dynamicRef refers to depends on how it was reached, so nothing
	 * that is proved of its schema in one place holds in another
	 */
	if (narrow->is_dynamic || wide->is_dynamic)
	{
		(void) compatibility_refuse(&proof, wide->root, NULL,
									"A dynamic anchor decides where a \"$dynamicRef\" leads, so the two versions cannot be compared.");
		return;
	}
	if (compatibility_prove(&proof, &facts, wide->root))
		return;
	/* what fails only in one of several cases has no keyword of its own */
	if (list->n == before)
		(void) compatibility_refuse(&proof, wide->root, NULL,
									"It cannot be proved that this schema allows all that the other version does.");
}
