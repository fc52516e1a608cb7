/*-------------------------------------------------------------------------
 *
 * json_schema_validate.c
 *	  Running a compiled schema on a value.
 *
 * The value is first checked for the verdict alone, which makes no messages
 * and stops at the first fault.  Only if there is one is this done again with
 * a list, to which each violated schema adds its faults, until it is full or
 * takes too many steps.
 *
 * If a schema is a union that contains itself, several of its branches may
 * have the same schemas for the same part of the value, and so on at each
 * level.  Verdicts are remembered, so that the work does not double each time.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_part.h"

#include "base/number.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "settings.h"
#include "utils/memutils.h"

/* how many verdicts are remembered, and after how many steps this begins */
#define VERDICTS	4096
#define SHORT_RUN	1000

/* ------------------------------------------------------------------ bounds */

/*
 * If the value is known to be refused, a limit ends the list of its faults, but
 * not the refusal.
 */
static bool
json_schema_ends_list(SchemaRun *run)
{
	if (run->listing == NULL || run->listing->n == 0)
		return false;
	run->is_over = true;
	return true;
}

void
json_schema_count(SchemaRun *run, int64 steps)
{
	run->steps += steps;
	CHECK_FOR_INTERRUPTS();
	if (run->steps > clutch_max_schema_steps && !json_schema_ends_list(run))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errproblem("", "SCHEMA_LIMIT"),
				 errmsg("checking a value against its schema takes more than %d steps",
						clutch_max_schema_steps),
				 errhint("Simplify the schema, send a smaller value, or let a superuser raise clutch.max_schema_steps.")));
}

bool
json_schema_matches(const SchemaSight *sight, const Pattern *pattern, Slice text)
{
	json_schema_count(sight->run, pattern_steps(pattern, text));
	return !sight->run->is_over && pattern_matches(pattern, text);
}

static void
json_schema_enter(SchemaRun *run)
{
	check_stack_depth();
	if (++run->depth > clutch_max_schema_recursion && !json_schema_ends_list(run))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errproblem("", "SCHEMA_LIMIT"),
				 errmsg("checking a value against its schema nests deeper than %d schemas",
						clutch_max_schema_recursion),
				 errhint("Check that the references of the schema come to an end, or let a superuser raise clutch.max_schema_recursion.")));
}

/* ------------------------------------------------------------------ values */

const JsonbContainer *
json_schema_object(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data) ?
		value->val.binary.data : NULL;
}

const JsonbContainer *
json_schema_array(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data) ?
		value->val.binary.data : NULL;
}

static int
json_schema_children(const JsonbValue *value)
{
	return value->type == jbvBinary ? JsonContainerSize(value->val.binary.data) : 0;
}

uint32
json_schema_type_of(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			return SCHEMA_NULL;
		case jbvBool:
			return SCHEMA_BOOLEAN;
		case jbvString:
			return SCHEMA_STRING;
		case jbvNumeric:
			return number_is_integer(value->val.numeric) ? SCHEMA_INTEGER : SCHEMA_FRACTION;
		default:
			return json_schema_object(value) != NULL ? SCHEMA_OBJECT : SCHEMA_ARRAY;
	}
}

bool
json_schema_equal(const JsonbValue *a, const JsonbValue *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type)
	{
		case jbvNull:
			return true;
		case jbvBool:
			return a->val.boolean == b->val.boolean;
		case jbvString:
			return a->val.string.len == b->val.string.len &&
				memcmp(a->val.string.val, b->val.string.val, a->val.string.len) == 0;
		case jbvNumeric:
			return number_compare(a->val.numeric, b->val.numeric) == 0;
		default:
			return compareJsonbContainers(a->val.binary.data, b->val.binary.data) == 0;
	}
}

/* ------------------------------------------------------------------ faults */

bool
json_schema_broken(const SchemaSight *sight, const SchemaNode *node, const char *keyword,
				   const char *format,...)
{
	char	   *message;
	char	   *path;
	char	   *schema_path;
	MemoryContext caller;
	va_list		args;

	if (sight->list == NULL || sight->run->is_over)
		return false;
	va_start(args, format);
	message = psprintf("%s %s", place_name(sight->place), text_of_format(format, args));
	va_end(args);
	path = place_path(sight->place);
	schema_path = json_schema_path(node, keyword);
	caller = MemoryContextSwitchTo(sight->run->context);
	problem_add_broken(sight->list, path, schema_path,
					   keyword != NULL ? keyword : node->keyword != NULL ? node->keyword : "false",
					   message);
	MemoryContextSwitchTo(caller);
	sight->run->is_over = sight->list->dropped > 0;
	return false;
}

bool
json_schema_goes_on(const SchemaSight *sight, bool valid)
{
	return (valid || sight->list != NULL) && !sight->run->is_over;
}

