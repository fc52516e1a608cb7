/*-------------------------------------------------------------------------
 *
 * delegation.h
 *	  Which agents take requests of whom.
 *
 * A card may name the agents and groups whose requests its agent takes (security.serves),
 * and those that take the requests of its agent (security.delegates_to).  A card that
 * does not limits nothing.  The orchestrator requests in nobody's name and is held to
 * neither list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DELEGATION_H
#define CLUTCH_DELEGATION_H

#include "registry/roster.h"
#include "routing/requirement.h"

/* Removes the agents that do not take a request of this sender. */
extern void delegation_drop(const Requirement *requirement, const Roster *roster, AgentSet *left);

/* Why the agent does not take it, as a clause: "takes requests only of ..."; "" if it does. */
extern const char *delegation_refusal(const Requirement *requirement, const Roster *roster, int ordinal);

#endif							/* CLUTCH_DELEGATION_H */
