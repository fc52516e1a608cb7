/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  Explaining why an agent is not a candidate.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/explain.h"

#include "base/clock.h"
#include "lib/stringinfo.h"
#include "protocol/level.h"
#include "registry/breaker.h"
#include "routing/delegation.h"
#include "routing/filter_agents.h"
#include "routing/usage.h"
#include "settings.h"
#include "store/spending.h"

/*
 * Appends the versions in which the agent offers what is required: " (it has
 * 1.0)".
 */
static void
explain_versions(StringInfo words, const Choice *choice, const Need *need, int ordinal)
{
	const RosterAgent *agent = roster_agent(choice->roster, ordinal);
	const RosterCapability *capabilities = roster_capabilities(choice->roster, ordinal);
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

/*
 * Returns the rule that requires it, or NULL if there is none or if the
 * request itself requires it.
 */
static const AppliedRule *
explain_rule_that_requires(const Requirement *requirement, Slice text)
{
	for (int r = 0; r < requirement->nrules; r++)
		if (slices_have(requirement->rules[r].requires, text))
			return &requirement->rules[r];
	return NULL;
}

static void
explain_requires(StringInfo words, const Choice *choice, int ordinal)
{
	const char *separator = "has no ";
	int			i;

	for (i = 0; i < choice->requirement.requires.n; i++)
	{
		const Need *need = &choice->needs[i];
		AgentSet   *met = agent_set_none(roster_size(choice->roster));
		const AppliedRule *rule;

		match_add_agents(need, met);
		if (!agent_set_has(met, ordinal))
		{
			appendStringInfo(words, "%s%.*s", separator, need->text.len, need->text.s);
			if (need->capability != NULL)
				explain_versions(words, choice, need, ordinal);
			rule = explain_rule_that_requires(&choice->requirement, need->text);
			if (rule != NULL)
				appendStringInfo(words, ", which rule %.*s requires", rule->name.len, rule->name.s);
			separator = ", ";
		}
		pfree(met);
	}
}

/* Appends the first rule that excludes the agent. */
static void
explain_rule(StringInfo words, const Choice *choice, int ordinal)
{
	const Requirement *requirement = &choice->requirement;

	for (int i = 0; i < requirement->nrules; i++)
	{
		const AppliedRule *rule = &requirement->rules[i];
		AgentSet   *left = agent_set_copy(choice->looked_at);
		bool		is_left;

		filter_drop_by_rule(choice->roster, rule, left);
		is_left = agent_set_has(left, ordinal);
		pfree(left);
		if (is_left)
			continue;
		appendStringInfo(words, "rule %.*s ", rule->name.len, rule->name.s);
		if (rule->only.n == 0)
			appendStringInfo(words, "excludes %s %.*s", slice_starts(rule->unlike, SLICE_OF("agent:")) ? "the model of" : "model",
							 rule->unlike.len, rule->unlike.s);
		else
			appendStringInfoString(words, rule->sends ? "sends it to " : "restricts it to ");
		for (int n = 0; n < rule->only.n; n++)
			appendStringInfo(words, "%s%.*s", n > 0 ? ", " : "", rule->only.items[n].len,
							 rule->only.items[n].s);
		return;
	}
}

static void
explain_trust(StringInfo words, const Choice *choice, int ordinal)
{
	const Need *need = usage_unmet_need(choice, ordinal, false);
	const RosterCapability *offer = usage_unfit_offer(choice, ordinal, false);
	Slice		text = need != NULL ? need->text : offer != NULL ? offer->id->text : SLICE_NONE;

	if (slice_present(text))
		appendStringInfo(words, "is not trusted for prod with %.*s", text.len, text.s);
	else
		appendStringInfoString(words, "has no capability that is trusted for prod");
}

static void
explain_tools(StringInfo words, const Choice *choice, int ordinal)
{
	const Need *need = usage_unmet_need(choice, ordinal, true);
	const RosterCapability *used = need != NULL ? usage_of_need(choice, need, ordinal, false) :
		usage_unfit_offer(choice, ordinal, true);
	const RosterWord *tool = usage_forbidden_tool(choice, used);

	if (need != NULL)
		appendStringInfo(words, "meets %.*s with ", need->text.len, need->text.s);
	else
		appendStringInfoString(words, "offers ");
	appendStringInfo(words, "%.*s, which uses %.*s: not in the allowlist",
					 used->id->text.len, used->id->text.s, tool->text.len, tool->text.s);
}

static void
explain_policy(StringInfo words, const Choice *choice, int ordinal)
{
	const Requirement *requirement = &choice->requirement;

	if (requirement->policy.sandbox && !roster_agent(choice->roster, ordinal)->card.sandbox)
		appendStringInfoString(words, "is not sandboxed");
	else
		appendStringInfoString(words, delegation_refusal(requirement, choice->roster, ordinal));
}

static void
explain_concurrency(StringInfo words, const RosterAgent *agent)
{
	AgentLoad	load;

	load_read(agent->agent_id, agent->card.max_concurrency, &load);
	appendStringInfo(words, "has %d of %d tasks", load.running, agent->card.max_concurrency);
}

static void
explain_breaker(StringInfo words, const Choice *choice, int ordinal)
{
	Breaker    *breakers;
	int			n = breaker_list(choice->roster, clock_now(), &breakers);
	int			i;

	for (i = 0; i < n; i++)
	{
		if (breakers[i].ordinal != ordinal)
			continue;
		appendStringInfo(words, "failed its last %d tasks or more, ", breakers[i].failures);
		if (breakers[i].state == BREAKER_OPEN)
			appendStringInfo(words, "gets no work until %s", clock_rfc3339(breakers[i].open_until));
		else
			appendStringInfo(words, "has as many tasks as an agent on trial may have (%d)", clutch_breaker_probes);
	}
}

static void
explain_budget(StringInfo words, const Choice *choice, const RosterAgent *agent)
{
	AgentSpending *agents;
	int			n = spending_read(choice->requirement.run_id, &agents);
	int			i;

	for (i = 0; i < n; i++)
		if (slice_equal(agents[i].agent_id, agent->agent_id))
			appendStringInfo(words, "has spent %s on the run",
							 amount_words(&agents[i].amount, &agent->card.max_amount));
}

static void
explain_status(StringInfo words, const RosterAgent *agent)
{
	if (slice_is(agent->agent_id, clutch_orchestrator))
		appendStringInfoString(words, "is the orchestrator, which does no tasks");
	else
		appendStringInfo(words, "is %s", agent_status_name(agent->status));
}

static void
explain_in_words(StringInfo words, const Choice *choice, Rejection rejection, int ordinal)
{
	const Requirement *requirement = &choice->requirement;
	const RosterAgent *agent = roster_agent(choice->roster, ordinal);
	Slice		paused;

	switch (rejection)
	{
		case REJECTED_RULE:
			explain_rule(words, choice, ordinal);
			break;
		case REJECTED_STATUS:
			explain_status(words, agent);
			break;
		case REJECTED_BREAKER:
			explain_breaker(words, choice, ordinal);
			break;
		case REJECTED_PAUSED:
			paused = filter_paused_capability(choice->roster, &requirement->requires);
			if (slice_present(paused))
				appendStringInfo(words, "is not given %.*s, which is paused", paused.len, paused.s);
			else
				appendStringInfoString(words, "is paused");
			break;
		case REJECTED_SCOPE:
			appendStringInfo(words, "does not work for %.*s",
							 requirement->scope.len, requirement->scope.s);
			break;
		case REJECTED_TRUST:
			explain_trust(words, choice, ordinal);
			break;
		case REJECTED_POLICY:
			explain_policy(words, choice, ordinal);
			break;
		case REJECTED_TOOLS:
			explain_tools(words, choice, ordinal);
			break;
		case REJECTED_NETWORK:
			if (agent->card.network >= requirement->policy.network)
				appendStringInfoString(words, "may reach none of the hosts that the request allows");
			else
				appendStringInfo(words, "has network %s; the request needs %s",
								 level_network[agent->card.network],
								 level_network[requirement->policy.network]);
			break;
		case REJECTED_BUDGET:
			explain_budget(words, choice, agent);
			break;
		case REJECTED_REQUIRES:
			explain_requires(words, choice, ordinal);
			break;
		case REJECTED_CONCURRENCY:
			explain_concurrency(words, agent);
			break;
		case REJECTED_NOT:
			break;
	}
}

Rejection
explain_rejection(const Choice *choice, int ordinal, char **detail)
{
	StringInfoData words;
	Rejection	filter;

	*detail = NULL;
	for (filter = FIRST_REJECTION; filter <= REJECTED_CONCURRENCY; filter++)
	{
		if (!agent_set_has(choice->left[filter], ordinal))
			break;
	}
	if (filter > REJECTED_CONCURRENCY)
		return REJECTED_NOT;
	initStringInfo(&words);
	explain_in_words(&words, choice, filter, ordinal);
	*detail = words.data;
	return filter;
}
