/*-------------------------------------------------------------------------
 *
 * candidate.c
 *	  The hard filters: who may take the task.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/candidate.h"

#include "base/clock.h"
#include "registry/breaker.h"
#include "routing/recent_load.h"
#include "routing/usage.h"
#include "settings.h"
#include "store/spending.h"
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

/* ------------------------------------------------------------- the filters */

/* trust and tools judge only who has everything required */
static void
drop_by_capabilities(const Search *search, AgentSet *left, bool judge_tools)
{
	int			i = -1;

	while ((i = agent_set_next(search->capable, i)) >= 0)
	{
		if (agent_set_has(left, i) && usage_unmet_need(search, i, judge_tools) != NULL)
			agent_set_remove(left, i);
	}
}

/* half open, an agent has some tasks at once to show that it can again */
static void
drop_by_breaker(Search *search, AgentSet *left)
{
	Roster	   *roster = search->choice.roster;
	Breaker    *breakers;
	int			n = breaker_list(clock_now(), &breakers);
	int			i;

	for (i = 0; i < n; i++)
	{
		int			ordinal = roster_find(roster, breakers[i].agent_id);
		AgentLoad	load = {0};

		if (ordinal < 0 || !agent_set_has(left, ordinal))
			continue;
		if (breakers[i].state == BREAKER_HALF_OPEN)
			load_read(breakers[i].agent_id, clutch_breaker_probes, &load);
		if (breakers[i].state == BREAKER_OPEN || load.running >= clutch_breaker_probes)
		{
			agent_set_remove(left, ordinal);
			continue;
		}
		if (search->on_trial == NULL)
			search->on_trial = agent_set_none(roster_size(roster));
		agent_set_add(search->on_trial, ordinal);
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

/* who has spent on this run what its card allows */
static void
drop_by_budget(const Search *search, AgentSet *left)
{
	Roster	   *roster = search->choice.roster;
	AgentSpending *agents;
	int			n = spending_read(search->requirement.run_id, &agents);
	int			i;

	for (i = 0; i < n; i++)
	{
		int			ordinal = roster_find(roster, agents[i].agent_id);

		if (ordinal >= 0 && agent_set_has(left, ordinal) &&
			amount_reaches(&agents[i].amount, &roster_agent(roster, ordinal)->card.max_amount))
			agent_set_remove(left, ordinal);
	}
}

bool
candidate_may_spend(const Roster *roster, int ordinal, Slice run_id)
{
	const RosterAgent *agent = roster_agent(roster, ordinal);
	AgentSpending *agents;
	int			n;
	int			i;

	if (!amount_is_limit(&agent->card.max_amount))
		return true;
	n = spending_read(run_id, &agents);
	for (i = 0; i < n; i++)
		if (slice_equal(agents[i].agent_id, agent->agent_id))
			return !amount_reaches(&agents[i].amount, &agent->card.max_amount);
	return true;
}

static void
drop(Search *search, Rejection filter, AgentSet *left)
{
	const Roster *roster = search->choice.roster;
	const Requirement *requirement = &search->requirement;

	switch (filter)
	{
		case REJECTED_STATUS:
			agent_set_and(left, roster_taking_work(roster));
			break;
		case REJECTED_BREAKER:
			if (!search->ignores_breakers)
				drop_by_breaker(search, left);
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
		case REJECTED_BUDGET:
			if (slice_present(requirement->run_id) && roster_limits_spending(roster))
				drop_by_budget(search, left);
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

/*
 * A few are read each time; among many, what was read a moment ago will do:
 * the best is looked at again, and the slot decides.  One load takes some
 * microseconds to read, and there may be thousands of agents: kept for ten
 * milliseconds a candidate they cost a backend next to nothing.  Before a
 * request is told that all are full, though, nothing older than LEAST_AGE
 * counts.
 */
#define AGE_PER_CANDIDATE	INT64CONST(10000)
#define LEAST_AGE			INT64CONST(100000)
#define MOST_AGE			INT64CONST(2000000)

/* how many tasks at once: of who is on trial, few */
static int
limit_of(const Search *search, int ordinal)
{
	int			limit = roster_agent(search->choice.roster, ordinal)->card.max_concurrency;

	if (search->on_trial != NULL && agent_set_has(search->on_trial, ordinal))
		limit = Min(limit, clutch_breaker_probes);
	return limit;
}

/* the candidates that are not full, by loads no older than max_age */
static void
list_vacant(Search *search, int64 max_age)
{
	Choice	   *choice = &search->choice;
	AgentSet   *left = search->left[REJECTED_REQUIRES];
	AgentSet   *vacant = agent_set_copy(left);
	TimestampTz now = GetCurrentTimestamp();
	AgentLoad	load;
	int			i = -1;

	search->left[REJECTED_CONCURRENCY] = vacant;
	memset(&choice->rejected[REJECTED_CONCURRENCY], 0, sizeof(RejectionTally));
	while ((i = agent_set_next(left, i)) >= 0)
	{
		Candidate  *candidate = &choice->candidates[choice->ncandidates];
		const RosterAgent *agent = roster_agent(choice->roster, i);
		int			limit = limit_of(search, i);

		if (search->loads_remembered)
			load = *recent_load(choice->roster, i, now, max_age);
		else
			load_read(agent->agent_id, limit, &load);
		if (load.running >= limit)
		{
			agent_set_remove(vacant, i);
			tally_one(&choice->rejected[REJECTED_CONCURRENCY], i);
			continue;
		}
		candidate->ordinal = i;
		candidate->agent_id = agent->agent_id;
		candidate->max_concurrency = limit;
		candidate->cost = usage_cost(search, i);
		set_load(candidate, &load);
		choice->ncandidates++;
	}
}

void
candidate_list(Search *search)
{
	Choice	   *choice = &search->choice;
	int			n = agent_set_count(search->left[REJECTED_REQUIRES]);

	search->loads_remembered = n > clutch_exact_load_candidates;
	choice->candidates = palloc(Max(n, 1) * sizeof(Candidate));
	list_vacant(search, Min(Max(n * AGE_PER_CANDIDATE, LEAST_AGE), MOST_AGE));
	if (choice->ncandidates == 0 && search->loads_remembered)
		list_vacant(search, LEAST_AGE);
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
	choice->nranked--;
	memmove(&choice->candidates[candidate], &choice->candidates[candidate + 1],
			(choice->ncandidates - candidate) * sizeof(Candidate));
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
	/* breakers open and close, and what fits is remembered for long */
	search->ignores_breakers = true;
	agent_set_and(search->capable, alone);
	candidate_filter(search);
	return agent_set_has(search->left[REJECTED_REQUIRES], ordinal);
}
