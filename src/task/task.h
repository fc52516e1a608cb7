/*-------------------------------------------------------------------------
 *
 * task.h
 *	  The state of one unit of work: a row of clutch.task.
 *
 * A Task is a copy, palloc'd in the current context, of a row that this
 * transaction has locked (task_lock, task_create) or merely looked at
 * (task_look).  Only a locked one may be saved.
 *
 * wake_at is when a task that waits for time alone must be looked at: pending,
 * when it may be routed (such a task is held: it stands in no queue);
 * input_required, how long its question waits.
 *
 * What moves a task is task_apply, and nothing else: live and in rebuild.
 * It changes the fields that the log decides.  The place of the task in the
 * queues (slot_no, queue_no, queue_kind, next_at, lease_until, lease) is kept by
 * who moves it between queues.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_H
#define CLUTCH_TASK_H

#include "base/rows.h"
#include "protocol/envelope.h"
#include "storage/itemptr.h"
#include "task/transition.h"

typedef struct Task
{
	ItemPointerData tid;

	Slice		task_id;
	Slice		run_id;
	Slice		thread_id;
	Slice		parent_task_id; /* absent: a root */
	Slice		scope;			/* absent: nobody's */
	int			depth;			/* a root has 0; see task_depth_below */
	TaskStatus	status;
	Slice		agent_id;		/* absent while pending */
	SliceList	past_agents;	/* who had it before */
	Slice		from_agent;		/* who asked for it */
	int			attempt;		/* the fencing token, from 1 */
	int			retries;		/* after errors, since it was revived */
	int			losses;			/* leases lost, likewise */
	int			priority;		/* as requested, or lifted to */
	int			join;			/* of its siblings that say so too: see join.h */
	SliceList	requires;
	Slice		domain;
	Slice		payload_type;
	Slice		waiting_for;
	Slice		code;
	Slice		detail;
	Slice		reason;			/* new retry moved resumed */
	int			slot_no;		/* -1: holds no slot */
	int64		queue_no;		/* 0: in no queue */
	int64		queue_kind;
	int64		request_seq;
	int64		result_seq;		/* 0: none */
	int64		progress_seq;
	int64		question_seq;	/* the last it asked */
	int64		answer_seq;		/* and of the last answer */
	int64		joined_seq;		/* when its children were over; 0: not yet */
	TimestampTz since;
	TimestampTz next_at;		/* 0 in these: NULL */
	TimestampTz lease_until;
	int64		lease;			/* its length as claimed, microseconds; 0: none */
	TimestampTz deadline;
	TimestampTz wake_at;
	TimestampTz created_at;
	TimestampTz started_at;
	TimestampTz finished_at;
} Task;

/* the place in claim order: the lowest goes first */
static inline int16
task_urgency(const Task *task)
{
	return 4 - task->priority;
}

/* one event of the log as the state machine sees it */
typedef struct TaskEvent
{
	TaskStep	step;
	int64		seq;
	TimestampTz at;				/* received_at */
	Slice		agent;			/* who gets it (assign), or who reports */
	Slice		code;			/* of a failure or error */
	Slice		detail;			/* in words */
	TimestampTz wake_at;		/* of a move that waits for time; 0: none */
	int64		answer_seq;		/* of STEP_ANSWER */
	TimestampTz deadline;		/* of STEP_RETRY by somebody; 0: none */
	int			priority;		/* of STEP_LIFT */
} TaskEvent;

/* of a task that is requested, or revived, then; 0: none */
extern TimestampTz task_default_deadline(TimestampTz from);

/* pending, and not to be routed before something else happens? */
extern bool task_is_held(const Task *task);

/* what the type of an event, and the move it may name, does to a task */
extern bool task_step_of(MessageType type, TaskMove move, TaskStep *step);

/* NULL: there is no such task, or (wait false) somebody else has it locked */
extern Task *task_lock(Slice task_id, bool wait);
/* task_lock, waiting, for a task that is likely not there: one look says so */
extern Task *task_lock_requested(Slice task_id);
/* the same before its end: a parent that is to be told is locked before it */
extern Task *task_lock_to_end(Slice task_id, bool wait);
/* and nobody has named it as the parent of a task that is not committed yet */
extern Task *task_lock_to_cancel(Slice task_id);
/*
 * Named by a new task as its parent: until we commit it may do anything but
 * be cancelled.  For looking only.
 */
extern Task *task_name(Slice task_id);
extern Task *task_look(Slice task_id, RowSnapshot which);
/* like task_look, but waits for a first request that is not committed yet */
extern Task *task_await(Slice task_id);
/* an open transaction has requested or changed it */
extern bool task_is_moving(Slice task_id);
extern bool task_run_has_any(Slice run_id);
/* is it one of the first n that were requested in its run? */
extern bool task_is_among_first(const Task *task, int64 n);
/* a child, requested before its parent, that belongs to another run; or absent; *any: it has children */
extern Slice task_child_elsewhere(Slice task_id, Slice run_id, bool *any);

/*
 * How deep a task stands: 0 without a parent, far below 0 when the parent, or
 * an ancestor of it, was not requested yet.  Not below 0 says that every
 * ancestor was there first, so none of them can be the task itself.
 */
#define TASK_DEPTH_UNKNOWN	(-1000000000)
extern int	task_depth_below(Slice parent_task_id);

/*
 * A new task from its first request; the row is ours.  NULL: it exists after
 * all (somebody else was quicker).  Saved at once.
 */
extern Task *task_create(const Envelope *request, Slice scope, int depth,
						 int64 seq, TimestampTz at);

extern void task_save(Task *task);

/*
 * Counts what this backend has saved.  Routing or ending a task may change
 * others, a parent that is told for one: who keeps a Task meanwhile reads it
 * again if the count has moved.
 */
extern uint64 task_changes(void);

/* false, and nothing changed: the step is not legal now */
extern bool task_apply(Task *task, const TaskEvent *event);

/* has this agent ever had the task? */
extern bool task_was_with(const Task *task, Slice agent_id);

/* ids of the tasks of a run, ancestors first; a List of Slice * */
extern struct List *task_list_of_run(Slice run_id);

/*
 * Those that are not over, as a List of Slice *, and how many tasks there are
 * in all: of a large log most are over, and are not to be kept in memory.
 */
extern struct List *task_list_live(int64 *n);

#endif							/* CLUTCH_TASK_H */
