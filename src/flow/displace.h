/*-------------------------------------------------------------------------
 *
 * displace.h
 *	  Displacement: more urgent work takes the place of ready work that nobody
 *	  has begun (spec 003, 8.1).
 *
 * A task that finds all its agents full puts an entry on the agenda if one of
 * them has a ready task of lower priority (queue/yielding.h).  At commit, that
 * task is displaced: it becomes pending again, in its old place, and is routed
 * anew.  It may go to another agent, or displace a third task.  Each displaced
 * task is less urgent than the one that displaced it, so this comes to an end.
 *
 * No lock on either task is waited for.  If all tasks that would yield are
 * locked, the task keeps waiting, and the next tick tries again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DISPLACE_H
#define CLUTCH_DISPLACE_H

#include "flow/agenda.h"

/*
 * Batch work runs only if there is nothing else to do.  If the agent has ready
 * batch work, and other tasks that fit it are waiting, up to n of these take
 * its place.  Returns how many did.
 */
extern int	displace_batch_work(Slice agent_id, int n);

/*
 * Handles CONSEQUENCE_DISPLACE.  Returns false if the task is busy, so that it
 * must be tried again later.
 */
extern bool displace_settle(const Consequence *consequence);

#endif							/* CLUTCH_DISPLACE_H */
