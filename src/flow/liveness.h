/*-------------------------------------------------------------------------
 *
 * liveness.h
 *	  Agents that fall silent, and the work that they leave behind
 *	  (spec 003 3.2 and 9).
 *
 * Any call of an agent is a sign of life.  One that gives none for three
 * intervals (limits.heartbeat_sec of its card, else
 * clutch.heartbeat_interval) is UNAVAILABLE, and so is one whose last three
 * tasks timed out; one that was STOPPING is STOPPED.  Its tasks are given to
 * others.  A lease that runs stands for a sign of life, unless the card
 * promises heartbeats itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LIVENESS_H
#define CLUTCH_LIVENESS_H

#include "protocol/envelope.h"

/*
 * The agent has called; it may take work again if the database had declared it
 * UNAVAILABLE.  After three timeouts in a row only asking for work (claims)
 * proves that.  Never waits.
 */
extern void liveness_sign(Slice agent_id, bool claims);

/* clutch.heartbeat: the sign is written however young the last one is */
extern TimestampTz liveness_beat(Slice agent_id);

/* an agent.* event was applied, by the agent or in its name */
extern void liveness_follow(const Envelope *envelope, Slice agent_id);

/* a task of the agent timed out just now */
extern void liveness_timed_out(Slice agent_id);

/*
 * Declares lost who fell silent, and gives on what lost agents hold; how many
 * agents it declared.  Looks only when somebody can have become due since
 * this backend looked last.
 */
extern int	liveness_watch(int n);

/* after it: when the next agent may be lost; DT_NOEND: nobody is watched */
extern TimestampTz liveness_next(void);

#endif							/* CLUTCH_LIVENESS_H */
