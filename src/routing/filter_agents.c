/*-------------------------------------------------------------------------
 *
 * filter_agents.c
 *	  The hard filters, which work on sets of agents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/filter_agents.h"

#include "base/clock.h"
#include "protocol/host.h"
#include "protocol/identifier.h"
#include "registry/breaker.h"
#include "routing/delegation.h"
#include "routing/usage.h"
#include "settings.h"
#include "store/spending.h"

/* --------------------------------------------------------- whom to look at */

static void
filter_agents_add(const Roster *roster, const SliceList *agents_and_groups, AgentSet *set)
{
	for (int i = 0; i < agents_and_groups->n; i++)
	{
		Slice		name = agents_and_groups->items[i];
		const RosterWord *group = roster_word(roster, BY_GROUP, name);
		int			ordinal = roster_find(roster, name);

		if (group != NULL)
			roster_add_agents(group, set);
		if (ordinal >= 0)
			agent_set_add(set, ordinal);
	}
}

static AgentSet *
filter_agents_to_look_at(const Requirement *requirement, const Roster *roster)
{
	AgentSet   *set;

	if (requirement->named.n == 0 && requirement->groups.n == 0)
		return agent_set_all(roster_size(roster));
	set = agent_set_none(roster_size(roster));
	filter_agents_add(roster, &requirement->named, set);
	filter_agents_add(roster, &requirement->groups, set);
	return set;
}

AgentSet *
filter_agents_of(const Roster *roster, const SliceList *agents_and_groups)
{
	AgentSet   *set = agent_set_none(roster_size(roster));

	filter_agents_add(roster, agents_and_groups, set);
	return set;
}

/*
 * Returns the agents with a model, which is named by itself or by an agent
 * that has it.
 */
static AgentSet *
filter_agents_of_model(const Roster *roster, Slice name)
{
	AgentSet   *set = agent_set_none(roster_size(roster));
	const RosterWord *model = roster_word(roster, BY_MODEL, name);
	int			ordinal = roster_find(roster, name);

	if (model != NULL)
		roster_add_agents(model, set);
	if (ordinal >= 0)
		roster_add_agents_like(roster, ordinal, set);
	return set;
}

void
filter_drop_by_rule(const Roster *roster, const AppliedRule *rule, AgentSet *left)
{
	AgentSet   *set;

	if (rule->only.n > 0)
	{
		set = filter_agents_of(roster, &rule->only);
		agent_set_and(left, set);
		pfree(set);
	}
	if (slice_present(rule->unlike))
	{
		set = filter_agents_of_model(roster, rule->unlike);
		agent_set_minus(left, set);
		pfree(set);
	}
}

/* Returns those of the agents looked at that the rules allow. */
static AgentSet *
filter_agents_ruled(const Requirement *requirement, const Roster *roster, AgentSet *looked_at)
{
	AgentSet   *set = looked_at;

	for (int i = 0; i < requirement->nrules; i++)
	{
		const AppliedRule *rule = &requirement->rules[i];

		if (rule->only.n == 0 && !slice_present(rule->unlike))
			continue;
		if (set == looked_at)
			set = agent_set_copy(looked_at);
		filter_drop_by_rule(roster, rule, set);
	}
	return set;
}

static AgentSet *
filter_agents_tools_allowed(const MessagePolicy *policy, const Roster *roster)
{
	AgentSet   *set;
	int			i;

	if (!policy->has_allowlist)
		return NULL;
	set = agent_set_none(roster_count_words(roster, BY_TOOL));
	for (i = 0; i < policy->tool_allowlist.n; i++)
	{
		const RosterWord *tool = roster_word(roster, BY_TOOL, policy->tool_allowlist.items[i]);

		if (tool != NULL)
			agent_set_add(set, tool->no);
	}
	return set;
}

Choice *
filter_begin(const Requirement *requirement, Roster *roster)
{
	Choice	   *choice = palloc0(sizeof(Choice));

	choice->roster = roster;
	choice->requirement = *requirement;
	choice->needs = match_requires(roster, &requirement->requires);
	choice->allowed_tools = filter_agents_tools_allowed(&requirement->policy, roster);
	choice->looked_at = filter_agents_to_look_at(requirement, roster);
	choice->ruled = filter_agents_ruled(requirement, roster, choice->looked_at);
	choice->capable = match_all(roster, choice->needs, requirement->requires.n);
	agent_set_and(choice->capable, choice->ruled);
	choice->avoided = slice_present(requirement->avoid) ?
		roster_find(roster, requirement->avoid) : -1;
	return choice;
}

/* ------------------------------------------------------------- the filters */

/*
 * Drops agents by trust and tools.  These are judged only for agents that have
 * everything required, or for all agents if nothing is required.  Tools are
 * judged after trust, so agents whose capabilities use no tools need not be
 * looked at again.
 */
