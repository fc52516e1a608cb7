/*-------------------------------------------------------------------------
 *
 * decision.c
 *	  The payloads of routing.decision and routing.failure.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/decision.h"

#include <math.h>

#include "base/document.h"
#include "lib/stringinfo.h"
#include "protocol/level.h"
#include "routing/tiebreak.h"
#include "settings.h"
#include "utils/numeric.h"

/* ---------------------------------------------------------------- in words */

/* "[skill:research, tool:browser]" */
static void
say_list(StringInfo words, const SliceList *list)
{
	int			i;

	for (i = 0; i < list->n; i++)
		appendStringInfo(words, "%s%.*s", i == 0 ? "[" : ", ",
						 list->items[i].len, list->items[i].s);
	appendStringInfoChar(words, ']');
}

/* the best of the others */
static const Candidate *
runner_up(const Choice *choice, int selected)
{
	return selected + 1 < choice->ncandidates ? &choice->candidates[selected + 1] : NULL;
}

static char *
reason_of(const Requirement *requirement, const Choice *choice, int selected)
{
	const Candidate *other = runner_up(choice, selected);
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
		say_list(&words, &requirement->requires);
	}
	else
		appendStringInfoString(&words, "nothing required");
	appendStringInfo(&words, ", %s", other == NULL ? "only candidate" :
					 tiebreak_words(&choice->candidates[selected], other,
									requirement->avoid));
	return words.data;
}

static char *
failure_message(const Requirement *requirement, const Choice *choice)
{
	StringInfoData words;

	initStringInfo(&words);
	if (strcmp(choice->failure, "NO_CAPABLE_AGENT") == 0 && requirement->requires.n == 0)
		appendStringInfoString(&words, "no agent is registered");
	else if (strcmp(choice->failure, "NO_CAPABLE_AGENT") == 0)
	{
		appendStringInfoString(&words, "no agent has everything required: ");
		say_list(&words, &requirement->requires);
	}
	else if (strcmp(choice->failure, "NO_CAPACITY") == 0)
		appendStringInfo(&words, "agents that could take it have all the tasks they take at once: %d",
						 choice->rejected[REJECTED_CONCURRENCY].count);
	else if (strcmp(choice->failure, "NO_AGENT_AVAILABLE") == 0)
		appendStringInfoString(&words, requirement_is_direct(requirement) ?
							   "the agent named by the request is not available" :
							   "no agent that could take it is available");
	else
		appendStringInfoString(&words, "no agent that could take it is allowed to by the policy of the request");
	return words.data;
}

/* ---------------------------------------------------------------- payloads */

static void
put_rejected(DocumentBuilder *b, const Choice *choice)
{
	Rejection	reason;
	int			i;

	document_open_object(b, "rejected");
	for (reason = REJECTED_STATUS; reason < NUM_REJECTIONS; reason++)
	{
		const RejectionTally *tally = &choice->rejected[reason];

		if (tally->count == 0)
			continue;
		document_open_object(b, rejection_name(reason));
		document_put_int(b, "count", tally->count);
		document_open_array(b, "agents");
		for (i = 0; i < tally->nexamples; i++)
			document_add_text(b, roster_agent(choice->roster, tally->examples[i])->agent_id);
		document_close_array(b);
		document_close_object(b);
	}
	document_close_object(b);
}

/*
 * A score, load or rate to six places.  Printing a double and reading it back
 * as numeric, for each of twenty candidates, would cost more than the choice.
 */
static JsonbValue
share_value(double share)
{
	int64		millionths = (int64) rint(share * 1000000);
	int			scale = 6;
	JsonbValue	value;

	for (; scale > 0 && millionths % 10 == 0; scale--)
		millionths /= 10;
	value.type = jbvNumeric;
	value.val.numeric = int64_div_fast_to_numeric(millionths, scale);
	return value;
}

static void
put_share(DocumentBuilder *b, const char *key, double share)
{
	JsonbValue	value = share_value(share);

	document_put_value(b, key, &value);
}

/* keys in jsonb's own order, by length, which spares it sorting them */
static void
put_detail(DocumentBuilder *b, const Candidate *candidate)
{
	document_open_object(b, NULL);
	document_put_cstring(b, "cost", level_cost[candidate->cost]);
	put_share(b, "load", candidate->load);
	put_share(b, "score", candidate->score);
	document_put_text(b, "agent_id", candidate->agent_id);
	document_put_int(b, "last_chosen", candidate->last_chosen);
	put_share(b, "success_rate", candidate->success_rate);
	document_close_object(b);
}

/* the best ones, the selected always among them */
static int
candidates_to_name(const Choice *choice, int selected, const Candidate **named)
{
	int			n = Min(choice->ncandidates, clutch_decision_candidates);
	int			i;

	for (i = 0; i < n; i++)
		named[i] = &choice->candidates[i];
	if (selected >= n)
		named[n - 1] = &choice->candidates[selected];
	return n;
}

Jsonb *
decision_payload(const Requirement *requirement, const Choice *choice,
				 int selected, Slice request_id, int attempt)
{
	const Candidate **named = palloc(clutch_decision_candidates * sizeof(Candidate *));
	int			n = candidates_to_name(choice, selected, named);
	DocumentBuilder b;
	int			i;

	document_begin(&b);
	document_put_cstring(&b, "reason", reason_of(requirement, choice, selected));
	document_open_object(&b, "scores");
	for (i = 0; i < n; i++)
		put_share(&b, slice_cstring(named[i]->agent_id), named[i]->score);
	document_close_object(&b);
	document_put_int(&b, "attempt", attempt);
	document_open_array(&b, "details");
	for (i = 0; i < n; i++)
		put_detail(&b, named[i]);
	document_close_array(&b);
	document_put_text(&b, "request", request_id);
	put_rejected(&b, choice);
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
	document_put_cstring(&b, "code", choice->failure);
	document_put_bool(&b, "retryable", choice->retryable);
	document_put_cstring(&b, "message", failure_message(requirement, choice));
	document_put_text(&b, "request", request_id);
	put_rejected(&b, choice);
	return document_end(&b);
}
