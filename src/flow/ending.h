/*-------------------------------------------------------------------------
 *
 * ending.h
 *	  The ends of a task that nobody reported: the database says them.
 *
 * The task is locked by the caller and live; afterwards it is over, or held
 * for another try, and saved, and the slot it held is offered.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENDING_H
#define CLUTCH_ENDING_H

#include "task/task.h"

/* what others must know of a task that is over */
typedef struct EndedTask
{
	Slice		task_id;
	Slice		parent_task_id;
	TaskStatus	status;
	int			join;
	int64		request_seq;
	int			level;			/* of the savepoint in which it ended */
	bool		taken_back;		/* with that savepoint */
} EndedTask;

/*
 * Tells those who wait for the task, if it is over: dependents, the parent.
 * What ends thereby is told in turn.  Called by whoever has ended and saved it.
 */
extern void ending_tell(const Task *task);

/*
 * task.cancel by the orchestrator, because of that ancestor.  The agent whose
 * slot is free now, to be offered, or an absent Slice.
 */
extern Slice ending_cancel(Task *task, Slice ancestor);

/* task.error by the orchestrator: failed, not to be tried again by itself */
extern void ending_fail(Task *task, const char *code, const char *message);

/*
 * task.timeout (spec 2.1): what the agent still reports is late.  may_retry:
 * as TIMEOUT is a reason to try again.
 */
extern void ending_time_out(Task *task, TimestampTz deadline, const char *code,
							const char *message, bool may_retry);

/* false: its deadline has not passed */
extern bool ending_at_deadline(Task *task, TimestampTz now);

#endif							/* CLUTCH_ENDING_H */
