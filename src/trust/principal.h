/*-------------------------------------------------------------------------
 *
 * principal.h
 *	  Which database role speaks for which agent (P8).
 *
 * The role is the outer one: the login, or what it chose by SET ROLE among
 * the roles granted to it.  A SECURITY DEFINER function on the way does not
 * change it.  Superusers and the owner of the extension speak for everybody;
 * others for the agents that clutch.principal gives them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRINCIPAL_H
#define CLUTCH_PRINCIPAL_H

#include "base/text.h"
#include "protocol/agent_card.h"

/*
 * That role.  Raises 42501 in what PostgreSQL does in the name of a table's
 * owner (ANALYZE of an index on an expression, REFRESH MATERIALIZED VIEW):
 * the session is not that role's.
 */
extern Oid	principal_role(void);

extern bool principal_is_operator(void);

/*
 * May the current role put back rows of the log that were admitted before, as
 * pg_restore does?  Unlike the functions above it asks for the role that
 * writes the row, because replication also does so, in the name of the owner.
 */
extern bool principal_may_restore(void);
extern bool principal_speaks_for(Slice agent_id);

/*
 * From here on that role is judged in place of the session's, for what it has
 * left to be done in its name; InvalidOid: the session's again, which the
 * caller sees to on every way out.
 */
extern void principal_act_for(Oid role);

/* raises 42501, code NOT_YOUR_AGENT, unless the role speaks for the agent */
extern void principal_require(Slice agent_id, const char *place);

/*
 * An agent does not grant itself capabilities: a card registered by a role
 * that is no operator stays within what clutch.grant_agent gave it, and never
 * leaves the sandbox by itself.  Raises 42501, code CARD_NOT_GRANTED.
 */
extern void principal_require_card(Slice agent_id, const AgentCard *card);

/*
 * The agent in whose name the role acts when it does not say: the only one
 * it speaks for, or the orchestrator for operators.  Raises 42501 for the
 * argument "by_agent" when there is none or several.  Palloc'd.
 */
extern Slice principal_default_agent(void);

#endif							/* CLUTCH_PRINCIPAL_H */
