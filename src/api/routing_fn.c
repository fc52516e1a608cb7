/*-------------------------------------------------------------------------
 *
 * routing_fn.c
 *	  clutch.route, clutch.explain_route, clutch.version_satisfies.
 *
 * These functions show which agent a request would go to, and how well each agent fits it.  None of
 * them has side effects.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/stratnum.h"
#include "api/result.h"
#include "api/visible.h"
#include "api/why_fn.h"
#include "base/document.h"
#include "base/rows.h"
#include "flow/emission.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "protocol/envelope.h"
#include "protocol/level.h"
#include "protocol/place.h"
#include "routing/decision.h"
#include "routing/explain.h"
#include "routing/router.h"
#include "routing/rule.h"
#include "semver/version_range.h"
#include "store/event.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_route);
PG_FUNCTION_INFO_V1(clutch_explain_route);
PG_FUNCTION_INFO_V1(clutch_version_satisfies);
PG_FUNCTION_INFO_V1(clutch_roster_changed);

/* ---------------------------------------------------- route, explain_route */

/* Returns text as in "cost low, never chosen; rules urgent, research". */
static Slice
explain_candidate_detail(const Candidate *candidate, const Requirement *requirement)
{
	Slice		detail = why_candidate_detail(slice_of_cstring(level_cost[candidate->cost]),
										 candidate->last_chosen);
	char	   *rules = requirement_rule_names(requirement);

	if (rules == NULL)
		return detail;
	return slice_of_cstring(psprintf("%.*s; %s %s", detail.len, detail.s,
									 requirement->nrules == 1 ? "rule" : "rules", rules));
}

/* Fills in the requirement, without what the caller must not learn from it. */
static void
route_judge(const Envelope *envelope, Slice scope, Requirement *requirement)
{
	Envelope	judged = *envelope;

	/* do not let the rules reveal what was shared out in a run that the caller may not see */
	if (requirement_rule_notes(envelope) != NULL && !visible_run(envelope->run_id))
		judged.run_id = SLICE_NONE;
	rule_requirement_of(&judged, scope, requirement);
	/* which agents have spent what they may on the run would reveal its costs to a caller who may not see it */
	if (roster_limits_spending(roster_get()) && !visible_run(envelope->run_id))
		requirement->run_id = SLICE_NONE;
}

/*
 * Reads a request.  The scope is the one that the request names, because its
 * run may not exist yet.  One that was admitted under other limits is judged,
 * too: clutch.stuck explains the requests of the log.
 */
static void
route_read_request(Jsonb *document, Envelope *envelope, Requirement *requirement)
{
	ProblemList *faults = problem_list_admitted();

	envelope_read_admitted(document, envelope, faults);
	if (faults->n == 0 && envelope->type != MSG_TASK_REQUEST)
		problem_add(faults, "/type", "WRONG_VALUE", "Only a task.request is routed.");
	if (faults->n > 0)
		problem_raise(faults, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	/* this also makes sure that we see changes made by others */
	(void) roster_get();
	route_judge(envelope, envelope->orders.scope, requirement);
}

/* Returns text as in "rule several shares it out among agent:a, agent:b". */
static char *
route_sharing_words(const Sharing *sharing)
{
	StringInfoData words;

	initStringInfo(&words);
	appendStringInfo(&words, "rule %.*s shares it out among", sharing->rule.len, sharing->rule.s);
	for (int i = 0; i < sharing->among.n; i++)
		appendStringInfo(&words, "%s %.*s", i > 0 ? "," : "", sharing->among.items[i].len,
						 sharing->among.items[i].s);
	if (sharing->left_out > 0)
		appendStringInfo(&words, "; %s", why_words_of_rest(sharing->left_out));
	return words.data;
}

static Jsonb *
route_sharing_payload(const Sharing *sharing, Slice request_id)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "reason", route_sharing_words(sharing));
	document_put_text(&b, "request", request_id);
	document_open_array(&b, "rules");
	for (int i = 0; i < sharing->rules.n; i++)
		document_add_text(&b, sharing->rules.items[i]);
	document_close_array(&b);
	document_open_array(&b, "shared");
	for (int i = 0; i < sharing->among.n; i++)
		document_add_text(&b, sharing->among.items[i]);
	document_close_array(&b);
	if (sharing->left_out > 0)
		document_put_int(&b, "left_out", sharing->left_out);
	return document_end(&b);
}

Datum
clutch_route(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = PG_GETARG_JSONB_P(0);
	Envelope	envelope;
	Requirement requirement;
	Sharing		sharing;
	Choice	   *choice;

	route_read_request(document, &envelope, &requirement);
	if (emission_would_share(&envelope, &requirement, &sharing))
		PG_RETURN_JSONB_P(route_sharing_payload(&sharing, envelope.id));
	choice = router_choose(&requirement);
	if (choice->failure != ROUTING_SUCCEEDED)
		PG_RETURN_JSONB_P(failure_payload(&requirement, choice, envelope.id));
	PG_RETURN_JSONB_P(decision_payload(&requirement, choice, 0, envelope.id,
									   envelope.attempt));
}

