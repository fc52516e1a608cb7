/*-------------------------------------------------------------------------
 *
 * verdict.h
 *	  Does an event fit the state of its task?  (docs/protocol.md, section 2.1)
 *
 * Asked with the task locked, of a report in this order: a task that is over, or
 * an older attempt: kept, late.  An agent that never had it: refused, 42501.  A
 * newer attempt: refused.  A kept event never aborts its sender.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERDICT_H
#define CLUTCH_VERDICT_H

#include "task/task.h"

typedef enum Verdict
{
	VERDICT_FITS,
	VERDICT_LATE				/* kept in the log, changes nothing */
} Verdict;

/* accept, progress, result, error, cancel; raises for what is refused */
extern Verdict verdict_on_report(const Task *task, const Envelope *report);

/* a second request for a task that exists: raises TASK_EXISTS unless it is a hand-over */
extern void verdict_check_hand_over(const Task *task, const Envelope *request);

/*
 * May the agent cancel or retry the task?  It has requested it, has it or had it, or is
 * the orchestrator.
 */
extern bool verdict_may_steer(const Task *task, Slice agent_id);

/* raises 42501 unless it may */
extern void verdict_check_may_steer(const Task *task, Slice agent_id);

/* raises TASK_NOT_FOUND at that place: see errproblem */
pg_noreturn extern void verdict_task_not_found(Slice task_id, const char *place);

/* raises TASK_IN_OTHER_RUN unless the task, which is requested again, belongs to the run */
extern void verdict_check_run(const Task *task, Slice run_id);

/*
 * The task that an event names, or NULL, is to belong to the run of the event.  If
 * there is no such task in the run, it makes no difference whether there is one in
 * another: TASK_NOT_FOUND.
 */
extern void verdict_require_in_run(const Task *task, Slice task_id, Slice run_id);

#endif							/* CLUTCH_VERDICT_H */