static void
filter_agents_drop_by_capabilities(const Choice *choice, AgentSet *left, bool judge_tools)
{
	AgentSet   *judged = agent_set_copy(choice->capable);
	int			i = -1;

	agent_set_and(judged, left);
	if (judge_tools)
		agent_set_and(judged, roster_with_tools(choice->roster));
	while ((i = agent_set_next(judged, i)) >= 0)
	{
		if (!usage_is_allowed(choice, i, judge_tools))
			agent_set_remove(left, i);
	}
}

/*
 * Drops agents by their breakers.  An agent whose breaker is half open gets a
 * few tasks at once, to prove that it works again.
 */
static void
filter_agents_drop_by_breaker(Choice *choice, AgentSet *left, const Breaker *breakers, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		int			ordinal = breakers[i].ordinal;
		AgentLoad	load = {0};

		if (!agent_set_has(left, ordinal))
			continue;
		if (breakers[i].state == BREAKER_HALF_OPEN)
			load_read(roster_agent(choice->roster, ordinal)->agent_id, clutch_breaker_probes, &load);
		if (breakers[i].state == BREAKER_OPEN || load.running >= clutch_breaker_probes)
		{
			agent_set_remove(left, ordinal);
			continue;
		}
		if (choice->on_trial == NULL)
			choice->on_trial = agent_set_none(roster_size(choice->roster));
		agent_set_add(choice->on_trial, ordinal);
	}
}

static void
filter_agents_drop_by_scope(const Choice *choice, AgentSet *left)
{
	const RosterWord *scope = roster_word(choice->roster, BY_SCOPE, choice->requirement.scope);
	AgentSet   *inside = agent_set_none(roster_size(choice->roster));

	if (scope != NULL)
		roster_add_agents(scope, inside);
	agent_set_and(left, inside);
	pfree(inside);
}

/*
 * Drops the agents that have already spent on this run what their cards allow.
 */
static void
filter_agents_drop_by_budget(const Choice *choice, AgentSet *left)
{
	Roster	   *roster = choice->roster;
	AgentSpending *agents;
	int			n = spending_read(choice->requirement.run_id, &agents);
	int			i;

	for (i = 0; i < n; i++)
	{
		int			ordinal = roster_find(roster, agents[i].agent_id);

		if (ordinal >= 0 && agent_set_has(left, ordinal) &&
			amount_reaches(&agents[i].amount, &roster_agent(roster, ordinal)->card.max_amount))
			agent_set_remove(left, ordinal);
	}
}

Slice
filter_paused_capability(const Roster *roster, const SliceList *requires)
{
	int			i;

	for (i = 0; roster_has_pauses(roster) && i < requires->n; i++)
	{
		Slice		id;
		Slice		range;

		identifier_split_version(requires->items[i], &id, &range);
		if (roster_pauses_capability(roster, id))
			return id;
	}
	return SLICE_NONE;
}

/*
 * Drops the paused agents, or all agents if a required capability is paused.
 */
static void
filter_agents_drop_by_pause(const Choice *choice, AgentSet *left)
{
	const Requirement *requirement = &choice->requirement;
	AgentSet   *none;

	if (!slice_present(filter_paused_capability(choice->roster, &requirement->requires)))
	{
		agent_set_minus(left, roster_paused(choice->roster));
		return;
	}
	none = agent_set_none(roster_size(choice->roster));
	agent_set_and(left, none);
	pfree(none);
}

/*
 * Drops the agents that reach less of the network than is needed, or none of
 * the hosts that the request allows.  A request that allows no hosts does not
 * need any.
 */
static void
filter_agents_drop_by_network(const Choice *choice, AgentSet *left)
{
	const MessagePolicy *policy = &choice->requirement.policy;
	int			i = -1;

	agent_set_and(left, roster_network(choice->roster, policy->network));
	if (policy->egress_allowlist.n == 0 || !roster_limits_egress(choice->roster))
		return;
	while ((i = agent_set_next(left, i)) >= 0)
	{
		const SliceList *own = roster_agent(choice->roster, i)->card.egress;

		if (own != NULL && !host_lists_meet(own, &policy->egress_allowlist))
			agent_set_remove(left, i);
	}
}

/* Could the filter drop any agent at all?  Most filters of a choice cannot. */
static bool
filter_agents_applies(const Choice *choice, Rejection filter)
{
	const Requirement *requirement = &choice->requirement;

	switch (filter)
	{
		case REJECTED_RULE:
			return choice->ruled != choice->looked_at;
		case REJECTED_PAUSED:
			return roster_has_pauses(choice->roster);
		case REJECTED_SCOPE:
			return slice_present(requirement->scope);
		case REJECTED_TRUST:
			return requirement->policy.trust > TRUST_SANDBOX;
		case REJECTED_POLICY:
			return requirement->policy.sandbox || roster_limits_delegation(choice->roster);
		case REJECTED_TOOLS:
			return requirement->policy.has_allowlist;
		case REJECTED_NETWORK:
			return requirement->policy.network > NETWORK_NONE ||
				requirement->policy.egress_allowlist.n > 0;
		case REJECTED_BUDGET:
			return slice_present(requirement->run_id) && roster_limits_spending(choice->roster);
		default:
			return true;
	}
}

