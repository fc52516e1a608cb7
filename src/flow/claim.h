/*-------------------------------------------------------------------------
 *
 * claim.h
 *	  Taking work, holding it, giving it back (P6).
 *
 * A claim makes a task running and leases it to the agent.  The attempt it
 * answers is the fencing token: reports of an older one are late.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CLAIM_H
#define CLUTCH_CLAIM_H

#include "nodes/pg_list.h"
#include "store/event.h"
#include "task/task.h"

/*
 * Who has nothing ready looks first: expired leases, passed deadlines, and
 * what waits and fits this agent.  Then up
 * to n tasks, most urgent first, as a List of Task *.  Each is announced by a
 * task.accept.  lease is in microseconds.
 */
extern List *claim_tasks(Slice agent_id, int n, int64 lease);

/* when a task that its agent begins then has run too long; 0: never */
extern TimestampTz claim_runtime_end(const Task *task, TimestampTz from);

/* a lease that would end then; but never after deadline or runtime of the task */
extern TimestampTz claim_lease_end(const Task *task, TimestampTz until);

typedef enum LeaseState
{
	LEASE_HELD,
	LEASE_CANCELLED,
	LEASE_LOST
} LeaseState;

/* attempt 0: whichever it holds; until is set when held */
extern LeaseState claim_extend(Slice agent_id, Slice task_id, int attempt,
							   int64 lease, TimestampTz *until);

/*
 * Whatever it held, the agent loses the task; the next attempt is routed, to
 * another agent if one can.  The receipt, palloc'd, is of the event that says
 * so.  The caller has the task locked, and assigned or running.
 */
extern Receipt claim_release(Task *task, Slice reason);
extern void claim_void(Task *task);
/* the same by the orchestrator, of a task assigned to an agent that is lost */
extern void claim_take_away(Task *task, Slice reason);

/* the same, unless too many leases were lost on it: then it fails */
extern void claim_expire(Task *task);

/* a parked task goes on with the answer it was waiting for */
extern void claim_resume(Task *task, int64 answer_seq, Slice answer_id);

/* a task that is over, but not completed, begins again */
extern Receipt claim_retry(Task *task, Slice by_agent);

#endif							/* CLUTCH_CLAIM_H */
