/*-------------------------------------------------------------------------
 *
 * contract.h
 *	  What the workflow of a run asks of its tasks (spec 000 3.4).
 *
 * The first request of a run binds it to a workflow.  A task does the step that its
 * request names or, if it names none, the only one with its payload_type; if
 * that is none either, the only one with the payload_type of its result.
 *
 * A report that would complete a step, but breaks its contract, is refused with all
 * faults, so that the agent can correct it.  The refusal undoes what the
 * transaction of the agent has written, but not the count of its faults
 * (contract/binding.h); the report that reaches clutch.max_contract_faults is
 * not refused, but kept late, and the attempt fails.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CONTRACT_H
#define CLUTCH_CONTRACT_H

#include "contract/binding.h"
#include "task/task.h"

/*
 * The request names a workflow, and its task does not exist.  Binds the run to it, unless
 * it is bound already; returns whether this request has bound it.  Raises KL004 if there
 * is no such workflow, or the run is bound to another one or was begun without one.
 *
 * Called before the seq of the request is drawn.  So a request without a workflow that has
 * a later seq finds the binding; one with an earlier seq that does not find it has its
 * task in the table by now, and contract_confirm finds that.
 */
extern bool contract_bind(const Envelope *request, bool run_has_tasks);

/*
 * To be called when contract_bind has returned true, and the row of the task
 * is written.  Raises KL004 if another request of the run came first.  Returns
 * NULL if another transaction has requested the task meanwhile, so the run is
 * not bound after all.
 */
extern void contract_confirm(const Task *task, const Envelope *request);

/*
 * The request has just made the task.  Raises KL004 if the step does not fit the run, or
 * a step before it has not been done.
 */
extern void contract_begin(const Task *task, const Envelope *request);

/* the same in a rebuild, which judges nothing again */
extern void contract_replay(const Task *task, const Envelope *request);

/*
 * Is it a report that a workflow has something to say about?  Asked once the task,
 * which knows its workflow from its request on, is locked.
 */
extern bool contract_binds(const Envelope *report, TaskBinding *bound);

/*
 * Judges a report that fits the task, before its seq is drawn.  Raises KL010 with all
 * faults.  Returns true if the report is late, because the attempt, or the task, has
 * just failed by it.
 */
extern bool contract_ends_attempt(Task *task, const Envelope *report, TaskBinding *bound);

/* A report that counts, now or in a rebuild, may complete a step. */
extern void contract_note(const Envelope *report, TaskBinding *bound, int64 seq);

#endif							/* CLUTCH_CONTRACT_H */
