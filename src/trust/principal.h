/*-------------------------------------------------------------------------
 *
 * principal.h
 *	  Which database role speaks for which agent (P8).
 *
 * The role that counts is the current one, as everywhere in PostgreSQL; inside
 * a SECURITY DEFINER function, that is its owner.  Operators (trust/privilege)
 * speak for every agent, and other roles for the agents that clutch.principal
 * names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRINCIPAL_H
#define CLUTCH_PRINCIPAL_H

#include "base/rows.h"
#include "miscadmin.h"
#include "protocol/agent_card.h"
#include "utils/syscache.h"

/*
 * Returns the role that counts.  Raises 42501 inside an operation that PostgreSQL runs as
 * the owner of a table (ANALYZE of an index on an expression, REFRESH
 * MATERIALIZED VIEW), because the session may belong to another role.
 */
extern Oid	principal_role(void);

/* Is the role an operator at this moment? */
extern bool principal_is_operator(Oid role);

/*
 * Does the role still exist?  When a role is dropped, its schedules,
 * subscriptions and grants are left behind.
 */
static inline bool
principal_exists(Oid role)
{
	return SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role));
}

/*
 * Raises an error unless the current role is an operator.  "what" completes
 * the sentence "only an operator may ...".
 */
extern void principal_require_operator(const char *what);

/*
 * May the current role restore rows of the log that were admitted before, as
 * pg_restore does?  Only the owner and superusers may.  This concerns the role
 * that writes the row, so principal_run_as makes no difference.
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
 * Returns the level for reporting what has become of something that the agent
 * has sent, in whatever session that happens, for example during a tick.  That
 * session is told only if its role speaks for the agent, whatever its
 * client_min_messages; otherwise the message goes to the server log.  If
 * agent_id is absent, only operators are told.
 */
static inline int
principal_level(Slice agent_id)
{
	Oid			role = GetOuterUserId();
	bool		may_know = slice_present(agent_id) ? principal_role_speaks_for(role, agent_id) : principal_is_operator(role);

	return may_know ? WARNING : LOG_SERVER_ONLY;
}

/*
 * To be called after rows of clutch.principal have changed.  This backend
 * reads them again at once, and others do so after we have committed.
 */
extern void principal_announce(void);

/*
 * Returns the agents that the role was granted, palloc'd.  Operators speak for
 * all others, too.
 */
extern SliceList principal_agents(void);

/*
 * The same.  Also adds the scopes that the role was granted for any of them to
 * *scopes; "*" stands for all.
 */
extern SliceList principal_agents_and_scopes(SliceList *scopes);

/*
 * Returns the roles that speak for agents, palloc'd.  Operators and the owner
 * need not be among them.
 */
extern List *principal_list_roles(void);

/*
 * Runs a step in which the given role counts instead of the current one.  For
 * example, a schedule is sent by whoever ticks, but with the rights of its
 * owner.  With InvalidOid, the current role counts, even within another step:
 * that is for foreign code, which must not act for anybody.  When the step
 * ends, also by an error, the role counts that did before.
 */
extern void principal_run_as(Oid role, void (*step) (void *arg), void *arg);

/* what a role that may not speak for an agent can do about it */
#define PRINCIPAL_HINT_GRANT \
	"Use SET ROLE if another role of yours speaks for the agent, or ask the owner of the extension or a superuser to run SELECT clutch.grant_agent(role_name, agent_id)."

/* the same for a role that may not send chat.system */
#define PRINCIPAL_HINT_BROADCAST \
	"To allow chat.system, the owner of the extension or a superuser repeats the grant with broadcast: SELECT clutch.grant_agent(role_name, agent_id, capabilities, scopes, limits, broadcast => true)."

/* Raises 42501, code NOT_YOUR_AGENT, unless the role speaks for the agent. */
extern void principal_require(Slice agent_id, const char *place);

/* whose grants for an agent count */
typedef enum GrantHolder
{
	GRANT_OF_ROLE,				/* those of the current role */
	GRANT_OF_ANY_ROLE			/* all of them: the agent itself has signed, so
								 * it does not matter which role passes its
								 * envelope on */
} GrantHolder;

/* Returns the holder for an envelope whose sender has been checked. */
static inline GrantHolder
principal_holder(bool is_signed)
{
	return is_signed ? GRANT_OF_ANY_ROLE : GRANT_OF_ROLE;
}

/*
 * Checks a card, because an agent must not grant itself capabilities.  A card
 * registered by a role that is not an operator must stay within what
 * clutch.grant_agent has given, and within the sandbox.  If hosts were granted
 * ("host:*.example.com" among the capabilities), it may name no others.
 * Raises 42501, code CARD_NOT_GRANTED.
 */
extern void principal_require_card(Slice agent_id, const AgentCard *card, GrantHolder holder);

/*
 * The same for an agent.update, which changes parts of the current card.  What
 * an operator has registered beyond the grant stays as it is, but nothing new
 * may be offered along with it; and hosts, network, budget and time may only
 * become narrower, except for hosts that were granted.
 */
extern void principal_require_update(Slice agent_id, const AgentCard *current,
									 const AgentCard *update, GrantHolder holder);

/*
 * Checks that the lists of agents that the agent serves and to which it
 * delegates become only narrower, also in a new registration.  Raises
 * CARD_NOT_GRANTED like the two above.
 */
extern void principal_require_delegation(const AgentCard *current, const AgentCard *card);

/*
 * Raises 42501 if only operators may remove an agent with this card.  Otherwise
 * its role could register it again, without these lists.
 */
extern void principal_require_withdrawal(Slice agent_id, const AgentCard *card);

/*
 * May it send chat.system, which speaks as the system?  Operators may, and
 * roles that were granted this for the agent.
 */
extern bool principal_may_broadcast(Slice agent_id, GrantHolder holder);

/* Raises 42501, code BROADCAST_NOT_GRANTED, unless it may. */
extern void principal_require_broadcast(Slice agent_id, GrantHolder holder);

/* Has clutch.grant_agent given this scope, or all scopes, for the agent? */
extern bool principal_has_scope(Slice agent_id, Slice scope, GrantHolder holder);

/*
 * Returns the agent in whose name the role acts if it names none: the only one
 * that it speaks for, or the orchestrator for operators.  Palloc'd.  Raises
 * 42501 for the argument "by_agent" if the role speaks for no agent or for
 * several.
 */
extern Slice principal_default_agent(void);

#endif							/* CLUTCH_PRINCIPAL_H */
