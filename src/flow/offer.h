/*-------------------------------------------------------------------------
 *
 * offer.h
 *	  Room at an agent is offered to the tasks that wait.
 *
 * The race between "the router saw no free slot" and "the reporter saw nothing
 * waiting" leaves no trace in either transaction, so three sides look: whoever
 * frees a slot, every claim, and tick.  None of them waits for another.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OFFER_H
#define CLUTCH_OFFER_H

#include "flow/agenda.h"

/*
 * Gives the agent up to n of the tasks that wait, as long as it has room for
 * them, and of those that other agents do not claim.  claims says that it is
 * asking for work: then it may even have one that it let pass before.  Tasks that
 * it does not get are not locked.  Returns how many it got.
 */
extern int	offer_work(Slice agent_id, int n, bool claims);

/* routes up to n of the tasks that wait, whichever agents they fit; returns how many were */
extern int	offer_to_all(int n);

/* Would offer_settle only wake the agent, because nothing waits? */
extern bool offer_is_idle(const Consequence *consequence);

/* CONSEQUENCE_ROUTE; false: the task is busy, so this is to be tried later */
extern bool offer_settle_task(const Consequence *consequence);

/* CONSEQUENCE_OFFER; always true */
extern bool offer_settle(const Consequence *consequence);

#endif							/* CLUTCH_OFFER_H */
