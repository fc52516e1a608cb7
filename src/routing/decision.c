/*-------------------------------------------------------------------------
 *
 * decision.c
 *	  Payloads of routing.decision and routing.failure.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/decision.h"

#include <math.h>

#include "base/document.h"
#include "lib/stringinfo.h"
#include "protocol/level.h"
#include "routing/delegation.h"
#include "routing/tiebreak.h"
#include "settings.h"
#include "store/visibility.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

/* ---------------------------------------------------------------- in words */

/* Appends a list, as in "[skill:research, tool:browser]". */
static void
decision_say_list(StringInfo words, const SliceList *list)
{
	int			i;

	for (i = 0; i < list->n; i++)
		appendStringInfo(words, "%s%.*s", i == 0 ? "[" : ", ",
						 list->items[i].len, list->items[i].s);
	appendStringInfoChar(words, ']');
}

/*
 * Returns what distinguishes the selected candidate.  Unless it is the best
 * one, it was selected because it was looking for work, or because it is the
 * best of those that have not let the task pass.
 */
static const char *
decision_distinction(const Requirement *requirement, const Choice *choice, int selected)
{
	if (selected > 0)
		return requirement->looks ? "looked for work" : "best that has not had it";
	if (choice->ncandidates == 1)
		return "only candidate";
	return tiebreak_words(&choice->candidates[0], &choice->candidates[1], choice->avoided);
}

/* Appends the names of the rules, as in "; rules urgent, research". */
static void
decision_say_rules(StringInfo words, const Requirement *requirement)
{
	char	   *names = requirement_rule_names(requirement);

	if (names != NULL)
		appendStringInfo(words, "; %s %s", requirement->nrules == 1 ? "rule" : "rules", names);
}

static char *
decision_reason_of(const Requirement *requirement, const Choice *choice, int selected)
{
	StringInfoData words;

	initStringInfo(&words);
	if (requirement->resumes)
	{
		appendStringInfoString(&words, "it asked, and goes on with the answer");
		return words.data;
	}
	if (requirement_is_direct(requirement))
	{
		appendStringInfoString(&words, "named by the request");
		return words.data;
	}
	if (requirement->requires.n > 0)
	{
		appendStringInfoString(&words, "matched requires");
		decision_say_list(&words, &requirement->requires);
	}
	else
		appendStringInfoString(&words, "nothing required");
	appendStringInfo(&words, ", %s", decision_distinction(requirement, choice, selected));
	decision_say_rules(&words, requirement);
	return words.data;
}

/* Are there no agents to choose from because of the rules? */
static bool
decision_is_by_rules(const Choice *choice)
{
	return choice->ruled != choice->looked_at && agent_set_count(choice->ruled) == 0 &&
		agent_set_count(choice->looked_at) > 0;
}

/*
 * Says who has denied the agents.  This is more often the cards of the agents
 * and of the sender than the policy of the request, and the cards cannot be
 * seen in the request.
 */
static void
decision_say_denial(StringInfo words, const Requirement *requirement, const Choice *choice)
{
	const RejectionTally *tally = &choice->rejected[REJECTED_POLICY];

	for (int i = 0; i < tally->nexamples; i++)
	{
		Slice		agent = roster_agent(choice->roster, tally->examples[i])->agent_id;
		const char *refusal = delegation_refusal(requirement, choice->roster, tally->examples[i]);

		if (*refusal == '\0')
			continue;
		appendStringInfo(words, "no agent that could take it may have it: %.*s %s", agent.len, agent.s, refusal);
		return;
	}
	appendStringInfoString(words, "no agent that could take it is allowed to by the policy of the request");
}

/*
 * Tells a recipient that is away from one that nobody has registered: only the
 * latter can be a slip of the pen.
 */
static void
decision_say_absence(StringInfo words, const Requirement *requirement, const Choice *choice)
{
	bool		is_registered = agent_set_count(choice->looked_at) > 0;

	if (requirement_is_direct(requirement))
	{
		Slice		agent = requirement->named.items[0];

		appendStringInfo(words, "\"%.*s\", which the request names, is not %s", agent.len, agent.s,
						 is_registered ? "available" : "registered");
	}
	else
		appendStringInfoString(words, is_registered ? "no agent that could take it is available" :
							   "the request names only agents that are not registered, or groups without members");
}

