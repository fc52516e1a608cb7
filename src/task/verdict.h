/*-------------------------------------------------------------------------
 *
 * verdict.h
 *	  Judging whether an event fits the state of its task. (docs/protocol.md,
 *	  section 2.1)
 *
 * The task must be locked.  The rules for reports are, in this order: if the
 * task is over, or the attempt is an older one, the report is kept as late; if
 * the agent never had the task, it is refused (42501); if the attempt is a
 * newer one, it is refused.  A report that is kept never makes its sender's
 * transaction fail.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERDICT_H
#define CLUTCH_VERDICT_H

#include "task/task.h"

typedef enum Verdict
{
	VERDICT_FITS,
	VERDICT_LATE				/* kept in the log, but changes nothing */
} Verdict;

/*
 * Judges an accept, progress, result, error or cancel.  Raises an error if it
 * is refused.
 */
extern Verdict verdict_on_report(const Task *task, const Envelope *report);

/*
 * Judges a second request for a task that exists.  Raises TASK_EXISTS unless
 * it is a hand-over.
 */
extern void verdict_check_hand_over(const Task *task, const Envelope *request);

/*
 * May the agent cancel or retry the task?  It must have requested it, have it
 * or have had it, or be the orchestrator.
 */
extern bool verdict_may_steer(const Task *task, Slice agent_id);

/* Raises 42501 unless it may. */
extern void verdict_check_may_steer(const Task *task, Slice agent_id);

/* Raises TASK_NOT_FOUND for the argument "task_id". */
pg_noreturn extern void verdict_task_not_found(Slice task_id);

/*
 * Raises TASK_IN_OTHER_RUN unless the task, which is being requested again,
 * belongs to the run.
 */
extern void verdict_check_run(const Task *task, Slice run_id);

/*
 * Checks that the task that an event names, or NULL, belongs to the run of the
 * event.  If there is no such task in the run, raises TASK_NOT_FOUND, whether
 * or not there is one in another run.
 */
extern void verdict_require_in_run(const Task *task, Slice task_id, Slice run_id);

#endif							/* CLUTCH_VERDICT_H */
