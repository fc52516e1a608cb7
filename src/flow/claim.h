/*-------------------------------------------------------------------------
 *
 * claim.h
 *	  Taking work and holding it (P6).
 *
 * A claim makes a task running and leases it to the agent.  The attempt that it
 * returns is the fencing token: reports of an older attempt are late.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CLAIM_H
#define CLUTCH_CLAIM_H

#include "nodes/pg_list.h"
#include "task/task.h"

/*
 * Claims up to n tasks, the most urgent first, for a lease of that many
 * microseconds each; each is announced by a task.accept.  What waits and fits
 * the agent is given to it first if it has room.  An agent that finds nothing
 * does a small share of tick's work: at once outside a transaction block, where
 * the transaction ends with the statement, and otherwise at commit, so that an
 * open transaction holds no task of others.
 *
 * Returns a List of Task *.
 */
extern List *claim_tasks(Slice agent_id, int n, int64 lease);

/*
 * A ready task of the agent, locked: it is accepted in the agent's name, for a lease of so
 * many microseconds.
 */
extern void claim_accept(Task *task, Slice agent_id, int64 lease);

typedef enum LeaseState
{
	LEASE_HELD,
	LEASE_CANCELLED,			/* the task was cancelled */
	LEASE_LOST					/* the agent does not hold that attempt any more */
} LeaseState;

/*
 * Extends a lease; attempt 0 stands for the one that the agent holds.  *until is
 * set if it is held.
 */
extern LeaseState claim_extend(Slice agent_id, Slice task_id, int attempt,
							   int64 lease, TimestampTz *until);

#endif							/* CLUTCH_CLAIM_H */
