/*-------------------------------------------------------------------------
 *
 * displace.h
 *	  More urgent work takes the place of ready work that nobody has begun
 *	  (spec 003, 8.1).
 *
 * A task that finds all its agents full puts an entry on the agenda if one of
 * them has a ready task of lower priority (queue/yielding.h).  At commit that
 * task is displaced: it is pending again, in its old place, and is routed anew.
 * It may go to another agent, or displace a third task.  Each displaced task is
 * less urgent than the one that displaced it, so this comes to an end.
 *
 * The two tasks are never waited for.  A task that finds all of those that would
 * yield locked goes on waiting, and the next tick tries again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DISPLACE_H
#define CLUTCH_DISPLACE_H

#include "flow/agenda.h"

/*
 * Batch work runs only when there is no other: if the agent has batch work that
 * is ready, and other tasks that fit it wait, up to n of those take its place.
 * Returns how many did.
 */
extern int	displace_batch_work(Slice agent_id, int n);

/* CONSEQUENCE_DISPLACE; false: the task is busy, so this is to be tried later */
extern bool displace_settle(const Consequence *consequence);

#endif							/* CLUTCH_DISPLACE_H */
