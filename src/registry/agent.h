/*-------------------------------------------------------------------------
 *
 * agent.h
 *	  What agent.* events do to the registry (spec 2.4).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_H
#define CLUTCH_AGENT_H

#include "registry/roster.h"
#include "store/event.h"

/* The run of the events that clutch.register, heartbeat and set_status write. */
#define AGENTS_RUN			"run:agents"

/*
 * Locks the agent.  To be called before the event's seq is drawn, so that here,
 * too, seq is the order of effect.  A mere sign of life waits for nothing.
 */
extern void agent_lock(const Envelope *envelope);

/*
 * agent.register replaces the card, agent.update changes the parts it names, and
 * agent.heartbeat is a sign of life that may change the status.  seq and at are
 * the event's.  Raises AGENT_NOT_FOUND for an update or a heartbeat of an agent
 * that was never registered.
 */
extern void agent_apply(const Envelope *envelope, int64 seq, TimestampTz at);

/*
 * Raises KL004, STATUS_NOT_ALLOWED, if the status does not follow from the one
 * that the agent has.  For events that arrive now, with the agent locked.
 */
extern void agent_check_status(const Envelope *envelope);

/*
 * Locks without waiting.  Returns false if the agent is locked, or is not
 * registered.
 */
extern bool agent_try_lock(Slice agent_id, AgentStatus *status);

/*
 * The card of the agent, read anew.  Returns false if the agent is not
 * registered.
 */
extern bool agent_read_card(Slice agent_id, AgentCard *card);

/* Is it UNAVAILABLE by the word of the database, and not its own? */
extern bool agent_is_lost(Slice agent_id);

/* The database sets the status of an agent that the caller has locked. */
extern void agent_say_status(Slice agent_id, AgentStatus status, const char *reason);

/* An agent.* event in the run of the registry; from need not be its subject. */
extern Jsonb *agent_envelope(Slice from, MessageType type, Jsonb *payload);
/* An agent.heartbeat with meta.clutch.move, for event_append. */
extern Jsonb *agent_move_envelope(Slice from, const char *move, Jsonb *payload);
/* The payload of an agent.heartbeat that says a status; reason may be absent. */
extern Jsonb *agent_status_payload(Slice agent_id, AgentStatus status, Slice reason);

/* Returns the agent that an agent.* event is about. */
extern Slice agent_of_event(const Envelope *envelope);

/*
 * The guard under which the row of an agent is inserted, for a caller that must
 * take the guards of many agents in order.
 */
extern uint64 agent_guard(Slice agent_id);

/* Raises AGENT_NOT_FOUND at that place (see errproblem) unless it is registered. */
extern void agent_require(Slice agent_id, const char *place);
/* The same, and locks it. */
extern void agent_require_locked(Slice agent_id, const char *place);

/* The agent leaves the registry; what it has done, and what it may do, stays. */
extern void agent_remove(Slice agent_id);

#endif							/* CLUTCH_AGENT_H */
