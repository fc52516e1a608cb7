/*-------------------------------------------------------------------------
 *
 * delegation.h
 *	  Which agents take requests from which senders.
 *
 * A card may name the agents and groups whose requests its agent takes
 * (security.serves), and those to which its agent may send requests
 * (security.delegates_to).  A card without such a list imposes no limit.
 * Requests by the orchestrator are made in nobody's name, and neither list
 * applies to them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DELEGATION_H
#define CLUTCH_DELEGATION_H

#include "registry/roster.h"
#include "routing/requirement.h"

/*
 * Removes from the set the agents that do not take a request from this sender.
 */
extern void delegation_drop(const Requirement *requirement, const Roster *roster, AgentSet *left);

/*
 * Returns a clause that says why the agent does not take it, like "does not
 * take requests of ...", or "" if it does take it.
 */
extern const char *delegation_refusal(const Requirement *requirement, const Roster *roster, int ordinal);

#endif							/* CLUTCH_DELEGATION_H */
