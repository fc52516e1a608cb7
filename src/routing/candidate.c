/*-------------------------------------------------------------------------
 *
 * candidate.c
 *	  The hard filters: who may take the task.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/candidate.h"

#include "lib/stringinfo.h"
#include "protocol/level.h"
#include "routing/recent_load.h"
#include "settings.h"
#include "utils/timestamp.h"

/* ---------------------------------------------------------- whom to look at */

static AgentSet *
agents_to_look_at(const Requirement *requirement, const Roster *roster)
{
	AgentSet   *set;
	int			i;

	if (requirement->named.n == 0 && requirement->groups.n == 0)
		return agent_set_all(roster_size(roster));

	set = agent_set_none(roster_size(roster));
	for (i = 0; i < requirement->named.n; i++)
	{
		int			ordinal = roster_find(roster, requirement->named.items[i]);

		if (ordinal >= 0)
			agent_set_add(set, ordinal);
	}
	for (i = 0; i < requirement->groups.n; i++)
	{
		const RosterWord *group = roster_word(roster, BY_GROUP, requirement->groups.items[i]);

		if (group != NULL)
			roster_add_agents(group, set);
	}
	return set;
}

static AgentSet *
tools_allowed(const MessagePolicy *policy, const Roster *roster)
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

Search *
candidate_search(const Requirement *requirement, Roster *roster)
{
	Search	   *search = palloc0(sizeof(Search));

	search->choice.roster = roster;
	search->requirement = *requirement;
	search->needs = match_requires(roster, &requirement->requires);
	search->allowed_tools = tools_allowed(&requirement->policy, roster);
	search->looked_at = agents_to_look_at(requirement, roster);
	search->capable = match_all(roster, search->needs, requirement->requires.n);
	agent_set_and(search->capable, search->looked_at);
	return search;
}

/* ------------------------------------------- capabilities used by an agent */

static const RosterWord *
forbidden_tool(const Search *search, const RosterCapability *capability)
{
	int			i;

	for (i = 0; search->allowed_tools != NULL && i < capability->ntools; i++)
	{
		if (!agent_set_has(search->allowed_tools, capability->tools[i]->no))
			return capability->tools[i];
	}
	return NULL;
}

/*
 * The first capability, in card order, with which the agent meets one thing
 * required and that passes trust, and tools if these are looked at, too.
 */
static const RosterCapability *
capability_used(const Search *search, const Need *need, int ordinal, bool judge_tools)
{
	Roster	   *roster = search->choice.roster;
	const RosterCapability *capability = roster_capabilities(roster, ordinal);
	const RosterCapability *end =
		capability + roster_agent(roster, ordinal)->card.ncapabilities;

	for (; capability < end; capability++)
	{
		if (match_capability(need, capability) &&
			capability->trust >= search->requirement.policy.trust &&
			(!judge_tools || forbidden_tool(search, capability) == NULL))
			return capability;
	}
	return NULL;
}

/* what is required and cannot be met so; NULL: everything can */
static const Need *
need_not_met(const Search *search, int ordinal, bool judge_tools)
{
	int			i;

	for (i = 0; i < search->requirement.requires.n; i++)
	{
		if (capability_used(search, &search->needs[i], ordinal, judge_tools) == NULL)
			return &search->needs[i];
	}
	return NULL;
}

/* the dearest of the capabilities used */
static CostHint
cost_of(const Search *search, int ordinal)
{
	CostHint	cost = COST_LOW;
	int			i;

	for (i = 0; i < search->requirement.requires.n; i++)
	{
		const RosterCapability *used = capability_used(search, &search->needs[i],
													   ordinal, true);

		if (used != NULL && used->cost > cost)
			cost = used->cost;
	}
	return cost;
}

/* ------------------------------------------------------------- the filters */

/* trust and tools judge only who has everything required */
static void
drop_by_capabilities(const Search *search, AgentSet *left, bool judge_tools)
{
	int			i = -1;

	while ((i = agent_set_next(search->capable, i)) >= 0)
	{
		if (agent_set_has(left, i) && need_not_met(search, i, judge_tools) != NULL)
			agent_set_remove(left, i);
	}
}

static void
drop_by_scope(const Search *search, AgentSet *left)
{
	Roster	   *roster = search->choice.roster;
	const RosterWord *scope = roster_word(roster, BY_SCOPE, search->requirement.scope);
	AgentSet   *inside = agent_set_none(roster_size(roster));

	if (scope != NULL)
		roster_add_agents(scope, inside);
	agent_set_and(left, inside);
	pfree(inside);
}

