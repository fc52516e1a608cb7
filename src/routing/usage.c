/*-------------------------------------------------------------------------
 *
 * usage.c
 *	  Which of its capabilities an agent would use for a request.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/usage.h"

const RosterWord *
usage_forbidden_tool(const Choice *choice, const RosterCapability *capability)
{
	int			i;

	for (i = 0; choice->allowed_tools != NULL && i < capability->ntools; i++)
	{
		if (!agent_set_has(choice->allowed_tools, capability->tools[i]->no))
			return capability->tools[i];
	}
	return NULL;
}

const RosterCapability *
usage_of_need(const Choice *choice, const Need *need, int ordinal, bool judge_tools)
{
	const RosterCapability *capability = roster_capabilities(choice->roster, ordinal);

	for (; capability != NULL; capability = roster_next_capability(capability))
	{
		if (match_capability(need, capability) &&
			capability->trust >= choice->requirement.policy.trust &&
			(!judge_tools || usage_forbidden_tool(choice, capability) == NULL))
			return capability;
	}
	return NULL;
}

const Need *
usage_unmet_need(const Choice *choice, int ordinal, bool judge_tools)
{
	int			i;

	for (i = 0; i < choice->requirement.requires.n; i++)
	{
		if (usage_of_need(choice, &choice->needs[i], ordinal, judge_tools) == NULL)
			return &choice->needs[i];
	}
	return NULL;
}

const RosterCapability *
usage_unfit_offer(const Choice *choice, int ordinal, bool judge_tools)
{
	const RosterCapability *capability = roster_capabilities(choice->roster, ordinal);

	for (; capability != NULL; capability = roster_next_capability(capability))
		if (capability->trust < choice->requirement.policy.trust ||
			(judge_tools && usage_forbidden_tool(choice, capability) != NULL))
			return capability;
	return NULL;
}

/*
 * A card without capabilities is not trusted with anything, and has no tools.
 */
bool
usage_is_allowed(const Choice *choice, int ordinal, bool judge_tools)
{
	if (choice->requirement.requires.n > 0)
		return usage_unmet_need(choice, ordinal, judge_tools) == NULL;
	if (roster_capabilities(choice->roster, ordinal) == NULL)
		return choice->requirement.policy.trust == TRUST_SANDBOX;
	return usage_unfit_offer(choice, ordinal, judge_tools) == NULL;
}

CostHint
usage_cost(const Choice *choice, int ordinal)
{
	CostHint	cost = COST_LOW;
	int			i;

	for (i = 0; i < choice->requirement.requires.n; i++)
	{
		const RosterCapability *used = usage_of_need(choice, &choice->needs[i],
													 ordinal, true);

		if (used != NULL && used->cost > cost)
			cost = used->cost;
	}
	return cost;
}
