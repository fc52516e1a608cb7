/*-------------------------------------------------------------------------
 *
 * claim.h
 *	  Taking work and holding it (P6).
 *
 * A claim makes a task running and leases it to the agent.  The attempt that
 * it returns is the fencing token; reports with an older attempt are late.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CLAIM_H
#define CLUTCH_CLAIM_H

#include "nodes/pg_list.h"
#include "task/task.h"

/*
 * Claims up to n tasks, the most urgent first, for a lease of that many
 * microseconds each.  Each claim is announced by a task.accept.  If the agent
 * has room, waiting tasks that fit it are given to it first.  An agent that
 * finds nothing does a small share of a tick's work: at once outside a
 * transaction block, where the transaction ends with the statement, and
 * otherwise at commit, so that an open transaction does not lock tasks of
 * others.
 *
 * Returns a List of Task *.
 */
extern List *claim_tasks(Slice agent_id, int n, int64 lease);

/*
 * Accepts a ready task, which is locked, in the agent's name, for a lease of
 * that many microseconds.
 */
extern void claim_accept(Task *task, Slice agent_id, int64 lease);

typedef enum LeaseState
{
	LEASE_HELD,
	LEASE_CANCELLED,			/* the task was cancelled */
	LEASE_LOST					/* the agent no longer holds that attempt */
} LeaseState;

/*
 * Extends a lease.  Attempt 0 means the one that the agent holds.  *until is
 * set if the agent holds the task.
 */
extern LeaseState claim_extend(Slice agent_id, Slice task_id, int attempt,
							   int64 lease, TimestampTz *until);

#endif							/* CLUTCH_CLAIM_H */
