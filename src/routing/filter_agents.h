/*-------------------------------------------------------------------------
 *
 * filter_agents.h
 *	  The hard filters (spec 4.2, steps 1 and 2), which work on sets of agents.
 *
 * Concurrency is not among them.  For that, agents are looked at one by one
 * (routing/candidate.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FILTER_AGENTS_H
#define CLUTCH_FILTER_AGENTS_H

#include "routing/choice.h"

/* Looks up what is required, and determines which agents to look at. */
extern Choice *filter_begin(const Requirement *requirement, Roster *roster);

/* Applies the filters, and counts who is rejected. */
extern void filter_agents(Choice *choice);

/* Would the agent, looked at alone, pass every filter except the breaker? */
extern bool filter_passes(const Requirement *requirement, Roster *roster, int ordinal);

/*
 * Returns the agents that have one of the IDs, or are in one of the groups,
 * palloc'd.
 */
extern AgentSet *filter_agents_of(const Roster *roster, const SliceList *agents_and_groups);

/* Drops the agents that a rule excludes from the request. */
extern void filter_drop_by_rule(const Roster *roster, const AppliedRule *rule, AgentSet *left);

/*
 * Counts one rejected agent.  The examples are always the lowest ordinals of
 * all, in order.
 */
extern void filter_tally(RejectionTally *tally, int ordinal);

/*
 * Returns the first required capability that is paused, or an absent slice if
 * none is.
 */
extern Slice filter_paused_capability(const Roster *roster, const SliceList *requires);

#endif							/* CLUTCH_FILTER_AGENTS_H */
