/*-------------------------------------------------------------------------
 *
 * agent.h
 *	  The registry: what agent.* events make of it (spec 2.4).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_H
#define CLUTCH_AGENT_H

#include "registry/roster.h"
#include "store/event.h"

/*
 * To be called before the event's seq is drawn, so that seq is the order of
 * effect here as well.  A mere sign of life waits for nobody.
 */
extern void agent_lock(const Envelope *envelope);

/*
 * agent.register replaces the card, agent.update changes the parts it names,
 * agent.heartbeat is a sign of life and may change the status.  seq and at
 * are the event's.  Raises AGENT_NOT_FOUND for an update or heartbeat of an
 * agent that never registered.
 */
extern void agent_apply(const Envelope *envelope, int64 seq, TimestampTz at);

/* the agent an agent.* event is about */
extern Slice agent_of_event(const Envelope *envelope);

/* the guard around the making of an agent's row, for who takes many first */
extern uint64 agent_guard(Slice agent_id);

/* raises AGENT_NOT_FOUND */
extern void agent_require(Slice agent_id);

/*
 * A sign of life.  Written at most three times in clutch.heartbeat_interval,
 * unless forced, and never waited for.  The time that is now on record.
 */
extern TimestampTz agent_beat(Slice agent_id, bool force);

#endif							/* CLUTCH_AGENT_H */
