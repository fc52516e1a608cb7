/*-------------------------------------------------------------------------
 *
 * ending.h
 *	  Ends of tasks that no agent has reported.  The database announces them.
 *
 * The caller has locked the task, and it is not over.  Afterwards it is over,
 * or waits for another try, and has been saved; the consequences for other
 * tasks are on the agenda.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENDING_H
#define CLUTCH_ENDING_H

#include "task/task.h"

/*
 * Sends task.cancel as the orchestrator, because that ancestor was cancelled,
 * or timed out.
 */
extern void ending_cancel(Task *task, Slice ancestor);

/*
 * Sends task.error as the orchestrator.  The task is not retried
 * automatically.
 */
extern void ending_fail(Task *task, const char *code, const char *message);

/*
 * Sends task.error with DEPENDENCY_FAILED as the orchestrator, because the
 * awaited task is over and not completed.
 */
extern void ending_fail_after(Task *task, const Task *awaited);

/* Sends task.result as the orchestrator. */
extern void ending_complete(Task *task, Jsonb *payload);

/*
 * Sends task.error as the orchestrator, with CONTRACT_BROKEN and the faults of
 * a result that does not complete the step.
 */
extern void ending_break_contract(Task *task, const ProblemList *faults, Slice step);

/*
 * Sends task.timeout (spec 2.1).  What the agent still reports is late.  If
 * may_retry, the task is retried, provided that its policy allows retries
 * after TIMEOUT.
 */
extern void ending_time_out(Task *task, TimestampTz deadline, const char *code,
							const char *message, bool may_retry);

/*
 * Times the task out if its deadline, or that of its question, has passed.
 * Returns whether it has.  Callers that have a task check this by the clock,
 * because nobody may have called tick since.  Does nothing to a task that is
 * over.
 */
extern bool ending_at_deadline(Task *task, TimestampTz now);

#endif							/* CLUTCH_ENDING_H */
