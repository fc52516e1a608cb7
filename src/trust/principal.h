/*-------------------------------------------------------------------------
 *
 * principal.h
 *	  Which database role speaks for which agent (P8).
 *
 * The role that counts is the current one, as everywhere in PostgreSQL: inside a
 * SECURITY DEFINER function its owner.  Operators (trust/privilege) speak for every
 * agent, other roles for the agents that clutch.principal names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRINCIPAL_H
#define CLUTCH_PRINCIPAL_H

#include "base/rows.h"
#include "miscadmin.h"
#include "protocol/agent_card.h"

/*
 * Returns the role that counts.  Raises 42501 inside an operation that PostgreSQL runs as
 * the owner of a table (ANALYZE of an index on an expression, REFRESH
 * MATERIALIZED VIEW), because the session may belong to another role.
 */
extern Oid	principal_role(void);

/* Is the role an operator at this moment? */
extern bool principal_is_operator(Oid role);

/*
 * May the current role put back rows of the log that were admitted before, as
 * pg_restore does?  Only the owner and superusers may.  principal_act_for changes
 * nothing here: the role that writes the row is asked for.
 */
extern bool principal_may_restore(void);

/* Is it an operator, or has it been granted the agent? */
extern bool principal_role_speaks_for(Oid role, Slice agent_id);

static inline bool
principal_speaks_for(Slice agent_id)
{
	return principal_role_speaks_for(principal_role(), agent_id);
}

/*
 * The level at which it is said what has become of something that the agent has sent, in whoever's
 * session this happens, by a tick, say.  That session is told only if its role speaks for the
 * agent, whatever its client_min_messages; otherwise this goes to the log of the server.  If
 * agent_id is absent, only operators are told.
 */
static inline int
principal_level(Slice agent_id)
{
	Oid			role = GetOuterUserId();
	bool		may_know = slice_present(agent_id) ? principal_role_speaks_for(role, agent_id) : principal_is_operator(role);

	return may_know ? WARNING : LOG_SERVER_ONLY;
}

/* Rows of clutch.principal have changed: this backend asks again at once, others when we commit. */
extern void principal_announce(void);

/* The agents that the role was granted, palloc'd; operators speak for all others, too. */
extern SliceList principal_agents(void);

/* The same.  Adds the scopes that the role was granted for any of them to *scopes; "*" stands for all. */
extern SliceList principal_agents_and_scopes(SliceList *scopes);

/* The roles that speak for agents, palloc'd; operators and the owner need not be among them. */
extern List *principal_list_roles(RowSnapshot which);

/*
 * From now on the given role counts, and not the current one: a schedule, for
 * example, is sent by whoever ticks, with the rights of its owner.  InvalidOid ends
 * this; the caller makes sure that it also ends after an error.
 */
extern void principal_act_for(Oid role);

/* that role, or InvalidOid: for who lets code of others run meanwhile, which must not act for it */
extern Oid	principal_acting_for(void);

/* raises 42501, code NOT_YOUR_AGENT, unless the role speaks for the agent */
extern void principal_require(Slice agent_id, const char *place);

/* whose grants for an agent count */
typedef enum GrantHolder
{
	GRANT_OF_ROLE,				/* those of the current role */
	GRANT_OF_ANY_ROLE			/* all: the agent itself has signed, so it does not
								 * matter which role hands its envelope in */
} GrantHolder;

/* for an envelope whose sender has been checked */
static inline GrantHolder
principal_holder(bool is_signed)
{
	return is_signed ? GRANT_OF_ANY_ROLE : GRANT_OF_ROLE;
}

/*
 * An agent cannot grant itself capabilities: a card that is registered by a
 * role that is not an operator stays within what clutch.grant_agent has given,
 * and within the sandbox; if hosts were granted ("host:*.example.com" among the
 * capabilities), it has no others.  Raises 42501, code CARD_NOT_GRANTED.
 */
extern void principal_require_card(Slice agent_id, const AgentCard *card, GrantHolder holder);

/*
 * The same of an agent.update, which changes parts of the current card.  What an
 * operator has registered beyond the grant stays as it is, but nothing is offered
 * with it that was not before; and hosts, network, budget and time only become
 * narrower, except for hosts that were granted.
 */
extern void principal_require_update(Slice agent_id, const AgentCard *current,
									 const AgentCard *update, GrantHolder holder);

/*
 * Whom an agent serves, and to whom it delegates, becomes only narrower, also by a new
 * registration.  Raises CARD_NOT_GRANTED like the two above.
 */
extern void principal_require_delegation(const AgentCard *current, const AgentCard *card);

/*
 * A chat.system speaks as the system: raises 42501, code BROADCAST_NOT_GRANTED,
 * unless the role is an operator or was granted it for the agent.
 */
extern void principal_require_broadcast(Slice agent_id, GrantHolder holder, const char *place);

/* Has clutch.grant_agent given this scope, or all scopes, for the agent? */
extern bool principal_has_scope(Slice agent_id, Slice scope, GrantHolder holder);

/*
 * The agent in whose name the role acts if it names none: the only one that it
 * speaks for, or the orchestrator for operators.  Palloc'd.  Raises 42501 for
 * the argument "by_agent" if the role speaks for no agent or for several.
 */
extern Slice principal_default_agent(void);

#endif							/* CLUTCH_PRINCIPAL_H */
