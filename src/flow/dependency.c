/*-------------------------------------------------------------------------
 *
 * dependency.c
 *	  Tasks that wait for the end of others.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/rows.h"
#include "flow/assign.h"
#include "flow/dependency.h"
#include "miscadmin.h"
#include "protocol/problem.h"

/* columns of clutch.dependency */
enum
{
	Anum_task_id = 1,
	Anum_after_task_id,
	Anum_run_id,
	Natts_dependency = Anum_run_id
};

/* --------------------------------------------------------------- the edges */

static List *
list_edges(StateIndex index, Slice task_id, int column)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_DEPENDENCY, index, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	return rows_list_texts(&scan, column, NIL);
}

List *
dependency_list(Slice task_id)
{
	return list_edges(INDEX_DEPENDENCY, task_id, Anum_after_task_id);
}

List *
dependency_list_waiters(Slice task_id)
{
	return list_edges(INDEX_DEPENDENCY_AFTER, task_id, Anum_task_id);
}

static void
insert_edge(const Task *task, Slice after)
{
	Datum		values[Natts_dependency];
	bool		nulls[Natts_dependency] = {0};

	values[Anum_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	values[Anum_after_task_id - 1] = PointerGetDatum(slice_to_text(after));
	values[Anum_run_id - 1] = PointerGetDatum(slice_to_text(task->run_id));
	(void) rows_insert(TABLE_DEPENDENCY, values, nulls);
}

/* --------------------------------------------------------------- refusals */

static void
refuse_cycle(const Task *task, Slice after)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/meta/clutch/after", "CYCLE"),
			 errmsg("task \"%.*s\" would wait for \"%.*s\", which waits for it",
					task->task_id.len, task->task_id.s, after.len, after.s),
			 errhint("A task cannot wait for what waits for it: leave that one out.")));
}

/* also of those whose request is not committed yet */
static bool
is_awaited(Slice task_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_DEPENDENCY, INDEX_DEPENDENCY_AFTER, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	return rows_look(&scan, NULL);
}

static bool
is_listed(List *ids, Slice id)
{
	ListCell   *cell;

	foreach(cell, ids)
		if (slice_equal(*(Slice *) lfirst(cell), id))
			return true;
	return false;
}

/*
 * A cycle is closed by a task that somebody waits for before it is requested.
 * Called with our own edges written, so that of two requests which close one
 * together one sees the other; it waits for the other to commit.
 */
static void
check_cycle(const Task *task, const SliceList *after)
{
	List	   *seen = NIL;
	ListCell   *cell;
	int			i;

	if (!is_awaited(task->task_id))
		return;
	for (i = 0; i < after->n; i++)
		seen = lappend(seen, &after->items[i]);
	foreach(cell, seen)
	{
		Slice		id = *(Slice *) lfirst(cell);
		ListCell   *next;

		CHECK_FOR_INTERRUPTS();
		if (slice_equal(id, task->task_id))
			refuse_cycle(task, after->items[0]);
		(void) task_await(id);
		foreach(next, dependency_list(id))
			if (!is_listed(seen, *(Slice *) lfirst(next)))
				seen = lappend(seen, lfirst(next));
	}
}

/* so far up a task is kept from waiting for those that wait for it */
#define MOST_ANCESTORS	1000

static void
check_ancestors(const Task *task, const SliceList *after)
{
	Slice		ancestor = task->parent_task_id;
	int			up = 0;

	while (slice_present(ancestor) && up++ < MOST_ANCESTORS)
	{
		Task	   *above = task_look(ancestor, ROWS_LATEST);
		int			i;

		for (i = 0; i < after->n; i++)
			if (slice_equal(after->items[i], ancestor))
				refuse_cycle(task, ancestor);
		ancestor = above != NULL ? above->parent_task_id : SLICE_NONE;
	}
}

/* ------------------------------------------------------------------ state */

static DependencyState
state_of(const Task *other)
{
	if (other == NULL || !task_status_is_over(other->status))
		return DEPENDENCY_OPEN;
	return other->status == TASK_COMPLETED ? DEPENDENCY_MET : DEPENDENCY_FAILED;
}

