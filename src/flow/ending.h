/*-------------------------------------------------------------------------
 *
 * ending.h
 *	  The ends of a task that no agent reported: the database announces them.
 *
 * The caller has the task locked, and it is not over.  Afterwards it is over,
 * or waits for another try, and is saved; what the end means for other tasks is
 * on the agenda.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENDING_H
#define CLUTCH_ENDING_H

#include "task/task.h"

/* task.cancel by the orchestrator, because that ancestor was cancelled, or timed out */
extern void ending_cancel(Task *task, Slice ancestor);

/* task.error by the orchestrator; the task is not tried again by itself */
extern void ending_fail(Task *task, const char *code, const char *message);

/* task.error by the orchestrator, DEPENDENCY_FAILED, because the awaited task is over and not completed */
extern void ending_fail_after(Task *task, const Task *awaited);

/* task.result by the orchestrator */
extern void ending_complete(Task *task, Jsonb *payload);

/*
 * task.error by the orchestrator, CONTRACT_BROKEN with the faults of a result that
 * does not complete the step.
 */
extern void ending_break_contract(Task *task, const ProblemList *faults, Slice step);

/*
 * task.timeout (spec 2.1): what the agent still reports is late.  If may_retry,
 * the task is tried again where TIMEOUT is a reason for that.
 */
extern void ending_time_out(Task *task, TimestampTz deadline, const char *code,
							const char *message, bool may_retry);

/*
 * Times the task out if its deadline, or that of its question, has passed, and
 * returns whether it has.  Whoever has a task judges this by the clock, because
 * nobody may have called tick since.  Does nothing to a task that is over.
 */
extern bool ending_at_deadline(Task *task, TimestampTz now);

#endif							/* CLUTCH_ENDING_H */