static void
filter_agents_apply(Choice *choice, Rejection filter, AgentSet *left)
{
	const Roster *roster = choice->roster;

	switch (filter)
	{
		case REJECTED_RULE:
			agent_set_and(left, choice->ruled);
			break;
		case REJECTED_STATUS:
			agent_set_and(left, roster_taking_work(roster));
			break;
		case REJECTED_PAUSED:
			filter_agents_drop_by_pause(choice, left);
			break;
		case REJECTED_SCOPE:
			filter_agents_drop_by_scope(choice, left);
			break;
		case REJECTED_TRUST:
			filter_agents_drop_by_capabilities(choice, left, false);
			break;
		case REJECTED_POLICY:
			if (choice->requirement.policy.sandbox)
				agent_set_and(left, roster_sandboxed(roster));
			delegation_drop(&choice->requirement, roster, left);
			break;
		case REJECTED_TOOLS:
			filter_agents_drop_by_capabilities(choice, left, true);
			break;
		case REJECTED_NETWORK:
			filter_agents_drop_by_network(choice, left);
			break;
		case REJECTED_BUDGET:
			filter_agents_drop_by_budget(choice, left);
			break;
		case REJECTED_REQUIRES:
			agent_set_and(left, choice->capable);
			break;
		default:
			break;
	}
}

/* ------------------------------------------------------------ counting them */

void
filter_tally(RejectionTally *tally, int ordinal)
{
	int			place = tally->nexamples;

	tally->count++;
	while (place > 0 && tally->examples[place - 1] > ordinal)
		place--;
	if (place == REJECTION_EXAMPLES)
		return;
	tally->nexamples = Min(tally->nexamples + 1, REJECTION_EXAMPLES);
	memmove(&tally->examples[place + 1], &tally->examples[place],
			(tally->nexamples - place - 1) * sizeof(int));
	tally->examples[place] = ordinal;
}

static void
filter_agents_tally_difference(RejectionTally *tally, const AgentSet *before, const AgentSet *after)
{
	int			word;

	for (word = 0; word < before->nwords && tally->nexamples < REJECTION_EXAMPLES; word++)
	{
		uint64		gone = before->words[word] & ~after->words[word];

		for (; gone != 0 && tally->nexamples < REJECTION_EXAMPLES; gone &= gone - 1)
			tally->examples[tally->nexamples++] = word * 64 + pg_rightmost_one_pos64(gone);
	}
	if (tally->nexamples > 0)
		tally->count = agent_set_count(before) - agent_set_count(after);
}

/* Applies all filters, with breakers or, if n is 0, without them. */
static void
filter_agents_all(Choice *choice, const Breaker *breakers, int n)
{
	AgentSet   *before = choice->looked_at;
	Rejection	filter;

	for (filter = FIRST_REJECTION; filter <= REJECTED_REQUIRES; filter++)
	{
		choice->left[filter] = before;
		if (filter == REJECTED_BREAKER ? n == 0 : !filter_agents_applies(choice, filter))
			continue;
		choice->left[filter] = agent_set_copy(before);
		if (filter == REJECTED_BREAKER)
			filter_agents_drop_by_breaker(choice, choice->left[filter], breakers, n);
		else
			filter_agents_apply(choice, filter, choice->left[filter]);
		filter_agents_tally_difference(&choice->rejected[filter], before, choice->left[filter]);
		before = choice->left[filter];
	}
	choice->left[REJECTED_CONCURRENCY] = agent_set_copy(before);
	choice->neligible = agent_set_count(before);
}

void
filter_agents(Choice *choice)
{
	Breaker    *breakers;
	int			n = breaker_list(choice->roster, clock_now(), &breakers);

	filter_agents_all(choice, breakers, n);
}

/*
 * Breakers are left out, because they open and close, while what fits an agent
 * is remembered for a long time.
 */
bool
filter_passes(const Requirement *requirement, Roster *roster, int ordinal)
{
	Choice	   *choice = filter_begin(requirement, roster);
	AgentSet   *alone;

	if (!agent_set_has(choice->ruled, ordinal))
		return false;
	alone = agent_set_none(roster_size(roster));
	agent_set_add(alone, ordinal);
	choice->looked_at = choice->ruled = alone;
	agent_set_and(choice->capable, alone);
	filter_agents_all(choice, NULL, 0);
	return agent_set_has(choice->left[REJECTED_REQUIRES], ordinal);
}
