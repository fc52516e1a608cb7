/*-------------------------------------------------------------------------
 *
 * heartbeat.h
 *	  Signs of life of agents (clutch.agent_heartbeat).
 *
 * They are kept apart from the registry, every change of which makes all
 * backends read it again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HEARTBEAT_H
#define CLUTCH_HEARTBEAT_H

#include "registry/roster.h"

/*
 * Returns how often an agent must show a sign of life, in microseconds.
 * heartbeat_sec is that of its card, or -1 if the card has none, and then the
 * setting counts.  0: the agent is not watched.
 */
extern int64 heartbeat_interval(int heartbeat_sec);

/*
 * Records a sign of life, at most three times per interval unless forced, and
 * never waits.  Returns the time that is now on record.
 */
extern TimestampTz heartbeat_give(Slice agent_id, bool force);

/*
 * The time of the last sign of life; now, if one is being written; 0 if none is
 * on record.  One from the future, written before the clock was set back, is
 * replaced: the agent is taken to have been seen now, and its silence counts
 * from here.
 */
extern TimestampTz heartbeat_last_seen(Slice agent_id);

#endif							/* CLUTCH_HEARTBEAT_H */
