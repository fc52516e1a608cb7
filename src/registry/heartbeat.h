/*-------------------------------------------------------------------------
 *
 * heartbeat.h
 *	  Signs of life of agents (clutch.agent_heartbeat).
 *
 * They stand apart from the registry, whose every change empties caches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HEARTBEAT_H
#define CLUTCH_HEARTBEAT_H

#include "registry/roster.h"

/*
 * Microseconds between the signs of an agent whose card says this many
 * seconds, -1: nothing; 0: it is not watched.
 */
extern int64 heartbeat_interval(int heartbeat_sec);

/*
 * A sign of life.  Written at most three times in the interval, unless
 * forced, and never waited for.  The time that is now on record.
 */
extern TimestampTz heartbeat_give(Slice agent_id, bool force);

/* the last of them; now, if one is being written; 0: none is on record */
extern TimestampTz heartbeat_last_seen(Slice agent_id);

#endif							/* CLUTCH_HEARTBEAT_H */
