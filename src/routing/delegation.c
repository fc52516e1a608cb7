/*-------------------------------------------------------------------------
 *
 * delegation.c
 *	  Which agents take requests from which senders.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/delegation.h"

#include "settings.h"

/*
 * Is the agent on the list, or a member of a group on it?  If the list is
 * NULL, everybody is.
 */
static bool
delegation_lists(const Roster *roster, const SliceList *list, Slice agent_id)
{
	for (int i = 0; list != NULL && i < list->n; i++)
		if (slice_equal(list->items[i], agent_id) || slice_equal(list->items[i], SLICE_OF("group:*")) ||
			(slice_starts(list->items[i], SLICE_OF("group:")) && roster_is_member(roster, agent_id, list->items[i])))
			return true;
	return list == NULL;
}

static bool
delegation_is_free(const Requirement *requirement)
{
	return !slice_present(requirement->sender) ||
		slice_is(requirement->sender, clutch_orchestrator);
}

/*
 * Returns the agents and groups that the sender may ask, or NULL if it may ask
 * anybody.
 */
static const SliceList *
delegation_of_sender(const Requirement *requirement, const Roster *roster)
{
	int			sender = roster_find(roster, requirement->sender);

	return sender >= 0 ? roster_agent(roster, sender)->card.delegates_to : NULL;
}

void
delegation_drop(const Requirement *requirement, const Roster *roster, AgentSet *left)
{
	const SliceList *delegates_to;
	int			i = -1;

	if (!roster_limits_delegation(roster) || delegation_is_free(requirement))
		return;
	delegates_to = delegation_of_sender(requirement, roster);
	while ((i = agent_set_next(left, i)) >= 0)
	{
		const RosterAgent *agent = roster_agent(roster, i);

		if (!delegation_lists(roster, agent->card.serves, requirement->sender) ||
			!delegation_lists(roster, delegates_to, agent->agent_id))
			agent_set_remove(left, i);
	}
}

const char *
delegation_refusal(const Requirement *requirement, const Roster *roster, int ordinal)
{
	const RosterAgent *agent = roster_agent(roster, ordinal);
	Slice		sender = requirement->sender;

	if (delegation_is_free(requirement))
		return "";
	if (!delegation_lists(roster, agent->card.serves, sender))
		return psprintf("does not take requests of %.*s", sender.len, sender.s);
	if (!delegation_lists(roster, delegation_of_sender(requirement, roster), agent->agent_id))
		return psprintf("is not one of the agents to which %.*s delegates", sender.len, sender.s);
	return "";
}
