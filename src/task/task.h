/*-------------------------------------------------------------------------
 *
 * task.h
 *	  The state of one unit of work: a row of clutch.task.
 *
 * A Task is a copy, palloc'd in the current context, of a row that this
 * transaction has locked (task_lock, task_lock_now, task_create) or merely
 * read (task_look).  Only a locked one may be saved.
 *
 * wake_at is the time at which a task that waits for time alone must be looked
 * at: for a pending task, when it may be routed (such a task is held, and
 * stands in no queue); for one in input_required, when its question expires;
 * for a suspended one, when it has waited long enough; for a running one, when
 * it has run too long.  While a task waits for others (after), it has no timer
 * for wake_at.
 *
 * The fields that the log decides are changed by step_apply (task/step.h) and
 * by nothing else; task/record.h calls it, in a living database and in a rebuild.  The
 * fields that say where the task stands (slot_no, queue_no, queue_kind,
 * next_at, lease_until, lease) are kept by flow/move.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_H
#define CLUTCH_TASK_H

#include "protocol/envelope.h"
#include "task/task_row.h"

/* its place in claim order: the lowest number is claimed first */
static inline int16
task_urgency(const Task *task)
{
	return 4 - task->priority;
}

/*
 * The deadline of a task that is requested, or revived, at that time, or 0 if
 * none.
 */
extern TimestampTz task_default_deadline(TimestampTz from);

/* Is it pending, and not to be routed before something else happens? */
extern bool task_is_held(const Task *task);

/*
 * Is it ready, and offered to other agents, because its own has not claimed it in
 * time?  Then it has a row of clutch.waiting beside that of clutch.ready.
 */
static inline bool
task_is_offered(const Task *task)
{
	return task->status == TASK_ASSIGNED && task->queue_kind != 0;
}

/* Does it wait for the end of other tasks: those that its request names, or its children? */
static inline bool
task_awaits_others(const Task *task)
{
	return task->status == TASK_PENDING &&
		(task->waiting_for == WAITING_FOR_SIBLING || task->waiting_for == WAITING_FOR_CHILDREN);
}

/* Is it shared out among its children, or was it until it ended (flow/emission.h)? */
static inline bool
task_is_shared(const Task *task)
{
	return task->wait_seq != 0 && task->status != TASK_SUSPENDED;
}

/* ----------------------------------------------------- finding and locking */

/*
 * task_lock waits for a transaction that is changing or requesting the task,
 * so it is only for a task that the caller's own event names.  Returns NULL if
 * there is no such task.
 *
 * task_lock_now never waits.  *busy is set if another transaction has locked
 * the task, or is inserting it; then, and if there is no such task, the result
 * is NULL.
 */
extern Task *task_lock(Slice task_id);
extern Task *task_lock_now(Slice task_id, bool *busy);

/*
 * task_lock for a task that a request names, and which usually does not exist:
 * a single probe finds that out.
 */
extern Task *task_lock_requested(Slice task_id);

/* reads it without a lock, or NULL if there is no such task */
extern Task *task_look(Slice task_id, RowSnapshot which);

/*
 * The request of the task as it is in the log, which is read once for each
 * Task, or NULL if it is not there.
 */
extern Jsonb *task_request(Task *task);

/* task_look, but waits for an uncommitted first request of the task */
extern Task *task_await(Slice task_id);

/*
 * task_look on the latest snapshot, which also tells whether another open
 * transaction has requested or changed the task.  What is decided by looking at
 * another task is certain only if it is not in doubt.  The caller writes its own
 * row first and looks afterwards; the other side does the same, so that of two
 * transactions at least one sees the other (docs/architecture.md,
 * "Consequences").
 */
extern Task *task_sight(Slice task_id, bool *in_doubt);

extern bool task_run_has_any(Slice run_id);

/*
 * Are all tasks of the run over, as far as can be seen without locking them?  A
 * task whose request is not committed yet is not.
 */
extern bool task_run_is_over(Slice run_id, bool *has_tasks);

/* Is there such a task, and is it not over? */
extern bool task_is_open(Slice task_id);

/*
 * Is it one of the first n tasks that were requested in its run?  With ROWS_DIRTY,
 * those count whose requests are not committed.
 */
extern bool task_is_among_first(const Task *task, int64 n, RowSnapshot which);

/*
 * The children of a task, as a List of Slice *.  ROWS_DIRTY includes those
 * whose request is not committed, and may name a child twice.
 */
extern struct List *task_list_children(Slice task_id, RowSnapshot which);

/*
 * A child of another run that was requested before its parent, or an absent
 * Slice; *any is set if there are children at all.
 */
extern Slice task_child_elsewhere(Slice task_id, Slice run_id, bool *any);

/*
 * How deep a task stands below its parent: 0 without a parent, and far below 0
 * when the parent, or an ancestor of it, has not been requested yet.  A depth
 * of 0 or more says that every ancestor was requested first, so none of them
 * can be the task itself.
 */
#define TASK_DEPTH_UNKNOWN	(-1000000000)
extern int	task_depth_below(Slice parent_task_id);

/* ids of the tasks of a run, ancestors first; a List of Slice * */
extern struct List *task_list_of_run(Slice run_id);
/* the same without those that are over */
extern struct List *task_list_live_of_run(Slice run_id);

/*
 * Those that are not over, as a List of Slice *, and in *n how many tasks there
 * are in all.  In a large log most tasks are over, so only the live ones are
 * kept in memory.
 */
extern struct List *task_list_live(int64 *n);

/* ------------------------------------------------------ creating and moving */

/* A task as its first request describes it, pending, without a row. */
extern Task *task_of_request(const Envelope *request, Slice scope, int depth,
							 int64 seq, TimestampTz at);

/*
 * The same with its row, which is ours.  Returns NULL if another transaction
 * has just requested it.
 */
extern Task *task_create(const Envelope *request, Slice scope, int depth,
						 int64 seq, TimestampTz at);

/* writes its row; task_insert is for rebuild, where nobody else writes */
extern void task_save(Task *task);
extern void task_insert(Task *task);

/* deletes the row of a task that is locked, and which is being pruned */
extern void task_forget(Task *task);

/* Has this agent ever had the task? */
extern bool task_was_with(const Task *task, Slice agent_id);

#endif							/* CLUTCH_TASK_H */
