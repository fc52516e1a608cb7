/*-------------------------------------------------------------------------
 *
 * agent.h
 *	  The registry of agents, and how agent.* events change it (spec 2.4).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_H
#define CLUTCH_AGENT_H

#include "registry/roster.h"
#include "store/event.h"

/*
 * The run of the events that clutch.register, heartbeat and set_status write.
 */
#define AGENTS_RUN			"run:agents"

/*
 * Locks the agent.  To be called before the seq of the event is drawn, so that
 * here, too, events take effect in the order of seq.  A heartbeat without a
 * status does not wait for anything.
 */
extern void agent_lock(const Envelope *envelope);

/*
 * Applies the event: agent.register replaces the card, agent.update changes
 * the parts that it names, and agent.heartbeat is a sign of life that may
 * change the status.  seq and at are those of the event.  Raises
 * AGENT_NOT_FOUND for an update or a heartbeat of an agent that was never
 * registered.
 */
extern void agent_apply(const Envelope *envelope, int64 seq, TimestampTz at);

/*
 * Raises KL004, STATUS_NOT_ALLOWED, if the agent cannot go from its current
 * status to the new one.  For events that arrive now, with the agent locked.
 */
extern void agent_check_status(const Envelope *envelope);

/*
 * Locks the agent until the transaction ends, and returns its card.  Returns
 * NULL if the agent is not registered; then nobody else can register it until
 * the caller releases agent_guard.
 */
extern Jsonb *agent_lock_card(Slice agent_id);

/*
 * Locks the agent without waiting.  Returns false if it is locked, or is not
 * registered.
 */
extern bool agent_try_lock(Slice agent_id, AgentStatus *status);

/*
 * Read the card of the agent from the table.  agent_read_document returns a
 * palloc'd copy of the document, or NULL if the agent is not registered;
 * agent_read_card then returns false.
 */
extern Jsonb *agent_read_document(Slice agent_id);
extern bool agent_read_card(Slice agent_id, AgentCard *card);

/* Has the database, and not the agent itself, declared it UNAVAILABLE? */
extern bool agent_is_lost(Slice agent_id);

/* Sets the status of a locked agent, on behalf of the database. */
extern void agent_say_status(Slice agent_id, AgentStatus status, const char *reason);

/*
 * Returns an agent.* event in the run of the registry.  "from" need not be the
 * agent that it is about.
 */
extern Jsonb *agent_envelope(Slice from, MessageType type, Jsonb *payload);
/* Returns an agent.heartbeat with meta.clutch.move, for event_append. */
extern Jsonb *agent_move_envelope(Slice from, const char *move, Jsonb *payload);
/*
 * Returns the payload of an agent.heartbeat with a status.  reason may be
 * absent.
 */
extern Jsonb *agent_status_payload(Slice agent_id, AgentStatus status, Slice reason);

/* Returns the agent that an agent.* event is about. */
extern Slice agent_of_event(const Envelope *envelope);

/*
 * Returns the guard under which the row of an agent is inserted, for a caller
 * that must take the guards of many agents in order, or that has found no row.
 */
extern uint64 agent_guard(Slice agent_id);

/*
 * Raises AGENT_NOT_FOUND at that place (see errproblem) unless the agent is
 * registered.
 */
extern void agent_require(Slice agent_id, const char *place);
/* The same for the argument "agent_id", but also locks it. */
extern void agent_require_locked(Slice agent_id);

/*
 * Removes the agent from the registry.  What it may do stays, and for a while
 * also how it has done (flow/withdraw.h).
 */
extern void agent_remove(Slice agent_id);

#endif							/* CLUTCH_AGENT_H */