static void
drop(const Search *search, Rejection filter, AgentSet *left)
{
	const Roster *roster = search->choice.roster;
	const Requirement *requirement = &search->requirement;

	switch (filter)
	{
		case REJECTED_STATUS:
			agent_set_and(left, roster_taking_work(roster));
			break;
		case REJECTED_SCOPE:
			if (slice_present(requirement->scope))
				drop_by_scope(search, left);
			break;
		case REJECTED_TRUST:
			if (requirement->policy.trust > TRUST_SANDBOX)
				drop_by_capabilities(search, left, false);
			break;
		case REJECTED_POLICY:
			if (requirement->policy.sandbox)
				agent_set_and(left, roster_sandboxed(roster));
			break;
		case REJECTED_TOOLS:
			if (requirement->policy.has_allowlist)
				drop_by_capabilities(search, left, true);
			break;
		case REJECTED_NETWORK:
			agent_set_and(left, roster_network(roster, requirement->policy.network));
			break;
		case REJECTED_REQUIRES:
			agent_set_and(left, search->capable);
			break;
		default:
			break;
	}
}

static void
tally_one(RejectionTally *tally, int ordinal)
{
	tally->count++;
	if (tally->nexamples < REJECTION_EXAMPLES)
		tally->examples[tally->nexamples++] = ordinal;
}

static void
tally_difference(RejectionTally *tally, const AgentSet *before, const AgentSet *after)
{
	int			count = agent_set_count(before) - agent_set_count(after);
	int			i = -1;

	while (tally->nexamples < Min(count, REJECTION_EXAMPLES))
	{
		i = agent_set_next(before, i);
		if (!agent_set_has(after, i))
			tally->examples[tally->nexamples++] = i;
	}
	tally->count = count;
}

void
candidate_filter(Search *search)
{
	AgentSet   *before = search->looked_at;
	Rejection	filter;

	for (filter = REJECTED_STATUS; filter <= REJECTED_REQUIRES; filter++)
	{
		search->left[filter] = agent_set_copy(before);
		drop(search, filter, search->left[filter]);
		tally_difference(&search->choice.rejected[filter], before, search->left[filter]);
		before = search->left[filter];
	}
}

/* -------------------------------------------------------------- the loads */

static void
set_load(Candidate *candidate, const AgentLoad *load)
{
	candidate->running = load->running;
	candidate->load = candidate->max_concurrency > 0 ?
		(double) load->running / candidate->max_concurrency : 1;
	candidate->success_rate = load_success_rate(load);
	candidate->last_chosen = load->last_chosen;
}

/* a few are read each time; among many, what was read just now will do */
void
candidate_list(Search *search)
{
	Choice	   *choice = &search->choice;
	AgentSet   *left = search->left[REJECTED_REQUIRES];
	AgentSet   *vacant = agent_set_copy(left);
	int			n = agent_set_count(left);
	TimestampTz now = GetCurrentTimestamp();
	AgentLoad	load;
	int			i = -1;

	search->loads_remembered = n > clutch_exact_load_candidates;
	search->left[REJECTED_CONCURRENCY] = vacant;
	choice->candidates = palloc(Max(n, 1) * sizeof(Candidate));
	while ((i = agent_set_next(left, i)) >= 0)
	{
		Candidate  *candidate = &choice->candidates[choice->ncandidates];
		const RosterAgent *agent = roster_agent(choice->roster, i);

		if (search->loads_remembered)
			load = *recent_load(choice->roster, i, now);
		else
			load_read(agent->agent_id, agent->card.max_concurrency, &load);
		if (load.running >= agent->card.max_concurrency)
		{
			agent_set_remove(vacant, i);
			tally_one(&choice->rejected[REJECTED_CONCURRENCY], i);
			continue;
		}
		candidate->ordinal = i;
		candidate->agent_id = agent->agent_id;
		candidate->max_concurrency = agent->card.max_concurrency;
		candidate->cost = cost_of(search, i);
		set_load(candidate, &load);
		choice->ncandidates++;
	}
}

bool
candidate_refresh_first(Choice *choice)
{
	Candidate  *first = &choice->candidates[0];
	const AgentLoad *load = recent_load_refresh(choice->roster, first->ordinal);
	bool		same = load->running == first->running &&
		load->last_chosen == first->last_chosen &&
		load_success_rate(load) == first->success_rate;

	set_load(first, load);
	return !same;
}

/* examples stay in order, the lowest ordinals of all */
static void
tally_in_order(RejectionTally *tally, int ordinal)
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

void
candidate_reject_full(Choice *choice, int candidate)
{
	Search	   *search = (Search *) choice;
	int			ordinal = choice->candidates[candidate].ordinal;

	recent_load_forget(choice->roster, ordinal);
	tally_in_order(&choice->rejected[REJECTED_CONCURRENCY], ordinal);
	agent_set_remove(search->left[REJECTED_CONCURRENCY], ordinal);
	choice->ncandidates--;
	memmove(&choice->candidates[candidate], &choice->candidates[candidate + 1],
			(choice->ncandidates - candidate) * sizeof(Candidate));
}