static void
decision_say_failure(StringInfo words, const Requirement *requirement, const Choice *choice)
{
	switch (choice->failure)
	{
		case NO_CAPABLE_AGENT:
			if (requirement->requires.n == 0)
				appendStringInfoString(words, "no agent is registered");
			else
			{
				appendStringInfoString(words, "no agent has everything required: ");
				decision_say_list(words, &requirement->requires);
			}
			break;
		case NO_CAPACITY:
			appendStringInfo(words, "agents that could take it have all the tasks they take at once: %d",
							 choice->rejected[REJECTED_CONCURRENCY].count);
			break;
		case NO_AGENT_AVAILABLE:
			if (decision_is_by_rules(choice))
				appendStringInfoString(words, requirement->named.n + requirement->groups.n > 0 ?
									   "rules leave none of the agents that the request names; change the rules, or let the request name nobody" :
									   "rules leave no agent that is registered; change the rules, or register an agent that they allow");
			else
				decision_say_absence(words, requirement, choice);
			break;
		case POLICY_DENIED:
			decision_say_denial(words, requirement, choice);
			break;
		case ROUTING_SUCCEEDED:
			break;
	}
}

static char *
decision_failure_message(const Requirement *requirement, const Choice *choice)
{
	StringInfoData words;

	initStringInfo(&words);
	decision_say_failure(&words, requirement, choice);
	decision_say_rules(&words, requirement);
	return words.data;
}

/* ---------------------------------------------------------------- payloads */

/*
 * Returns how many of the agents that are rejected for one reason are named.
 * The participants of a parent-only run are not told who has spent how much.
 */
static int
decision_count_named(const Choice *choice, Rejection reason)
{
	if (reason == REJECTED_BUDGET && visibility_is_in_use() &&
		visibility_of_run(choice->requirement.run_id, ROWS_LATEST) == VISIBILITY_PARENT_ONLY)
		return 0;
	return choice->rejected[reason].nexamples;
}

static void
decision_put_rejected(DocumentBuilder *b, const Choice *choice)
{
	Rejection	reason;
	int			n;
	int			i;

	document_open_object(b, "rejected");
	for (reason = FIRST_REJECTION; reason < NUM_REJECTIONS; reason++)
	{
		const RejectionTally *tally = &choice->rejected[reason];

		if (tally->count == 0)
			continue;
		document_open_object(b, rejection_name(reason));
		document_put_int(b, "count", tally->count);
		document_open_array(b, "agents");
		n = decision_count_named(choice, reason);
		for (i = 0; i < n; i++)
			document_add_text(b, roster_agent(choice->roster, tally->examples[i])->agent_id);
		document_close_array(b);
		document_close_object(b);
	}
	document_close_object(b);
}

/* a score, load or rate to six places */
#define SHARE_SCALE		6

static void
decision_add_share(DocumentBuilder *b, double share)
{
	document_add_decimal(b, (int64) rint(share * 1000000), SHARE_SCALE);
}

/*
 * Compares in jsonb's order of keys.  Ordinals are in the byte order of the
 * names.
 */
static int
decision_compare_names(const void *a, const void *b)
{
	const Candidate *x = *(const Candidate *const *) a;
	const Candidate *y = *(const Candidate *const *) b;

	return x->agent_id.len != y->agent_id.len ? x->agent_id.len - y->agent_id.len :
		x->ordinal - y->ordinal;
}

static void
decision_put_scores(DocumentBuilder *b, const Candidate **named, int n)
{
	const Candidate **sorted = palloc(n * sizeof(Candidate *));
	int			i;

	memcpy(sorted, named, n * sizeof(Candidate *));
	qsort(sorted, n, sizeof(Candidate *), decision_compare_names);
	document_open_object(b, "scores");
	for (i = 0; i < n; i++)
	{
		document_key(b, sorted[i]->agent_id);
		decision_add_share(b, sorted[i]->score);
	}
	document_close_object(b);
}

static void
decision_put_details(DocumentBuilder *b, const Candidate **named, int n)
{
	int			i;

	document_open_object(b, "details");
	document_open_array(b, "cost");
	for (i = 0; i < n; i++)
		document_add_text(b, slice_of_cstring(level_cost[named[i]->cost]));
	document_close_array(b);
	document_open_array(b, "load");
	for (i = 0; i < n; i++)
		decision_add_share(b, named[i]->load);
	document_close_array(b);
	document_open_array(b, "last_chosen");
	for (i = 0; i < n; i++)
		document_add_int(b, named[i]->last_chosen);
	document_close_array(b);
	document_open_array(b, "success_rate");
	for (i = 0; i < n; i++)
		decision_add_share(b, named[i]->success_rate);
	document_close_array(b);
	document_close_object(b);
}