/* ------------------------------------------- schemas that see the same value */

/*
 * Runs one of several branches without a list.  What it evaluates counts only
 * if it succeeds.
 */
static bool
json_schema_run_branch(const SchemaNode *node, const SchemaSight *sight)
{
	int			n = json_schema_children(sight->value);
	SchemaSight branch = *sight;
	bool		valid;
	int			i;

	branch.list = NULL;
	if (sight->evaluated != NULL)
	{
		json_schema_count(sight->run, n / 16);
		branch.evaluated = palloc0(n);
	}
	valid = json_schema_run(node, &branch);
	if (sight->evaluated == NULL)
		return valid;
	for (i = 0; i < n && valid; i++)
		sight->evaluated[i] |= branch.evaluated[i];
	pfree(branch.evaluated);
	return valid;
}

static bool
json_schema_check_all(const SchemaCheck *check, const SchemaSight *sight)
{
	bool		valid = true;
	int			i;

	for (i = 0; i < check->n && json_schema_goes_on(sight, valid); i++)
		valid &= json_schema_run(check->nodes[i], sight);
	return valid;
}

/* Adds the faults of all branches, none of which has succeeded. */
static bool
json_schema_refuse_all(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	const char *keyword = check->kind == CHECK_ONE_OF ? "oneOf" : "anyOf";
	SchemaSight branch = *sight;
	int			i;

	branch.evaluated = NULL;
	(void) json_schema_broken(sight, node, keyword, "matches none of the %d schemas of \"%s\".",
							  check->n, keyword);
	for (i = 0; i < check->n && json_schema_goes_on(sight, false); i++)
		(void) json_schema_run(check->nodes[i], &branch);
	return false;
}

/* Checks anyOf and oneOf. */
static bool
json_schema_check_some(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	bool		one = check->kind == CHECK_ONE_OF;
	int			matched = 0;
	int			i;

	for (i = 0; i < check->n && json_schema_goes_on(sight, true); i++)
	{
		matched += json_schema_run_branch(check->nodes[i], sight);
		if (one ? matched > 1 : matched > 0 && sight->evaluated == NULL)
			break;
	}
	if (matched == 0)
		return json_schema_refuse_all(node, check, sight);
	return !one || matched == 1 ||
		json_schema_broken(sight, node, "oneOf", "matches more than one schema of \"oneOf\".");
}

static bool
json_schema_check_if(const SchemaCheck *check, const SchemaSight *sight)
{
	const SchemaNode *next = json_schema_run_branch(check->nodes[0], sight) ?
		check->nodes[1] : check->nodes[2];

	return next == NULL || json_schema_run(next, sight);
}

static bool
json_schema_check_not(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	SchemaSight inside = *sight;

	inside.list = NULL;
	inside.evaluated = NULL;
	return !json_schema_run(check->rest, &inside) ||
		json_schema_broken(sight, node, "not", "must not match the schema of \"not\".");
}

/*
 * Returns the target of a $dynamicRef: the outermost resource on the way here
 * that has the dynamic anchor decides.
 */
static const SchemaNode *
json_schema_dynamic_target(const SchemaCheck *check, const SchemaSight *sight)
{
	const SchemaNode *target = check->rest;
	const SchemaScope *scope;
	ListCell   *cell;

	if (!slice_present(check->anchor))
		return target;
	for (scope = sight->scope; scope != NULL; scope = scope->outer)
	{
		json_schema_count(sight->run, 1 + list_length(scope->resource->anchors));
		foreach(cell, scope->resource->anchors)
		{
			const SchemaAnchor *anchor = lfirst(cell);

			if (anchor->dynamic && slice_equal(anchor->name, check->anchor))
				target = anchor->node;
		}
	}
	return target;
}

/* --------------------------------------------------------------- the checks */

static bool
json_schema_check_one(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	if (check->kind <= CHECK_FORMAT)
		return json_schema_check_scalar(node, check, sight);
	switch (check->kind)
	{
		case CHECK_REF:
			return json_schema_run(check->rest, sight);
		case CHECK_DYNAMIC_REF:
			return json_schema_run(json_schema_dynamic_target(check, sight), sight);
		case CHECK_ALL_OF:
			return json_schema_check_all(check, sight);
		case CHECK_ANY_OF:
		case CHECK_ONE_OF:
			return json_schema_check_some(node, check, sight);
		case CHECK_NOT:
			return json_schema_check_not(node, check, sight);
		case CHECK_IF:
			return json_schema_check_if(check, sight);
		default:
			break;
	}
	if (json_schema_array(sight->value) != NULL)
		return json_schema_check_array(node, check, sight);
	return json_schema_object(sight->value) == NULL ||
		json_schema_check_object(node, check, sight);
}

