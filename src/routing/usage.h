/*-------------------------------------------------------------------------
 *
 * usage.h
 *	  Which of its capabilities an agent would use for a request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_USAGE_H
#define CLUTCH_USAGE_H

#include "routing/choice.h"

/*
 * Returns the first capability, in the order of the card, that meets this need
 * and passes trust and, if tools are judged, the tool allowlist; or NULL if
 * there is none.
 */
extern const RosterCapability *usage_of_need(const Choice *choice, const Need *need,
											 int ordinal, bool judge_tools);

/*
 * Returns the first need for which there is no such capability, or NULL if all
 * can be met.
 */
extern const Need *usage_unmet_need(const Choice *choice, int ordinal, bool judge_tools);

/*
 * Returns the first capability on the agent's card that rules the agent out
 * for a request without requires, which might use any of them: it is not
 * trusted enough or, if tools are judged, has a tool that is not in the
 * allowlist.  Returns NULL if there is none.
 */
extern const RosterCapability *usage_unfit_offer(const Choice *choice, int ordinal,
												 bool judge_tools);

/*
 * May the agent have the task, as far as trust and, if tools are judged, the
 * tool allowlist are concerned?  The capabilities for what is required are
 * judged or, if nothing is required, everything that the card offers.
 */
extern bool usage_is_allowed(const Choice *choice, int ordinal, bool judge_tools);

/* Returns a tool of the capability that is not in the allowlist, or NULL. */
extern const RosterWord *usage_forbidden_tool(const Choice *choice,
											  const RosterCapability *capability);

/* Returns the cost of the most expensive capability that would be used. */
extern CostHint usage_cost(const Choice *choice, int ordinal);

#endif							/* CLUTCH_USAGE_H */
