/*-------------------------------------------------------------------------
 *
 * rule.c
 *	  Operators' rules, which apply to a request before agents are matched.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/stale.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "routing/phrase.h"
#include "routing/rule_part.h"
#include "utils/memutils.h"

/* ------------------------------------------------------------------ memory */

static RuleSet *current = NULL; /* NULL if there are no rules, or they have not
								 * been read yet */
static uint64 read_at = 0;		/* number of changes when they were read; 0 if
								 * never */

static int
rule_compare(const void *a, const void *b)
{
	const Rule *x = a;
	const Rule *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return slice_compare(x->name, y->name);
}

static void
rule_error_callback(void *arg)
{
	const Slice *name = arg;

	if (slice_present(*name))
		errcontext("routing rule \"%.*s\"", name->len, name->s);
}

/*
 * Reads a row.  One that is not valid, which only a superuser can have
 * written, is skipped.
 */
static void
rule_set_read_row(RuleSet *set, const RowScan *scan, Slice *name)
{
	ProblemList *faults = problem_list_admitted();
	Datum		values[Natts_routing_rule];
	bool		nulls[Natts_routing_rule];

	for (int i = 0; i < Natts_routing_rule; i++)
		values[i] = rows_datum(scan, i + 1, &nulls[i]);
	*name = rows_text(scan, Anum_routing_rule_name);
	rule_read(values, nulls, &set->rules[set->n], faults);
	if (faults->n == 0)
		set->n++;
	pfree(faults);
	*name = SLICE_NONE;
}

static void
rule_set_read_rows(RuleSet *set)
{
	ErrorContextCallback place = {.callback = rule_error_callback};
	Slice		name = SLICE_NONE;
	int			room = 0;
	RowScan		scan;

	place.arg = &name;
	place.previous = error_context_stack;
	error_context_stack = &place;
	rows_begin(&scan, TABLE_ROUTING_RULE, INDEX_ROUTING_RULE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		array_make_room(set->rules, set->n, room);
		rule_set_read_row(set, &scan, &name);
	}
	rows_end(&scan);
	error_context_stack = place.previous;
	qsort(set->rules, set->n, sizeof(Rule), rule_compare);
}

static void
rule_set_sum_up(RuleSet *set)
{
	for (int i = 0; i < set->n; i++)
	{
		const Rule *rule = &set->rules[i];

		set->routes = set->routes || rule->type == MSG_TASK_REQUEST;
		if (rule->emit != NULL && !rule->shares)
			set->emitting |= RULE_TYPE_BIT(rule->type);
	}
	set->index = rule_index_make(set);
}

static RuleSet *
rule_set_read(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch routing rules",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RuleSet    *set = palloc0(sizeof(RuleSet));

	set->context = context;
	rule_set_read_rows(set);
	rule_set_sum_up(set);
	MemoryContextSwitchTo(old);
	return set;
}

static void
rule_set_forget(void)
{
	if (current != NULL)
		MemoryContextDelete(current->context);
	current = NULL;
}

const RuleSet *
rule_set_get(void)
{
	uint64		changes = stale_count(STALE_RULES);
	RuleSet    *set;

	if (read_at == changes)
		return current;
	set = rows_table_was_used(TABLE_ROUTING_RULE) ? rule_set_read() : NULL;
	rule_set_forget();
	read_at = changes;
	if (set == NULL || set->n == 0)
	{
		if (set != NULL)
			MemoryContextDelete(set->context);
		return NULL;
	}
	MemoryContextSetParent(set->context, TopMemoryContext);
	current = set;
	return current;
}

uint64
rule_changes(void)
{
	return stale_count(STALE_RULES);
}

void
rule_announce(void)
{
	stale_announce(STALE_RULES);
}

/* ---------------------------------------------------------------- matching */

/*
 * Rules with the same place are sorted by name in the set, so comparing their
 * addresses compares their names.
 */
static int
rule_match_compare(const void *a, const void *b)
{
	const RuleMatch *x = a;
	const RuleMatch *y = b;

	if (x->rule->place != y->rule->place)
		return x->rule->place < y->rule->place ? -1 : 1;
	if (x->nwords != y->nwords)
		return y->nwords - x->nwords;
	return x->rule < y->rule ? -1 : 1;
}

static bool
rule_concerns(const Rule *rule, const Envelope *envelope, Slice scope)
{
	return rule->type == envelope->type &&
		(!slice_present(rule->scope) || slice_equal(rule->scope, scope));
}

int
rule_list_matches(const RuleSet *set, const Envelope *envelope, Slice scope, RuleMatch **matches)
{
	RuleFinds	finds;
	RuleMatch  *list;
	int			nlisted = 0;
	int			n = 0;

	rule_index_find(set, envelope, &finds);
	*matches = list = palloc(sizeof(RuleMatch) * finds.n);
	for (int i = 0; i < finds.n; i++)
	{
		const Rule *rule = &set->rules[finds.items[i].owner];

		if (rule_concerns(rule, envelope, scope))
			list[nlisted++] = (RuleMatch) {rule, finds.items[i].nwords};
	}
	if (nlisted > 1)
		qsort(list, nlisted, sizeof(RuleMatch), rule_match_compare);
	for (int i = 0; i < nlisted; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (path_fits(&list[i].rule->path, envelope->doc))
			list[n++] = list[i];
	}
	return n;
}
