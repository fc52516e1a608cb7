/*-------------------------------------------------------------------------
 *
 * dependency.c
 *	  Dependencies: tasks that wait for the end of others.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/text_map.h"
#include "flow/assign.h"
#include "flow/dependency.h"
#include "flow/emission.h"
#include "flow/ending.h"
#include "flow/lift.h"
#include "flow/right.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "queue/timer.h"
#include "task/edge.h"

/* --------------------------------------------------------------- refusals */

static void
dependency_refuse_cycle(const Task *task, Slice after)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/meta/clutch/after", "CYCLE"),
			 errmsg("task \"%.*s\" would wait for \"%.*s\", which waits for it",
					task->task_id.len, task->task_id.s, after.len, after.s),
			 errhint("A task cannot wait for a task that waits for it: leave that one out.")));
}

static void
dependency_check_same_run(const Task *task, const Task *other)
{
	if (!slice_equal(task->run_id, other->run_id))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/meta/clutch/after", "TASK_IN_OTHER_RUN"),
				 errmsg("task \"%.*s\" does not belong to run \"%.*s\"",
						other->task_id.len, other->task_id.s,
						task->run_id.len, task->run_id.s),
				 errhint("A task waits for tasks of its own run.")));
}

/* Adds the ID to a List of Slice *, unless "seen" has it. */
static List *
dependency_list_add(List *ids, TextMap *seen, Slice *id)
{
	void	  **place = text_map_place(seen, *id);

	if (*place != NULL)
		return ids;
	*place = id;
	return lappend(ids, id);
}

/*
 * Raises an error if the task would wait for itself.  A cycle can be closed by
 * requesting a task for which another one already waits.  This must be called
 * after our own edges have been written, so that of two requests that close a
 * cycle together, at least one sees the other and waits for it.
 */
static void
dependency_check_cycle(const Task *task, const SliceList *after)
{
	TextMap    *seen;
	List	   *ids = NIL;
	ListCell   *cell;
	int			i;

	if (!edge_has_waiters(task->task_id))
		return;
	seen = text_map_make();
	for (i = 0; i < after->n; i++)
		ids = dependency_list_add(ids, seen, &after->items[i]);
	foreach(cell, ids)
	{
		Slice		id = *(Slice *) lfirst(cell);
		ListCell   *next;

		CHECK_FOR_INTERRUPTS();
		if (slice_equal(id, task->task_id))
			dependency_refuse_cycle(task, after->items[0]);
		(void) task_await(id);
		foreach(next, edge_list_awaited(id))
			ids = dependency_list_add(ids, seen, lfirst(next));
	}
}

/* so many ancestors are checked */
#define MOST_ANCESTORS	1000

static void
dependency_check_not_ancestor(const Task *task, const SliceList *after)
{
	Slice		ancestor = task->parent_task_id;
	int			up = 0;

	while (slice_present(ancestor) && up++ < MOST_ANCESTORS)
	{
		Task	   *above = task_look(ancestor, ROWS_LATEST);

		if (slices_have(*after, ancestor))
			dependency_refuse_cycle(task, ancestor);
		ancestor = above != NULL ? above->parent_task_id : SLICE_NONE;
	}
}

/* ------------------------------------------------------------------- state */

/* A task that nobody has requested yet (NULL) may still be requested. */
static DependencyState
dependency_state_of_awaited(const Task *other)
{
	if (other == NULL || !task_status_is_over(other->status))
		return DEPENDENCY_OPEN;
	return other->status == TASK_COMPLETED ? DEPENDENCY_MET : DEPENDENCY_FAILED;
}

/*
 * Returns how the awaited tasks stand.  A task that was unknown when it was
 * named may have been requested in another run since; what becomes of it does
 * not matter here.
 */
DependencyState
dependency_state(const Task *task, bool *in_doubt)
{
	DependencyState state = DEPENDENCY_MET;
	ListCell   *cell;

	*in_doubt = false;
	foreach(cell, edge_list_awaited(task->task_id))
	{
		bool		doubt;
		Task	   *other = task_sight(*(Slice *) lfirst(cell), &doubt);

		if (other != NULL && !slice_equal(other->run_id, task->run_id))
			other = NULL;
		*in_doubt = *in_doubt || doubt;
		state = Max(state, dependency_state_of_awaited(other));
	}
	return state;
}

