/*-------------------------------------------------------------------------
 *
 * offer.h
 *	  Offering an agent's room to waiting tasks.
 *
 * If the router sees no free slot while the reporter sees nothing waiting,
 * neither transaction can notice the race.  Therefore three parties look for
 * waiting tasks: whoever frees a slot, every claim, and every tick.  None of
 * them waits for another.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OFFER_H
#define CLUTCH_OFFER_H

#include "flow/agenda.h"

/*
 * Gives the agent up to n waiting tasks, as long as it has room for them, and
 * tasks that other agents do not claim.  "claims" says that it is asking for
 * work; in that case it may even get one that it failed to claim before.
 * Tasks that it does not get are not locked.  Returns how many it got.
 */
extern int	offer_work(Slice agent_id, int n, bool claims);

/*
 * Routes up to n waiting tasks, whichever agents they fit.  Returns how many
 * were routed.
 */
extern int	offer_to_all(int n);

/*
 * Puts waiting tasks into the queues of what they require by now, since the
 * rules may have changed, and writes a routing.failure for those that wait for
 * another reason by now.  Checks the next n of them or fewer, continuing where
 * this backend's last call stopped.
 */
extern void offer_check_waiting(int n);

/*
 * Would offer_settle do nothing but wake the agent, because nothing is
 * waiting?
 */
extern bool offer_is_idle(const Consequence *consequence);

/*
 * Handles CONSEQUENCE_ROUTE.  Returns false if the task is busy, so that it
 * must be tried again later.
 */
extern bool offer_settle_task(const Consequence *consequence);

/* Handles CONSEQUENCE_OFFER.  Always returns true. */
extern bool offer_settle(const Consequence *consequence);

#endif							/* CLUTCH_OFFER_H */