/*
 * Collects the best candidates, and the selected one even if it is not among
 * them.  Returns their number.
 */
static int
decision_candidates_to_name(const Choice *choice, int selected, const Candidate **named)
{
	int			n = Min(choice->ncandidates, clutch_decision_candidates);
	int			i;

	for (i = 0; i < n; i++)
		named[i] = &choice->candidates[i];
	if (selected >= n)
		named[n - 1] = &choice->candidates[selected];
	return n;
}

static void
decision_put_rules(DocumentBuilder *b, const Requirement *requirement)
{
	if (requirement->nrules == 0)
		return;
	document_open_array(b, "rules");
	for (int i = 0; i < requirement->nrules; i++)
		document_add_text(b, requirement->rules[i].name);
	document_close_array(b);
}

static void
decision_put_priority(DocumentBuilder *b, const Requirement *requirement)
{
	if (requirement->priority >= 0)
		document_put_int(b, "priority", requirement->priority);
}

/* Keys are added in jsonb's own order, by length, which saves sorting them. */
Jsonb *
decision_payload(const Requirement *requirement, const Choice *choice,
				 int selected, Slice request_id, int attempt)
{
	const Candidate **named = palloc(clutch_decision_candidates * sizeof(Candidate *));
	int			n = decision_candidates_to_name(choice, selected, named);
	DocumentBuilder b;
	int			i;

	document_begin(&b);
	decision_put_rules(&b, requirement);
	document_put_cstring(&b, "reason", decision_reason_of(requirement, choice, selected));
	decision_put_scores(&b, named, n);
	document_put_int(&b, "attempt", attempt);
	decision_put_details(&b, named, n);
	document_put_text(&b, "request", request_id);
	decision_put_priority(&b, requirement);
	decision_put_rejected(&b, choice);
	document_put_text(&b, "selected", choice->candidates[selected].agent_id);
	document_open_array(&b, "candidates");
	for (i = 0; i < n; i++)
		document_add_text(&b, named[i]->agent_id);
	document_close_array(&b);
	return document_end(&b);
}

Jsonb *
failure_payload(const Requirement *requirement, const Choice *choice, Slice request_id)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "code", routing_failure_name(choice->failure));
	decision_put_rules(&b, requirement);
	document_put_cstring(&b, "message", decision_failure_message(requirement, choice));
	document_put_text(&b, "request", request_id);
	decision_put_priority(&b, requirement);
	decision_put_rejected(&b, choice);
	document_put_bool(&b, "retryable", routing_failure_is_retryable(choice->failure));
	return document_end(&b);
}

/* ----------------------------------------------------------------- reading */

static double
decision_double_of(const JsonbValue *value)
{
	if (value->type != jbvNumeric)
		return 0;
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(value->val.numeric)));
}

/*
 * Gets the i-th value of a column of the details.  Returns false if there is
 * none.
 */
static bool
decision_get_detail(JsonbContainer *details, const char *column, int i, JsonbValue *value)
{
	JsonbContainer *array = document_get_container(details, column);
	JsonbValue *element;

	if (array == NULL || !JsonContainerIsArray(array) || i >= JsonContainerSize(array))
		return false;
	element = getIthJsonbValueFromContainer(array, i);
	*value = *element;
	return true;
}

int
decision_candidates(JsonbContainer *payload, DecisionCandidate **candidates)
{
	JsonbContainer *ids = document_get_container(payload, "candidates");
	JsonbContainer *scores = document_get_container(payload, "scores");
	JsonbContainer *details = document_get_container(payload, "details");
	int			n = ids != NULL && JsonContainerIsArray(ids) ? JsonContainerSize(ids) : 0;
	int			i;

	*candidates = palloc0(n * sizeof(DecisionCandidate));
	for (i = 0; i < n; i++)
	{
		DecisionCandidate *one = &(*candidates)[i];
		JsonbValue *id = getIthJsonbValueFromContainer(ids, i);
		JsonbValue	value;

		if (id->type != jbvString)
			continue;
		one->agent_id = document_text(id);
		if (document_get(scores, slice_cstring(one->agent_id), &value))
			one->score = decision_double_of(&value);
		if (decision_get_detail(details, "load", i, &value))
			one->load = decision_double_of(&value);
		if (decision_get_detail(details, "success_rate", i, &value))
			one->success_rate = decision_double_of(&value);
		if (decision_get_detail(details, "cost", i, &value))
			one->cost = document_text(&value);
		if (decision_get_detail(details, "last_chosen", i, &value))
			one->last_chosen = (int64) decision_double_of(&value);
	}
	return n;
}
