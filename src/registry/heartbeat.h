/*-------------------------------------------------------------------------
 *
 * heartbeat.h
 *	  Heartbeats: signs of life of agents (clutch.agent_heartbeat).
 *
 * They are stored separately from the registry, because every change of the
 * registry makes all backends read it again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HEARTBEAT_H
#define CLUTCH_HEARTBEAT_H

#include "registry/roster.h"

/*
 * Returns how often an agent must show a sign of life, in microseconds, or 0
 * if the agent is not watched.  heartbeat_sec is that of its card, or -1 if
 * the card has none, in which case the setting counts.
 */
extern int64 heartbeat_interval(int heartbeat_sec);

/*
 * Records a sign of life, at most three times per interval unless forced.
 * Never waits.  Returns the time that is now on record.
 */
extern TimestampTz heartbeat_give(Slice agent_id, bool force);

/*
 * Returns the time of the last sign of life; now, if one is just being
 * written; or 0 if none is on record.  One from the future, written before the
 * clock was set back, is replaced: the agent is considered to have been seen
 * now, and its silence counts from now on.
 */
extern TimestampTz heartbeat_last_seen(Slice agent_id);

/*
 * Returns the IDs of the agents of which a sign of life is on record,
 * registered or not, as a List of Slice *.
 */
extern List *heartbeat_list_agents(void);

/*
 * Deletes the signs of life of an agent that has left the registry, unless one
 * is not older than that.  Never waits.
 */
extern void heartbeat_forget(Slice agent_id, TimestampTz before);

#endif							/* CLUTCH_HEARTBEAT_H */
