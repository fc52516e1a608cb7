/*-------------------------------------------------------------------------
 *
 * sight.c
 *	  Sight: what the current role may read.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/right.h"
#include "flow/sight_part.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "store/event.h"
#include "store/scope.h"
#include "store/visibility.h"
#include "task/verdict.h"
#include "trust/principal.h"
#include "trust/privilege.h"

/*
 * Looking at a run takes some microseconds, and more if a role has many agents:
 * one look for so many agents counts as one run.  After so many runs, all runs
 * of the role are listed, so that a scan of the log that meets a hundred
 * thousand runs of others can check each quickly.  Most statements see fewer
 * runs, and need no list.
 */
#define MOST_LOOKED_RUNS	100
#define AGENTS_OF_LOOK		10

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
	sight->agents = principal_agents_and_scopes(&sight->scopes);
	scopes = privilege_scopes(role);
	sight->is_known = sight->agents.n > 0 || scopes.n > 0;
	sight_add_scopes(sight, scopes);
}

void
sight_begin(Sight *sight)
{
	sight_begin_of(sight, GetUserId());
}

/*
 * The worker sends scheduled envelopes in the name of another role than its
 * own.
 */
void
sight_begin_of_sender(Sight *sight)
{
	sight_begin_of(sight, principal_role());
}

void
sight_begin_of_agent(Sight *sight, Slice agent_id)
{
	memset(sight, 0, sizeof(*sight));
	sight->context = CurrentMemoryContext;
	sight->is_known = true;
	sight->agents.items = palloc(sizeof(Slice));
	sight->agents.items[sight->agents.n++] = agent_id;
}

static bool
sight_has_scope(const Sight *sight, Slice scope)
{
	return slices_have(sight->scopes, scope) || slices_have(sight->scopes, SLICE_OF("*"));
}

bool
sight_has_agent(const Sight *sight, Slice agent_id)
{
	return slices_have(sight->agents, agent_id);
}

/* ------------------------------------------------------------------- a run */

/* Finds out what the role sees of a run, about which nothing is known yet. */
static SightOfRun
sight_find_out(const Sight *sight, const RunSight *run)
{
	Visibility	visibility = visibility_of_run(run->run_id, ROWS_ACTIVE);
	Slice		scope;

	if (visibility == VISIBILITY_PUBLIC && sight->is_known)
		return SIGHT_RUN;
	if (run->takes_part || right_take_part(&sight->agents, run->run_id))
		return visibility == VISIBILITY_PARENT_ONLY ? SIGHT_TASKS : SIGHT_RUN;
	if (visibility != VISIBILITY_SCOPE || sight->scopes.n == 0)
		return SIGHT_NONE;
	scope = scope_look(run->run_id);
	return slice_present(scope) && sight_has_scope(sight, scope) ? SIGHT_RUN : SIGHT_NONE;
}

/* Returns what is known about the run, or NULL if nothing is. */
static RunSight *
sight_look_up(const Sight *sight, Slice run_id)
{
	RunSight   *run = sight->list == NULL ? NULL : runtable_lookup(sight->list->runs, run_id);

	return run != NULL ? run : runtable_lookup(sight->runs, run_id);
}

/*
 * Adds a run about which nothing is known yet.  Returns NULL if the role sees
 * nothing of it.
 */
static RunSight *
sight_add_run(Sight *sight, Slice run_id)
{
	MemoryContext old;
	RunSight   *run;
	bool		found;

	if (sight->nlooked >= MOST_LOOKED_RUNS)
	{
		if (sight->list == NULL)
			sight_take_list(sight, true);
		return runtable_lookup(sight->list->runs, run_id);
	}
	sight->nlooked += Max(sight->agents.n / AGENTS_OF_LOOK, 1);
	old = MemoryContextSwitchTo(sight->context);
	run = runtable_insert(sight->runs, slice_copy(run_id), &found);
	MemoryContextSwitchTo(old);
	run->takes_part = run->is_found_out = false;
	return run;
}

SightOfRun
sight_of_run(Sight *sight, Slice run_id)
{
	RunSight   *run;

	if (sight->everything)
		return SIGHT_RUN;
	if (sight->runs == NULL)
	{
		sight->runs = runtable_create(sight->context, 16, NULL);
		sight_take_list(sight, false);
	}
	run = sight_look_up(sight, run_id);
	if (run == NULL)
		run = sight_add_run(sight, run_id);
	if (run == NULL)
		return SIGHT_NONE;
	if (!run->is_found_out)
	{
		run->sight = sight_find_out(sight, run);
		run->is_found_out = true;
	}
	return run->sight;
}

/* ------------------------------------------------------------------- tasks */

/*
 * Has one of the role's agents requested the task, does it have it, or did it?
 */
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

/* what the map of tasks says */
static char is_below;
static char is_not_below;

/*
 * The way from a task up to the root may have any length.  If all of it were
 * walked for each row of a chain, reading the chain would take quadratic time.
 * So after this many steps, tasks on the way are remembered, at this distance,
 * and the next ways end at them.
 */
#define MOST_STEPS		16

static void
sight_remember_task(Sight *sight, Slice task_id, bool below)
{
	MemoryContext old = MemoryContextSwitchTo(sight->context);

	if (sight->tasks == NULL)
		sight->tasks = text_map_make();
	*text_map_place(sight->tasks, slice_copy(task_id)) = below ? &is_below : &is_not_below;
	MemoryContextSwitchTo(old);
}

/* The same for the task or one above it. */
static bool
sight_is_below_own_agent(Sight *sight, const Task *task)
{
	List	   *passed = NIL;	/* every MOST_STEPS-th task on the way */
	char	   *known = NULL;
	int			steps = 0;
	ListCell   *cell;

	for (; task != NULL; steps++)
	{
		CHECK_FOR_INTERRUPTS();
		known = sight->tasks == NULL ? NULL : text_map_get(sight->tasks, task->task_id);
		if (known == NULL && sight_is_of_own_agent(sight, task))
			known = &is_below;
		if (known != NULL)
			break;
		if (steps % MOST_STEPS == 0)
			passed = slice_list_add(passed, task->task_id);
		task = slice_present(task->parent_task_id) ?
			task_look(task->parent_task_id, ROWS_ACTIVE) : NULL;
	}
	if (steps >= MOST_STEPS)
		foreach(cell, passed)
			sight_remember_task(sight, *(Slice *) lfirst(cell), known == &is_below);
	return known == &is_below;
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
sight_list_tasks_of_run(Sight *sight, Slice run_id)
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
	return slice_list_sort_unique(tasks);
}