static void
check_run(const Task *task, const Task *other)
{
	if (!slice_equal(task->run_id, other->run_id))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/meta/clutch/after", "TASK_IN_OTHER_RUN"),
				 errmsg("task \"%.*s\" belongs to run \"%.*s\", not to \"%.*s\"",
						other->task_id.len, other->task_id.s, other->run_id.len,
						other->run_id.s, task->run_id.len, task->run_id.s),
				 errhint("A task waits for tasks of its own run.")));
}

DependencyState
dependency_begin(Task *task, const Envelope *request)
{
	const SliceList *after = &request->orders.after;
	DependencyState state = DEPENDENCY_MET;
	int			i;

	if (after->n == 0)
		return DEPENDENCY_MET;
	for (i = 0; i < after->n; i++)
	{
		Task	   *other = task_await(after->items[i]);

		if (other != NULL)
			check_run(task, other);
		state = Max(state, state_of(other));
		insert_edge(task, after->items[i]);
	}
	check_ancestors(task, after);
	check_cycle(task, after);
	if (state == DEPENDENCY_OPEN)
	{
		task->waiting_for = SLICE_OF("sibling");
		if (task->wake_at == 0)
			task->wake_at = task->created_at;
	}
	return state;
}

static DependencyState
state_of_all(const List *ids)
{
	DependencyState state = DEPENDENCY_MET;
	const ListCell *cell;

	foreach(cell, ids)
		state = Max(state, state_of(task_look(*(Slice *) lfirst(cell), ROWS_LATEST)));
	return state;
}

bool
dependency_hold(Task *task)
{
	if (state_of_all(dependency_list(task->task_id)) == DEPENDENCY_MET)
		return false;
	task->waiting_for = SLICE_OF("sibling");
	return true;
}

/* so often a task is looked at while what it waits for is being changed */
#define LOOK_AGAIN_AFTER	(100 * INT64CONST(1000))

/*
 * Whoever ends one from here on sees our edges.  Who is about to now may have
 * looked for them before they were committed.
 */
DependencyState
dependency_look_again(Task *task)
{
	List	   *ids = dependency_list(task->task_id);
	bool		is_moving = false;
	ListCell   *cell;
	DependencyState state;

	foreach(cell, ids)
		is_moving = is_moving || task_is_moving(*(Slice *) lfirst(cell));
	state = state_of_all(ids);
	if (state == DEPENDENCY_OPEN)
	{
		task->waiting_for = SLICE_OF("sibling");
		task->wake_at = is_moving ? clock_now() + LOOK_AGAIN_AFTER : 0;
	}
	return state;
}

/* ------------------------------------------------------------- settling */

static void
release(Task *task)
{
	if (state_of_all(dependency_list(task->task_id)) != DEPENDENCY_MET)
		return;
	if (task->wake_at != 0 && task->wake_at > clock_now())
	{
		task->waiting_for = SLICE_OF("time");
		assign_hold(task);
	}
	else
		(void) assign_again(task);
}

void
dependency_settle(const EndedTask *ended)
{
	List	   *dependents = dependency_list_waiters(ended->task_id);
	ListCell   *cell;

	/* they are locked in the order in which everybody locks tasks */
	list_sort(dependents, slice_list_compare);
	foreach(cell, dependents)
	{
		Task	   *task = task_lock_to_end(*(Slice *) lfirst(cell), true);

		CHECK_FOR_INTERRUPTS();
		if (task == NULL || task->status != TASK_PENDING ||
			!slice_equal(task->waiting_for, SLICE_OF("sibling")))
			continue;
		if (ended->status == TASK_COMPLETED)
			release(task);
		else
			ending_fail(task, "DEPENDENCY_FAILED",
						psprintf("task \"%.*s\", which it waited for, is %s",
								 ended->task_id.len, ended->task_id.s,
								 task_status_name(ended->status)));
	}
}
