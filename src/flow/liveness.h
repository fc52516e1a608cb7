/*-------------------------------------------------------------------------
 *
 * liveness.h
 *	  Liveness: agents that fall silent, and the work that they leave behind
 *	  (spec 003, 3.2 and 9).
 *
 * Any call of an agent is a sign of life.  An agent that gives none for three
 * intervals (limits.heartbeat_sec of its card, else clutch.heartbeat_interval)
 * becomes UNAVAILABLE, and so does one whose last three tasks timed out; one
 * that was STOPPING becomes STOPPED.  Its tasks are given to others.  A lease
 * that has not run out counts as a sign of life, unless the card promises
 * heartbeats.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LIVENESS_H
#define CLUTCH_LIVENESS_H

#include "flow/agenda.h"
#include "protocol/envelope.h"

/* the amount of a CONSEQUENCE_GIVE_UP or CONSEQUENCE_TAKE_AWAY */
#define GAVE_UP		0			/* the agent said that it stops */
#define WAS_LOST	1			/* the agent was not heard of */

/*
 * Records that the agent has called.  If the database had declared it
 * UNAVAILABLE, it may take work again; but after three timeouts in a row, only
 * asking for work (claims) proves that it is alive.  Never waits for a lock.
 */
extern void liveness_sign(Slice agent_id, bool claims);

/*
 * To be called when an endpoint serves the agent, which is then no longer
 * expected to call.  If the database had declared it UNAVAILABLE, it may take
 * work again.
 */
extern void liveness_serve(Slice agent_id);

/*
 * Implements clutch.heartbeat.  The sign of life is written however recent the
 * last one is.
 */
extern TimestampTz liveness_beat(Slice agent_id);

/*
 * To be called when an agent.* event, sent by the agent or in its name, has
 * been applied.
 */
extern void liveness_follow(const Envelope *envelope, Slice agent_id);

/*
 * Declares at most n silent agents lost, and puts the tasks of lost and
 * stopped agents on the agenda.  Returns how many it declared lost.  Checks
 * only if an agent can have become due since this backend last checked.
 */
extern int	liveness_watch(int n);

/*
 * Returns when, after that, the next agent may be lost, or DT_NOEND if no
 * agent is watched.
 */
extern TimestampTz liveness_next(void);

/*
 * Handle CONSEQUENCE_GIVE_UP, _TAKE_AWAY and _TIMED_OUT.  Return false if it
 * must be tried again later.
 */
extern bool liveness_settle_agent(const Consequence *consequence);
extern bool liveness_settle_task(const Consequence *consequence);
extern bool liveness_settle_timeout(const Consequence *consequence);

#endif							/* CLUTCH_LIVENESS_H */
