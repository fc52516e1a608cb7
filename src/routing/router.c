/*-------------------------------------------------------------------------
 *
 * router.c
 *	  Choosing the agent: filter, match, score, rank.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/router.h"

#include "routing/candidate.h"
#include "routing/explain.h"
#include "routing/score.h"
#include "routing/tiebreak.h"
#include "settings.h"
#include "utils/memutils.h"

/* how many times the first of the ranking may turn out to be busier */
#define REFRESHES	8

static const char *const rejection_names[NUM_REJECTIONS] = {
	NULL, "status", "breaker", "scope", "trust", "policy", "tools", "network", "budget",
	"requires",
	"concurrency"
};

static bool
is_restricted(const Requirement *requirement)
{
	return requirement->named.n > 0 || requirement->groups.n > 0;
}

/* nobody is left: what would have to change for somebody to be? */
static const char *
failure_code(const Search *search)
{
	AgentSet   *away = agent_set_copy(search->capable);

	agent_set_minus(away, search->left[REJECTED_BREAKER]);
	if (is_restricted(&search->requirement) && agent_set_count(search->looked_at) == 0)
		return "NO_AGENT_AVAILABLE";
	if (agent_set_count(search->capable) == 0)
		return "NO_CAPABLE_AGENT";
	if (search->choice.rejected[REJECTED_CONCURRENCY].count > 0)
		return "NO_CAPACITY";
	if (agent_set_count(away) > 0 || search->choice.rejected[REJECTED_BUDGET].count > 0)
		return "NO_AGENT_AVAILABLE";
	return "POLICY_DENIED";
}

/* only for want of other rules is there no use in trying again */
static void
conclude(Search *search)
{
	Choice	   *choice = &search->choice;

	choice->failure = choice->ncandidates == 0 ? failure_code(search) : NULL;
	choice->retryable = choice->failure != NULL &&
		strcmp(choice->failure, "POLICY_DENIED") != 0;
}

/*
 * Loads that were remembered may hide that the best has been given work
 * since, by us as well: so the best is looked at again, until it stays.
 */
static void
settle(Choice *choice, Slice avoid)
{
	int			i;

	for (i = 0; i < REFRESHES && choice->ncandidates > 0; i++)
	{
		if (!candidate_refresh_first(choice))
			return;
		if (choice->candidates[0].running >= choice->candidates[0].max_concurrency)
			candidate_reject_full(choice, 0);
		else
			tiebreak_settle_first(choice, avoid);
	}
}

/* the one selected, the runner-up, and those that the decision names */
static void
rank_best(Search *search)
{
	tiebreak_rank_best(&search->choice, search->requirement.avoid,
					   Max(clutch_decision_candidates, 2));
}

void
router_rank_all(Choice *choice)
{
	tiebreak_rank(choice, ((Search *) choice)->requirement.avoid);
}

Choice *
router_choose(const Requirement *requirement)
{
	Search	   *search = candidate_search(requirement, roster_get());
	Choice	   *choice = &search->choice;

	candidate_filter(search);
	candidate_list(search);
	score_candidates(requirement, choice);
	rank_best(search);
	if (search->loads_remembered)
		settle(choice, requirement->avoid);
	conclude(search);
	return choice;
}

void
router_reject_full(Choice *choice, int candidate)
{
	Search	   *search = (Search *) choice;

	candidate_reject_full(choice, candidate);
	if (choice->nranked < 2)
		rank_best(search);
	conclude(search);
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
	fits = candidate_fits(requirement, roster, ordinal);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return fits;
}

bool
router_may_spend(Slice agent_id, Slice run_id)
{
	Roster	   *roster = roster_get();
	int			ordinal = roster_limits_spending(roster) ? roster_find(roster, agent_id) : -1;

	return ordinal < 0 || candidate_may_spend(roster, ordinal, run_id);
}

const char *
rejection_name(Rejection rejection)
{
	return rejection_names[rejection];
}

bool
router_looked_at(const Choice *choice, int ordinal)
{
	return agent_set_has(((const Search *) choice)->looked_at, ordinal);
}

Rejection
router_explain(const Requirement *requirement, const Choice *choice,
			   int ordinal, char **detail)
{
	*detail = NULL;
	return explain_rejection((const Search *) choice, ordinal, detail);
}