/*
 * Makes the task wait.  If it was shared out among children that were refused,
 * these are requested again.
 */
static void
dependency_wait(Task *task)
{
	bool		is_shared = task_is_shared(task);

	task->waiting_for = is_shared ? WAITING_FOR_CHILDREN : WAITING_FOR_SIBLING;
	if (is_shared)
		agenda_add_task(CONSEQUENCE_SHARE, task->depth, task->task_id);
	agenda_add_task(CONSEQUENCE_DEPENDENT, task->depth, task->task_id);
}

/*
 * If an awaited task ends without seeing our edges, that task was changed
 * before we looked at it.  In that case it is in doubt when we look, and is
 * looked at again when we commit.  So is one that does not exist yet: if it is
 * requested meanwhile, it does not see that we wait for it.
 */
DependencyState
dependency_begin(Task *task, const Envelope *request)
{
	const SliceList *after = &request->orders.after;
	DependencyState state;
	bool		unknown = false;
	bool		in_doubt;
	int			i;

	if (after->n == 0)
		return DEPENDENCY_MET;
	for (i = 0; i < after->n; i++)
	{
		Task	   *other = task_await(after->items[i]);

		if (other != NULL)
		{
			dependency_check_same_run(task, other);
			right_require_to_name(request, other, "/meta/clutch/after");
		}
		unknown = unknown || other == NULL;
		edge_insert(task, after->items[i], other != NULL ? 0 : task->since);
	}
	dependency_check_not_ancestor(task, after);
	dependency_check_cycle(task, after);
	state = dependency_state(task, &in_doubt);
	if (state == DEPENDENCY_OPEN && (in_doubt || unknown))
		dependency_wait(task);
	else if (state == DEPENDENCY_OPEN)
		task->waiting_for = WAITING_FOR_SIBLING;
	return state;
}

void
dependency_wait_again(Task *task)
{
	edge_mark_unknown(task);
	dependency_wait(task);
}

bool
dependency_hold(Task *task)
{
	bool		in_doubt;

	if (dependency_state(task, &in_doubt) == DEPENDENCY_MET && !task_is_shared(task))
		return false;
	dependency_wait_again(task);
	return true;
}

/* ---------------------------------------------------------------- settling */

/*
 * Returns the first awaited task that is over and not completed, or NULL if
 * there is none.
 */
static Task *
dependency_failed_one(const Task *task)
{
	ListCell   *cell;

	foreach(cell, edge_list_awaited(task->task_id))
	{
		Task	   *other = task_look(*(Slice *) lfirst(cell), ROWS_LATEST);

		if (other != NULL && slice_equal(other->run_id, task->run_id) &&
			dependency_state_of_awaited(other) == DEPENDENCY_FAILED)
			return other;
	}
	return NULL;
}

void
dependency_fail(Task *task)
{
	const Task *other = dependency_failed_one(task);

	if (other != NULL && right_sees_task(task->from_agent, other))
		ending_fail_after(task, other);
	else
		ending_fail(task, "DEPENDENCY_FAILED", "a task that it waited for is over, and not completed");
}

static void
dependency_release(Task *task)
{
	edge_forget_unknown(task->task_id);
	if (task_is_shared(task))
		emission_collect(task);
	else if (task->wake_at != 0 && task->wake_at > clock_now())
	{
		task->waiting_for = WAITING_FOR_TIME;
		timer_set(task);
		task_save(task);
	}
	else
		(void) assign_again(task);
}

static bool
dependency_is_dependent(const Task *task)
{
	return task != NULL && task_awaits_others(task);
}

bool
dependency_settle(const Consequence *consequence)
{
	bool		in_doubt;
	bool		busy;
	Task	   *task = task_sight(consequence->subject, &busy);
	DependencyState state;

	if (!dependency_is_dependent(task))
		return !busy;
	state = dependency_state(task, &in_doubt);
	if (state == DEPENDENCY_OPEN)
	{
		lift_awaited(task);
		return !in_doubt;
	}
	task = task_lock_now(consequence->subject, &busy);
	if (!dependency_is_dependent(task))
		return !busy;
	if (state == DEPENDENCY_FAILED)
		dependency_fail(task);
	else
		dependency_release(task);
	return true;
}
