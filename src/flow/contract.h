/*-------------------------------------------------------------------------
 *
 * contract.h
 *	  Contracts: what the workflow of a run requires of its tasks (spec 000
 *	  3.4).
 *
 * The first request of a run binds it to a workflow.  A task does the step
 * that its request names or, if it names none, the only step with the
 * payload_type of the request or, failing that, the only step with the
 * payload_type of its result.
 *
 * A report that would complete a step but breaks its contract is refused with
 * all faults, so that the agent can correct it.  The refusal rolls back what
 * the agent's transaction has written, but not the count of its faults
 * (contract/binding.h).  The report that reaches clutch.max_contract_faults is
 * not refused; it is kept as late, and the attempt fails.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CONTRACT_H
#define CLUTCH_CONTRACT_H

#include "contract/binding.h"
#include "task/task.h"

/*
 * Binds the run to the workflow that the request names, unless it is bound
 * already.  The task of the request must not exist.  Returns whether this
 * request has bound the run.  Raises KL004 if there is no such workflow, or if
 * the run is bound to another one or was begun without one.
 *
 * This must be called before the seq of the request is drawn.  Then a request
 * without a workflow that has a later seq finds the binding.  One with an
 * earlier seq may not find it, but its task is already in the table, where
 * contract_confirm finds it.
 */
extern bool contract_bind(const Envelope *request, bool run_has_tasks);

/*
 * To be called after contract_bind has returned true and the row of the task
 * has been written.  Raises KL004 if another request of the run came first.
 * If task is NULL, another transaction has requested the task meanwhile, so
 * the run is not bound after all.
 */
extern void contract_confirm(const Task *task, const Envelope *request);

/*
 * To be called when the request has just made the task.  Raises KL004 if the
 * step does not fit the run, or if a step before it has not been done.
 */
extern void contract_begin(const Task *task, const Envelope *request);

/* The same in a rebuild, which does not judge anything again. */
extern void contract_replay(const Task *task, const Envelope *request);

/*
 * Is it a report to which a contract applies?  To be called once the task is
 * locked; it knows its workflow from its request on.
 */
extern bool contract_binds(const Envelope *report, TaskBinding *bound);

/*
 * Judges a report that fits the task, before its seq is drawn.  Raises KL010
 * with all faults.  Returns true if the report is late because it has just
 * made the attempt, or the task, fail.
 */
extern bool contract_ends_attempt(Task *task, const Envelope *report, TaskBinding *bound);

/* Notes a report that counts, now or in a rebuild.  It may complete a step. */
extern void contract_note(const Envelope *report, TaskBinding *bound, int64 seq);

#endif							/* CLUTCH_CONTRACT_H */
