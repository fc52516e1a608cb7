/*-------------------------------------------------------------------------
 *
 * task.h
 *	  Tasks, the units of work: rows of clutch.task.
 *
 * A Task is a copy, palloc'd in the current context, of a row that this
 * transaction has locked (task_lock, task_lock_now, task_create) or only read
 * (task_look).  Only a locked one may be saved.
 *
 * wake_at is the time at which a task that waits for time alone must be looked
 * at: for a pending task, when it may be routed (such a task is held, and
 * stands in no queue); for one in input_required, when its question expires;
 * for a suspended one, when it has waited long enough; for a running one, when
 * it has run too long.  While a task waits for others (after), it has no timer
 * for wake_at.
 *
 * The fields that the log decides are changed by step_apply (task/step.h);
 * task/record.h calls it, in a living database and in a rebuild.  The fields
 * that say where the task stands (slot_no, queue_no, queue_kind, next_at,
 * lease_until, lease) are kept by flow/move.h.  waiting_for also follows from
 * the tasks that this one waits for (flow/dependency.h), and wake_at from the
 * settings and cards that limit how long it may run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_H
#define CLUTCH_TASK_H

#include "nodes/pg_list.h"
#include "protocol/envelope.h"
#include "protocol/level.h"
#include "task/task_row.h"

/*
 * Returns its place in the order of claims.  The lowest number is claimed
 * first.
 */
static inline int16
task_urgency(const Task *task)
{
	return LEVEL_CRITICAL - task->priority;
}

/*
 * Returns the deadline for a task that is requested or retried at that time,
 * or 0 if none.
 */
extern TimestampTz task_default_deadline(TimestampTz from);

/* Is it pending, and not to be routed before something else happens? */
extern bool task_is_held(const Task *task);

/*
 * Is it ready, and offered to other agents because its own has not claimed it
 * in time?  Such a task has a row in clutch.waiting in addition to that in
 * clutch.ready.
 */
static inline bool
task_is_offered(const Task *task)
{
	return task->status == TASK_ASSIGNED && task->queue_kind != 0;
}

/*
 * Does it wait for the end of other tasks, that is, of those that its request
 * names or of its children?
 */
static inline bool
task_awaits_others(const Task *task)
{
	return task->status == TASK_PENDING &&
		(task->waiting_for == WAITING_FOR_SIBLING || task->waiting_for == WAITING_FOR_CHILDREN);
}

/*
 * Is it shared out among its children, or was it so until it ended
 * (flow/emission.h)?
 */
static inline bool
task_is_shared(const Task *task)
{
	return task->wait_seq != 0 && task->status != TASK_SUSPENDED;
}

/* ----------------------------------------------------- finding and locking */

/*
 * task_lock waits for a transaction that is changing or requesting the task,
 * so it must be used only for a task that the caller's own event names.
 * Returns NULL if there is no such task.
 *
 * task_lock_now never waits.  It sets *busy and returns NULL if another
 * transaction has locked the task or is inserting it.  It also returns NULL if
 * there is no such task.
 */
extern Task *task_lock(Slice task_id);
extern Task *task_lock_now(Slice task_id, bool *busy);

/* Has another transaction certainly locked it?  Locks nothing. */
extern bool task_is_locked(Slice task_id);

/*
 * The same as task_lock for a task that a request names.  Usually it does not
 * exist, which a single probe finds out.
 */
extern Task *task_lock_requested(Slice task_id);

/* Reads a task without locking it.  Returns NULL if there is no such task. */
extern Task *task_look(Slice task_id, RowSnapshot which);

/*
 * Returns the request of the task from the log, or NULL if it is not there.
 * It is read once for each Task.
 */
extern Jsonb *task_request(Task *task);

/*
 * The same as task_look, but waits for an uncommitted first request of the
 * task.
 */
extern Task *task_await(Slice task_id);

/*
 * The same as task_look on the latest snapshot, but also tells whether another
 * open transaction has requested or changed the task.  A decision based on
 * another task is certain only if that is not in doubt.  The caller must write
 * its own row first and look afterwards.  If the other side does the same, at
 * least one of two transactions sees the other (docs/architecture.md, "The
 * agenda").
 */
extern Task *task_sight(Slice task_id, bool *in_doubt);

extern bool task_run_has_any(Slice run_id);

/*
 * Are all tasks of the run over, as far as can be seen without locking them?
 * A task whose request is not committed is not over.
 */
extern bool task_run_is_over(Slice run_id, bool *has_tasks);

/* Is there such a task, and is it not over? */
extern bool task_is_open(Slice task_id);

/*
 * Returns how many tasks of the run were first requested after the event
 * "after" and up to the event "upto", but at most "most".  If there are any,
 * *last is set to the event that requested the last one of them.  With
 * ROWS_DIRTY, uncommitted requests count.
 */
extern int64 task_count_requested(Slice run_id, int64 after, int64 upto, int64 most,
								  RowSnapshot which, int64 *last);

/*
 * Returns the children of a task, as a List of Slice *.  ROWS_DIRTY includes
 * those whose request is not committed, and may return a child twice.
 */
extern List *task_list_children(Slice task_id, RowSnapshot which);

/*
 * Returns a child in another run that was requested before its parent, or an
 * absent slice.  *any is set if there are any children at all.  A child whose
 * request is not committed counts, too: it has looked for its parent already.
 */
extern Slice task_child_elsewhere(Slice task_id, Slice run_id, bool *any);

/*
 * The depth of a task below its root.  A task without a parent has depth 0.
 * If the parent or another ancestor has not been requested yet, the depth is
 * far below 0.  A depth of 0 or more means that every ancestor was requested
 * earlier, so that none of them can be the task itself.
 */
#define TASK_DEPTH_UNKNOWN	(-1000000000)
extern int	task_depth_below(Slice parent_task_id);

/*
 * Returns the IDs of the tasks of a run, ancestors first, as a List of Slice
 * *.
 */
extern List *task_list_of_run(Slice run_id);
/* The same without tasks that are over. */
extern List *task_list_live_of_run(Slice run_id);

/*
 * Returns the tasks that are not over, as a List of Slice *, and in *n the
 * total number of tasks.  In a large log most tasks are over, so only the live
 * ones are kept in memory.
 */
extern List *task_list_live(int64 *n);

/* ------------------------------------------------------ creating and moving */

/*
 * Returns a task as its first request describes it: pending, and without a
 * row.
 */
extern Task *task_of_request(const Envelope *request, Slice scope, int depth,
							 int64 seq, TimestampTz at);

/*
 * The same, but inserts its row and locks it.  Returns NULL if another
 * transaction has just requested the task.
 */
extern Task *task_create(const Envelope *request, Slice scope, int depth,
						 int64 seq, TimestampTz at);

/*
 * Write its row.  task_insert is for rebuilds, where nobody else writes.
 * task_insert_guarded waits for other transactions that request the task, and
 * returns false if one of them has committed.
 */
extern void task_save(Task *task);
extern void task_insert(Task *task);
extern bool task_insert_guarded(Task *task);

/* Deletes the row of a locked task that is being pruned. */
extern void task_forget(Task *task);

/* Has this agent ever had the task? */
extern bool task_was_with(const Task *task, Slice agent_id);

#endif							/* CLUTCH_TASK_H */
