/*-------------------------------------------------------------------------
 *
 * sight.c
 *	  What the current role may read.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/right.h"
#include "flow/sight.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "store/event.h"
#include "store/scope.h"
#include "store/visibility.h"
#include "task/verdict.h"
#include "trust/principal.h"
#include "trust/privilege.h"
#include "utils/memutils.h"

/* a run of which it is known what the role sees */
typedef struct SeenRun
{
	uint64		hash;			/* key */
	Slice		run_id;
	SightOfRun	sight;
} SeenRun;

/* When so many are remembered, all are forgotten. */
#define MOST_SEEN_RUNS	10000

/*
 * A run takes some microseconds to look at.  After so many of them, all runs of the
 * role are listed, so that a scan of the log that meets a hundred thousand runs of
 * others finds out about each at once; most statements see fewer, and need no list.
 */
#define MOST_LOOKED_RUNS	100

static void
sight_add_scopes(Sight *sight, SliceList more)
{
	SliceList	all = {0, palloc(sizeof(Slice) * Max(sight->scopes.n + more.n, 1))};
	int			i;

	for (i = 0; i < sight->scopes.n; i++)
		all.items[all.n++] = sight->scopes.items[i];
	for (i = 0; i < more.n; i++)
		all.items[all.n++] = more.items[i];
	sight->scopes = all;
}

static void
sight_begin_of(Sight *sight, Oid role)
{
	SliceList	scopes;

	memset(sight, 0, sizeof(*sight));
	sight->context = CurrentMemoryContext;
	sight->everything = privilege_reads_all(role, ROWS_ACTIVE);
	if (sight->everything)
		return;
	sight->agents = principal_agents();
	sight->scopes = principal_scopes();
	scopes = privilege_scopes(role, ROWS_ACTIVE);
	sight->is_known = sight->agents.n > 0 || scopes.n > 0;
	sight_add_scopes(sight, scopes);
}

void
sight_begin(Sight *sight)
{
	sight_begin_of(sight, GetUserId());
}

/* The worker sends what was scheduled in the name of another role than its own. */
void
sight_begin_of_sender(Sight *sight)
{
	sight_begin_of(sight, principal_role());
}

static bool
sight_has_scope(const Sight *sight, Slice scope)
{
	int			i;

	for (i = 0; i < sight->scopes.n; i++)
		if (slice_equal(sight->scopes.items[i], scope) ||
			slice_equal(sight->scopes.items[i], SLICE_OF("*")))
			return true;
	return false;
}

static bool
sight_has_agent(const Sight *sight, Slice agent_id)
{
	int			i;

	for (i = 0; i < sight->agents.n; i++)
		if (slice_equal(sight->agents.items[i], agent_id))
			return true;
	return false;
}

/* ------------------------------------------------------------------- a run */

static bool
sight_takes_part(const Sight *sight, Slice run_id)
{
	int			i;

	for (i = 0; i < sight->agents.n; i++)
		if (right_takes_part(sight->agents.items[i], run_id, ROWS_ACTIVE))
			return true;
	return false;
}

static SightOfRun
sight_find_out(const Sight *sight, Slice run_id)
{
	Visibility	visibility = visibility_of_run(run_id, ROWS_ACTIVE);
	Slice		scope;

	if (visibility == VISIBILITY_PUBLIC && sight->is_known)
		return SIGHT_RUN;
	if (sight_takes_part(sight, run_id))
		return visibility == VISIBILITY_PARENT_ONLY ? SIGHT_TASKS : SIGHT_RUN;
	if (visibility != VISIBILITY_SCOPE || sight->scopes.n == 0)
		return SIGHT_NONE;
	scope = scope_look(run_id, ROWS_ACTIVE);
	return slice_present(scope) && sight_has_scope(sight, scope) ? SIGHT_RUN : SIGHT_NONE;
}

static List *
sight_sort(List *list)
{
	List	   *unique = NIL;
	ListCell   *cell;

	list_sort(list, slice_list_compare);
	foreach(cell, list)
		if (unique == NIL || !slice_equal(*(Slice *) llast(unique), *(Slice *) lfirst(cell)))
			unique = lappend(unique, lfirst(cell));
	return unique;
}

static List *
sight_list_runs_of_scopes(const Sight *sight)
{
	List	   *runs = NIL;
	int			i;

	for (i = 0; i < sight->scopes.n; i++)
	{
		bool		is_any = slice_equal(sight->scopes.items[i], SLICE_OF("*"));

		runs = list_concat(runs, scope_list_runs(is_any ? SLICE_NONE : sight->scopes.items[i],
												 ROWS_ACTIVE));
	}
	return runs;
}

List *
sight_list_runs(const Sight *sight)
{
	List	   *runs = right_list_runs(&sight->agents, ROWS_ACTIVE);
	List	   *others = sight_list_runs_of_scopes(sight);

	if (sight->is_known)
		others = list_concat(others, visibility_list_public(ROWS_ACTIVE));
	return others == NIL ? runs : sight_sort(list_concat(runs, others));
}