static bool
json_schema_run_checks(const SchemaNode *node, const SchemaSight *sight)
{
	bool		valid = true;
	int			i;

	json_schema_count(sight->run, 1 + node->nchecks);
	for (i = 0; i < node->nchecks && json_schema_goes_on(sight, valid); i++)
		valid &= json_schema_check_one(node, &node->checks[i], sight);
	return valid;
}

/*
 * Runs a schema with an unevaluated... check, which must know what the other
 * checks have evaluated.
 */
static bool
json_schema_run_collecting(const SchemaNode *node, const SchemaSight *outer)
{
	int			n = json_schema_children(outer->value);
	SchemaSight sight = *outer;
	bool		valid;
	int			i;

	json_schema_count(outer->run, n / 16);
	sight.evaluated = palloc0(n);
	valid = json_schema_run_checks(node, &sight);
	for (i = 0; i < n && outer->evaluated != NULL; i++)
		outer->evaluated[i] |= sight.evaluated[i];
	pfree(sight.evaluated);
	return valid;
}

/*
 * Runs a schema that is neither true nor false.  What its messages consist of
 * is freed, because there may be far more messages than the list keeps.
 */
static bool
json_schema_run_object(const SchemaNode *node, const SchemaSight *sight)
{
	MemoryContext texts = NULL;
	MemoryContext caller = CurrentMemoryContext;
	bool		valid;

	if (sight->list != NULL)
	{
		texts = AllocSetContextCreate(caller, "clutch faults", ALLOCSET_SMALL_SIZES);
		MemoryContextSwitchTo(texts);
	}
	valid = node->collects ? json_schema_run_collecting(node, sight) :
		json_schema_run_checks(node, sight);
	MemoryContextSwitchTo(caller);
	if (texts != NULL)
		MemoryContextDelete(texts);
	return valid;
}

bool
json_schema_run(const SchemaNode *node, const SchemaSight *outer)
{
	SchemaScope scope = {outer->scope, node->resource};
	SchemaSight sight = *outer;
	bool		valid;

	if (node->never)
		return json_schema_broken(&sight, node, NULL, "is not allowed here.");
	if (node->nchecks == 0)
		return true;
	json_schema_enter(sight.run);
	if (outer->scope == NULL || outer->scope->resource != node->resource)
		sight.scope = &scope;
	valid = json_schema_run_object(node, &sight);
	sight.run->depth--;
	return valid;
}

/* ---------------------------------------------------------------- verdicts */

/*
 * Returns the place where this verdict is remembered, unless another one has
 * taken it since.
 */
static SchemaVerdict *
json_schema_verdict(SchemaRun *run, const SchemaNode *node, const JsonbContainer *container)
{
	const void *key[] = {node, container};

	if (run->verdicts == NULL)
		run->verdicts = MemoryContextAllocZero(run->context, VERDICTS * sizeof(SchemaVerdict));
	return &run->verdicts[hash_bytes((const unsigned char *) key, sizeof(key)) % VERDICTS];
}

static bool
json_schema_run_remembering(const SchemaNode *node, const SchemaSight *sight)
{
	const JsonbContainer *container = sight->value->val.binary.data;
	SchemaVerdict *verdict = json_schema_verdict(sight->run, node, container);
	bool		is_listing = sight->list != NULL;
	bool		valid;

	if (verdict->node == node && verdict->container == container &&
		(verdict->valid || verdict->listed || !is_listing))
	{
		json_schema_count(sight->run, 1);
		return verdict->valid;
	}
	valid = json_schema_run(node, sight);
	*verdict = (SchemaVerdict) {node, container, valid, is_listing};
	return valid;
}

bool
json_schema_run_child(const SchemaNode *node, const SchemaSight *sight, const JsonbValue *child,
					  Slice key, int index)
{
	DocumentPlace place = {sight->place, key, index};
	SchemaSight inside = *sight;

	inside.value = child;
	inside.place = &place;
	inside.evaluated = NULL;
	return child->type == jbvBinary && sight->run->remembers && sight->run->steps > SHORT_RUN ?
		json_schema_run_remembering(node, &inside) : json_schema_run(node, &inside);
}

bool
json_schema_validate(const JsonSchema *schema, const JsonbValue *value, const char *base,
					 ProblemList *list)
{
	DocumentPlace place = {.base = base};
	SchemaRun	run = {.context = CurrentMemoryContext, .remembers = !schema->is_dynamic};
	SchemaSight sight = {&run, value, &place, NULL, NULL, NULL};
	bool		valid = json_schema_run(schema->root, &sight);

	if (!valid && list != NULL)
	{
		run.steps = 0;
		run.listing = sight.list = list;
		(void) json_schema_run(schema->root, &sight);
		list->is_cut |= run.is_over;
	}
	if (run.verdicts != NULL)
		pfree(run.verdicts);
	return valid;
}
