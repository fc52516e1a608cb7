/*-------------------------------------------------------------------------
 *
 * router.c
 *	  Choosing an agent: filter, match, score, rank.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/router.h"

#include "routing/candidate.h"
#include "routing/filter_agents.h"
#include "settings.h"
#include "store/spending.h"
#include "utils/memutils.h"

/*
 * Returns the failure for a choice in which no agent is left.  It depends on
 * which filter would have to let an agent through for the request to succeed.
 */
static RoutingFailure
router_failure_of(const Choice *choice)
{
	const Requirement *requirement = &choice->requirement;
	bool		is_restricted = requirement->named.n > 0 || requirement->groups.n > 0 ||
		choice->ruled != choice->looked_at;
	AgentSet   *away;

	if (is_restricted && agent_set_count(choice->ruled) == 0)
		return NO_AGENT_AVAILABLE;
	if (agent_set_count(choice->capable) == 0)
		return NO_CAPABLE_AGENT;
	if (choice->rejected[REJECTED_CONCURRENCY].count > 0)
		return NO_CAPACITY;
	away = agent_set_copy(choice->capable);
	agent_set_minus(away, choice->left[REJECTED_BREAKER]);
	if (agent_set_count(away) > 0 || choice->rejected[REJECTED_BUDGET].count > 0)
		return NO_AGENT_AVAILABLE;
	return POLICY_DENIED;
}

/*
 * Returns how many candidates to list: those that the decision names, but at
 * least the best one and the runner-up.
 */
static int
router_candidates_wanted(void)
{
	return Max(clutch_decision_candidates, 2);
}

static void
router_rank_best(Choice *choice)
{
	candidate_rank(choice, router_candidates_wanted());
	choice->failure = choice->ncandidates > 0 ? ROUTING_SUCCEEDED : router_failure_of(choice);
}

Choice *
router_choose(const Requirement *requirement)
{
	Roster	   *roster = roster_get();
	Choice	   *choice;

	/*
	 * the registry may change several times before the choice is written down
	 */
	roster_hold(roster);
	choice = filter_begin(requirement, roster);
	filter_agents(choice);
	router_rank_best(choice);
	return choice;
}

void
router_rank_all(Choice *choice)
{
	candidate_rank(choice, choice->neligible);
}

int
router_list_agent(Choice *choice, Slice agent_id)
{
	int			ordinal = slice_present(agent_id) ? roster_find(choice->roster, agent_id) : -1;

	return ordinal < 0 ? -1 : candidate_list_agent(choice, ordinal);
}

void
router_reject_full(Choice *choice)
{
	candidate_reject_full(choice);
	if (choice->ncandidates < Min(router_candidates_wanted(), choice->neligible) ||
		choice->neligible == 0)
		router_rank_best(choice);
}

bool
router_fits(const Requirement *requirement, Slice agent_id)
{
	Roster	   *roster = roster_get();
	int			ordinal = roster_find(roster, agent_id);
	MemoryContext scratch;
	MemoryContext old;
	bool		fits;

	if (ordinal < 0)
		return false;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch fits",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	fits = filter_passes(requirement, roster, ordinal);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return fits;
}

/* The amounts may be long numbers, so they are read in a memory context of their own. */
static bool
router_reaches(const Amount *most, Slice agent_id, Slice run_id)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch spent",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	AgentSpending *agents;
	int			n = spending_read(run_id, &agents);
	bool		reaches = false;
	int			i;

	for (i = 0; i < n && !reaches; i++)
		reaches = slice_equal(agents[i].agent_id, agent_id) && amount_reaches(&agents[i].amount, most);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return reaches;
}

bool
router_has_spent(Slice agent_id, Slice run_id)
{
	const RosterAgent *agent = roster_look(agent_id);

	return agent != NULL && amount_is_limit(&agent->card.max_amount) &&
		router_reaches(&agent->card.max_amount, agent_id, run_id);
}

AgentSet *
router_list_away(const Choice *choice)
{
	AgentSet   *away = agent_set_copy(choice->capable);

	agent_set_minus(away, roster_taking_work(choice->roster));
	return away;
}

bool
router_looked_at(const Choice *choice, int ordinal)
{
	return agent_set_has(choice->looked_at, ordinal);
}
