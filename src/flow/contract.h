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
 * The request has just made the task.  Raises KL004 if the workflow or the step does
 * not fit the run, or a step before it has not been done.
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
