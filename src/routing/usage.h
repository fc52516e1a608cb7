/*-------------------------------------------------------------------------
 *
 * usage.h
 *	  Which of its capabilities an agent would use for what is required.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_USAGE_H
#define CLUTCH_USAGE_H

#include "routing/choice.h"

/*
 * The first capability, in the order of the card, that meets one thing required
 * and passes trust, and the allowlist of tools if that is to be judged; NULL if
 * there is none.
 */
extern const RosterCapability *usage_of_need(const Choice *choice, const Need *need,
											 int ordinal, bool judge_tools);

/*
 * Returns the first thing required for which there is none; NULL if all can be
 * met.
 */
extern const Need *usage_unmet_need(const Choice *choice, int ordinal, bool judge_tools);

/*
 * The first capability that a request without requires may not have on the
 * card of its agent, because it might be used: it is not trusted enough, or,
 * if tools are judged, has a tool that is not in the allowlist.  Returns NULL
 * if there is none.
 */
extern const RosterCapability *usage_unfit_offer(const Choice *choice, int ordinal,
												 bool judge_tools);

/*
 * May the agent have the task, as far as trust is concerned, and the allowlist of
 * tools if that is to be judged?  It is judged by what is required, and if nothing
 * is, by everything that its card offers.
 */
extern bool usage_is_allowed(const Choice *choice, int ordinal, bool judge_tools);

/* Returns a tool of the capability that is not in the allowlist, or NULL. */
extern const RosterWord *usage_forbidden_tool(const Choice *choice,
											  const RosterCapability *capability);

/* Returns the cost of the dearest capability that would be used. */
extern CostHint usage_cost(const Choice *choice, int ordinal);

#endif							/* CLUTCH_USAGE_H */
