/*-------------------------------------------------------------------------
 *
 * liveness.h
 *	  Agents that fall silent, and the work that they leave behind (spec 003,
 *	  3.2 and 9).
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

/*
 * The agent has called.  It may take work again if the database had declared it
 * UNAVAILABLE; after three timeouts in a row only asking for work (claims)
 * proves that it is alive.  Never waits for a lock.
 */
extern void liveness_sign(Slice agent_id, bool claims);

/*
 * An endpoint serves the agent, which is not expected to call any more.  So it may take work
 * again if the database had declared it UNAVAILABLE.
 */
extern void liveness_serve(Slice agent_id);

/* clutch.heartbeat: the sign is written however recent the last one is */
extern TimestampTz liveness_beat(Slice agent_id);

/* an agent.* event has been applied, sent by the agent or in its name */
extern void liveness_follow(const Envelope *envelope, Slice agent_id);

/*
 * Declares silent agents lost, at most n of them, and puts the tasks of lost and
 * stopped agents on the agenda.  Returns how many it declared.  It looks only if
 * an agent can have become due since this backend looked last.
 */
extern int	liveness_watch(int n);

/*
 * after that: when the next agent may be lost, or DT_NOEND if no agent is
 * watched
 */
extern TimestampTz liveness_next(void);

/* CONSEQUENCE_GIVE_UP, _TAKE_AWAY and _TIMED_OUT; false: to be tried later */
extern bool liveness_settle_agent(const Consequence *consequence);
extern bool liveness_settle_task(const Consequence *consequence);
extern bool liveness_settle_timeout(const Consequence *consequence);

#endif							/* CLUTCH_LIVENESS_H */