static void
sight_begin_memory(Sight *sight)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(uint64);
	control.entrysize = sizeof(SeenRun);
	if (sight->runs_context != NULL)
		MemoryContextDelete(sight->runs_context);
	sight->runs_context = AllocSetContextCreate(sight->context, "clutch runs that are seen",
												ALLOCSET_SMALL_SIZES);
	control.hcxt = sight->runs_context;
	sight->runs = hash_create("clutch runs that are seen", 64, &control,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void
sight_list(Sight *sight)
{
	HASHCTL		control = {0};
	MemoryContext names = AllocSetContextCreate(sight->context, "clutch runs", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(names);
	List	   *runs = sight_list_runs(sight);
	ListCell   *cell;

	control.keysize = control.entrysize = sizeof(uint64);
	control.hcxt = sight->context;
	sight->listed = hash_create("clutch runs that may be seen", Max(list_length(runs), 16), &control,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	foreach(cell, runs)
	{
		uint64		hash = slice_hash(*(Slice *) lfirst(cell));

		(void) hash_search(sight->listed, &hash, HASH_ENTER, NULL);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(names);
}

/* false: nothing of the run is seen; otherwise it has to be looked at */
static bool
sight_may_have_run(Sight *sight, uint64 hash)
{
	if (sight->listed == NULL && ++sight->nlooked > MOST_LOOKED_RUNS)
		sight_list(sight);
	return sight->listed == NULL || hash_search(sight->listed, &hash, HASH_FIND, NULL) != NULL;
}

SightOfRun
sight_of_run(Sight *sight, Slice run_id)
{
	uint64		hash = slice_hash(run_id);
	SeenRun    *seen;
	bool		found;
	MemoryContext old;

	if (sight->everything)
		return SIGHT_RUN;
	if (sight->runs == NULL || hash_get_num_entries(sight->runs) >= MOST_SEEN_RUNS)
		sight_begin_memory(sight);
	seen = hash_search(sight->runs, &hash, HASH_FIND, NULL);
	if (seen != NULL && slice_equal(seen->run_id, run_id))
		return seen->sight;
	if (!sight_may_have_run(sight, hash))
		return SIGHT_NONE;
	old = MemoryContextSwitchTo(sight->runs_context);
	run_id = slice_copy(run_id);
	MemoryContextSwitchTo(old);
	hash_search(sight->runs, &hash, HASH_REMOVE, NULL);
	{
		SightOfRun	result = sight_find_out(sight, run_id);

		seen = hash_search(sight->runs, &hash, HASH_ENTER, &found);
		*seen = (SeenRun) {hash, run_id, result};
	}
	return seen->sight;
}

/* ------------------------------------------------------------------- tasks */

/* Has one of the agents requested the task, has it, or had it? */
static bool
sight_is_of_own_agent(const Sight *sight, const Task *task)
{
	int			i;

	if (sight_has_agent(sight, task->from_agent) || sight_has_agent(sight, task->agent_id))
		return true;
	for (i = 0; i < task->past_agents.n; i++)
		if (sight_has_agent(sight, task->past_agents.items[i]))
			return true;
	return false;
}

/* the same of the task, or of one above it */
static bool
sight_is_below_own_agent(const Sight *sight, const Task *task)
{
	while (task != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (sight_is_of_own_agent(sight, task))
			return true;
		task = slice_present(task->parent_task_id) ?
			task_look(task->parent_task_id, ROWS_ACTIVE) : NULL;
	}
	return false;
}

bool
sight_has_task(Sight *sight, const Task *task)
{
	SightOfRun	seen;

	if (sight->everything || sight_is_of_own_agent(sight, task))
		return true;
	seen = sight_of_run(sight, task->run_id);
	return seen == SIGHT_RUN || (seen == SIGHT_TASKS && sight_is_below_own_agent(sight, task));
}

void
sight_check_may_steer(const Task *task, Slice agent_id)
{
	Sight		sight;

	if (verdict_may_steer(task, agent_id))
		return;
	sight_begin(&sight);
	if (sight_has_task(&sight, task))
		verdict_check_may_steer(task, agent_id);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem("/from/agent_id", "NOT_ASSIGNED"),
			 errmsg("\"%.*s\" may not cancel or retry all tasks of run \"%.*s\"",
					agent_id.len, agent_id.s, task->run_id.len, task->run_id.s),
			 errhint("Cancel or retry those that clutch.tasks shows, one by one.")));
}

bool
sight_has_row(Sight *sight, Slice run_id, Slice task_id)
{
	Task	   *task;

	switch (sight_of_run(sight, run_id))
	{
		case SIGHT_NONE:
			return false;
		case SIGHT_RUN:
			return true;
		case SIGHT_TASKS:
			break;
	}
	task = slice_present(task_id) ? task_look(task_id, ROWS_ACTIVE) : NULL;
	/* an event may name a task of another run, unless it is a request */
	return task != NULL && slice_equal(task->run_id, run_id) &&
		sight_is_below_own_agent(sight, task);
}

bool
sight_has_event(Sight *sight, const RowScan *event)
{
	return sight_has_row(sight, rows_text(event, Anum_event_run_id),
						 rows_text(event, Anum_event_task_id));
}

bool
sight_has_seq(Sight *sight, int64 seq)
{
	bool		has = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_ACTIVE, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	rows_start(&scan);
	if (rows_next(&scan))
		has = sight_has_event(sight, &scan);
	rows_end(&scan);
	return has;
}

List *
sight_list_tasks_of_run(const Sight *sight, Slice run_id)
{
	List	   *tasks = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_RUN_ID, ROWS_ACTIVE, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Task	   *task = task_row_read(&scan);

		CHECK_FOR_INTERRUPTS();
		if (sight_is_below_own_agent(sight, task))
			tasks = slice_list_add(tasks, task->task_id);
	}
	rows_end(&scan);
	list_sort(tasks, slice_list_compare);
	return tasks;
}