/* --------------------------------------------------------------- in words */

/* what an agent offers of what is required: "(it has 1.0)" */
static void
say_versions(StringInfo words, const Search *search, const Need *need, int ordinal)
{
	const RosterAgent *agent = roster_agent(search->choice.roster, ordinal);
	const RosterCapability *capabilities = roster_capabilities(search->choice.roster, ordinal);
	const char *separator = " (it has ";
	int			i;

	for (i = 0; i < agent->card.ncapabilities; i++)
	{
		Slice		version = capabilities[i].version->text;

		if (capabilities[i].id != need->capability)
			continue;
		if (slice_present(version))
			appendStringInfo(words, "%s%.*s", separator, version.len, version.s);
		else
			appendStringInfo(words, "%sno version", separator);
		separator = ", ";
	}
	if (*separator == ',')
		appendStringInfoChar(words, ')');
}

static void
say_requires(StringInfo words, const Search *search, int ordinal)
{
	const char *separator = "has no ";
	int			i;

	for (i = 0; i < search->requirement.requires.n; i++)
	{
		const Need *need = &search->needs[i];
		AgentSet   *met = agent_set_none(roster_size(search->choice.roster));

		match_add_agents(need, met);
		if (!agent_set_has(met, ordinal))
		{
			appendStringInfo(words, "%s%.*s", separator, need->text.len, need->text.s);
			if (need->capability != NULL)
				say_versions(words, search, need, ordinal);
			separator = ", ";
		}
		pfree(met);
	}
}

static void
say_tools(StringInfo words, const Search *search, int ordinal)
{
	const Need *need = need_not_met(search, ordinal, true);
	const RosterCapability *used = capability_used(search, need, ordinal, false);
	const RosterWord *tool = forbidden_tool(search, used);

	appendStringInfo(words, "meets %.*s with %.*s, which uses %.*s: not in the allowlist",
					 need->text.len, need->text.s, used->id->text.len, used->id->text.s,
					 tool->text.len, tool->text.s);
}

static void
say_concurrency(StringInfo words, const RosterAgent *agent)
{
	AgentLoad	load;

	load_read(agent->agent_id, agent->card.max_concurrency, &load);
	appendStringInfo(words, "has %d of %d tasks", load.running, agent->card.max_concurrency);
}

static void
say_rejection(StringInfo words, const Search *search, Rejection rejection, int ordinal)
{
	const Requirement *requirement = &search->requirement;
	const RosterAgent *agent = roster_agent(search->choice.roster, ordinal);
	const Need *need;

	switch (rejection)
	{
		case REJECTED_STATUS:
			appendStringInfo(words, "is %s", agent_status_name(agent->status));
			break;
		case REJECTED_SCOPE:
			appendStringInfo(words, "does not work for %.*s",
							 requirement->scope.len, requirement->scope.s);
			break;
		case REJECTED_TRUST:
			need = need_not_met(search, ordinal, false);
			appendStringInfo(words, "is not trusted for prod with %.*s",
							 need->text.len, need->text.s);
			break;
		case REJECTED_POLICY:
			appendStringInfoString(words, "is not sandboxed");
			break;
		case REJECTED_TOOLS:
			say_tools(words, search, ordinal);
			break;
		case REJECTED_NETWORK:
			appendStringInfo(words, "has network %s, asked for is %s",
							 level_network[agent->card.network],
							 level_network[requirement->policy.network]);
			break;
		case REJECTED_REQUIRES:
			say_requires(words, search, ordinal);
			break;
		case REJECTED_CONCURRENCY:
			say_concurrency(words, agent);
			break;
		case REJECTED_NOT:
			break;
	}
}

Rejection
candidate_judge(const Search *search, int ordinal, char **detail)
{
	StringInfoData words;
	Rejection	filter;

	for (filter = REJECTED_STATUS; filter <= REJECTED_CONCURRENCY; filter++)
	{
		if (!agent_set_has(search->left[filter], ordinal))
			break;
	}
	if (filter > REJECTED_CONCURRENCY)
		return REJECTED_NOT;
	initStringInfo(&words);
	say_rejection(&words, search, filter, ordinal);
	*detail = words.data;
	return filter;
}

bool
candidate_fits(const Requirement *requirement, Roster *roster, int ordinal)
{
	Search	   *search = candidate_search(requirement, roster);
	bool		looked_at = agent_set_has(search->looked_at, ordinal);
	AgentSet   *alone = agent_set_none(roster_size(roster));

	if (!looked_at)
		return false;
	agent_set_add(alone, ordinal);
	search->looked_at = alone;
	agent_set_and(search->capable, alone);
	candidate_filter(search);
	return agent_set_has(search->left[REJECTED_REQUIRES], ordinal);
}