/*
 * Returns why the child for this recipient would wait or be refused, palloc'd,
 * or NULL if an agent would get it.  Sets the filter that an agent has failed.
 */
static char *
explain_child_wait(const Envelope *request, const Requirement *requirement, const Sharing *sharing, int n,
				   Slice *rejected_by)
{
	Slice		to = sharing->among.items[n];
	ProblemList *faults = problem_list_admitted();
	Envelope	child;
	Requirement of_child;
	Choice	   *choice;
	int			ordinal;
	char	   *detail;
	Slice		message;

	*rejected_by = SLICE_NONE;
	envelope_read_admitted(emission_would_request(request, requirement, sharing, n), &child, faults);
	if (faults->n > 0)
		return psprintf("its child would be refused: %s: %s", faults->items[0].path, faults->items[0].message);
	route_judge(&child, requirement->scope, &of_child);
	choice = router_choose(&of_child);
	if (choice->failure == ROUTING_SUCCEEDED)
		return NULL;
	ordinal = roster_find(choice->roster, to);
	if (ordinal >= 0)
	{
		*rejected_by = slice_of_cstring(rejection_name(explain_rejection(choice, ordinal, &detail)));
		return psprintf("its child would wait, because it %s", detail);
	}
	message = document_get_text(&failure_payload(&of_child, choice, child.id)->root, "message");
	return psprintf("its child would wait: %.*s", message.len, message.s);
}

/* Puts the agents and groups that get a child, followed by the agents that get none. */
static void
explain_sharing(FunctionCallInfo fcinfo, const Envelope *request, const Sharing *sharing, const Choice *choice)
{
	Slice		words = slice_of_cstring(route_sharing_words(sharing));

	for (int i = 0; i < sharing->among.n; i++)
	{
		Slice		rejected_by;
		char	   *wait = explain_child_wait(request, &choice->requirement, sharing, i, &rejected_by);

		CHECK_FOR_INTERRUPTS();
		if (wait == NULL)
			why_put_given(fcinfo, sharing->among.items[i], words, i + 1);
		else
			why_put_rejected(fcinfo, sharing->among.items[i], rejected_by,
							 slice_of_cstring(psprintf("%.*s; %s", words.len, words.s, wait)));
	}
	for (int i = 0; i < roster_size(choice->roster); i++)
	{
		Slice		agent_id = roster_agent(choice->roster, i)->agent_id;

		CHECK_FOR_INTERRUPTS();
		if (!slices_have(sharing->among, agent_id) && router_looked_at(choice, i))
			why_put_rejected(fcinfo, agent_id, slice_of_cstring(rejection_name(REJECTED_RULE)), words);
	}
}

Datum
clutch_explain_route(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = PG_GETARG_JSONB_P(0);
	Envelope	envelope;
	Requirement requirement;
	Sharing		sharing;
	Choice	   *choice;

	result_begin_rows(fcinfo);
	route_read_request(document, &envelope, &requirement);
	choice = router_choose(&requirement);
	if (emission_would_share(&envelope, &requirement, &sharing))
	{
		explain_sharing(fcinfo, &envelope, &sharing, choice);
		return (Datum) 0;
	}
	router_rank_all(choice);
	for (int i = 0; i < choice->ncandidates; i++)
	{
		const Candidate *candidate = &choice->candidates[i];

		why_put_candidate(fcinfo, candidate->agent_id,
					  explain_candidate_detail(candidate, &requirement),
					  candidate->score, candidate->load, candidate->success_rate, i + 1);
	}
	for (int i = 0; i < roster_size(choice->roster); i++)
	{
		Rejection	rejection;
		char	   *detail;

		CHECK_FOR_INTERRUPTS();
		if (!router_looked_at(choice, i))
			continue;
		rejection = explain_rejection(choice, i, &detail);
		if (rejection == REJECTED_NOT)
			continue;
		why_put_rejected(fcinfo, roster_agent(choice->roster, i)->agent_id,
					 slice_of_cstring(rejection_name(rejection)),
					 slice_of_cstring(detail));
		pfree(detail);
	}
	return (Datum) 0;
}

/* ---------------------------------------------------------------- versions */

static Slice
argument_range(FunctionCallInfo fcinfo, int n, const char *name)
{
	Slice		text = argument_text(fcinfo, n, name);

	if (!version_range_valid(text))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(name, "WRONG_FORMAT"),
				 errmsg("%s is neither a version nor a range of versions", place_quote(text)),
				 errhint("Write versions and ranges as in npm: 1.2.3, ^1.0, >=1 <3, 1.x, 1.2 - 2.")));
	return text;
}

Datum
clutch_version_satisfies(PG_FUNCTION_ARGS)
{
	Slice		offered = argument_range(fcinfo, 0, "offered");
	Slice		asked = argument_range(fcinfo, 1, "asked");

	PG_RETURN_BOOL(version_range_meets(offered, asked));
}

/* ----------------------------------------------------------------- triggers */

/* Tells all backends, which cache the members of groups, that SQL has changed them. */
Datum
clutch_roster_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "roster_changed");
	roster_invalidate();
	PG_RETURN_POINTER(NULL);
}
