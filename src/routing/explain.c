/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  Why an agent is no candidate, in words.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/explain.h"

#include "base/clock.h"
#include "lib/stringinfo.h"
#include "protocol/level.h"
#include "registry/breaker.h"
#include "routing/usage.h"
#include "settings.h"
#include "store/spending.h"

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
	const Need *need = usage_unmet_need(search, ordinal, true);
	const RosterCapability *used = usage_of_need(search, need, ordinal, false);
	const RosterWord *tool = usage_forbidden_tool(search, used);

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
say_breaker(StringInfo words, const RosterAgent *agent)
{
	Breaker    *breakers;
	int			n = breaker_list(clock_now(), &breakers);
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!slice_equal(breakers[i].agent_id, agent->agent_id))
			continue;
		appendStringInfo(words, "failed its last %d tasks or more, ", breakers[i].failures);
		if (breakers[i].state == BREAKER_OPEN)
			appendStringInfo(words, "gets no work until %s", clock_rfc3339(breakers[i].open_until));
		else
			appendStringInfo(words, "has as many tasks as it is tried with (%d)", clutch_breaker_probes);
	}
}

static void
say_budget(StringInfo words, const Search *search, const RosterAgent *agent)
{
	AgentSpending *agents;
	int			n = spending_read(search->requirement.run_id, &agents);
	int			i;

	for (i = 0; i < n; i++)
		if (slice_equal(agents[i].agent_id, agent->agent_id))
			appendStringInfo(words, "has spent %s on the run",
							 amount_words(&agents[i].amount, &agent->card.max_amount));
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
		case REJECTED_BREAKER:
			say_breaker(words, agent);
			break;
		case REJECTED_SCOPE:
			appendStringInfo(words, "does not work for %.*s",
							 requirement->scope.len, requirement->scope.s);
			break;
		case REJECTED_TRUST:
			need = usage_unmet_need(search, ordinal, false);
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
		case REJECTED_BUDGET:
			say_budget(words, search, agent);
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
explain_rejection(const Search *search, int ordinal, char **detail)
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
