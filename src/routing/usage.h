/*-------------------------------------------------------------------------
 *
 * usage.h
 *	  Which of its capabilities an agent would use for what is required.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_USAGE_H
#define CLUTCH_USAGE_H

#include "routing/candidate.h"

/*
 * The first capability, in card order, with which the agent meets one thing
 * required and that passes trust, and tools if these are looked at, too;
 * NULL if none does.
 */
extern const RosterCapability *usage_of_need(const Search *search, const Need *need,
											 int ordinal, bool judge_tools);

/* what is required and cannot be met so; NULL: everything can */
extern const Need *usage_unmet_need(const Search *search, int ordinal, bool judge_tools);

/* a tool of the capability that is not in the allowlist; NULL: none */
extern const RosterWord *usage_forbidden_tool(const Search *search,
											  const RosterCapability *capability);

/* the dearest of the capabilities used */
extern CostHint usage_cost(const Search *search, int ordinal);

#endif							/* CLUTCH_USAGE_H */
