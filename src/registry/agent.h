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

/*
 * A status that does not follow from the one it has is refused: KL004,
 * STATUS_NOT_ALLOWED.  For the live, with the agent locked.
 */
extern void agent_check_status(const Envelope *envelope);

/* locked, without waiting; false: somebody else has it, or there is none */
extern bool agent_try_lock(Slice agent_id, AgentStatus *status);

/* UNAVAILABLE by the word of the database, not its own? */
extern bool agent_is_lost(Slice agent_id);

/* the database says how the agent stands, which the caller has locked */
extern void agent_say_status(Slice agent_id, AgentStatus status, const char *reason);

/* an agent.* event in the run of the registry, from whom it is about or not */
extern Jsonb *agent_envelope(Slice from, MessageType type, Jsonb *payload);
/* the payload of an agent.heartbeat that says a status; reason may be absent */
extern Jsonb *agent_status_payload(Slice agent_id, AgentStatus status, Slice reason);

/* the agent an agent.* event is about */
extern Slice agent_of_event(const Envelope *envelope);

/* the guard around the making of an agent's row, for who takes many first */
extern uint64 agent_guard(Slice agent_id);

/* raises AGENT_NOT_FOUND at that place: see errproblem */
extern void agent_require(Slice agent_id, const char *place);

#endif							/* CLUTCH_AGENT_H */
