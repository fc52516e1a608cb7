/*-------------------------------------------------------------------------
 *
 * routing_fn.c
 *	  clutch.route, clutch.explain_route, clutch.why, clutch.version_satisfies.
 *
 * These functions show which agent a request would go to, how well each agent fits it, and how
 * the log explains a past choice.  None of them has side effects.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/stratnum.h"
#include "api/result.h"
#include "api/visible.h"
#include "base/document.h"
#include "base/rows.h"
#include "flow/emission.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "protocol/envelope.h"
#include "protocol/level.h"
#include "protocol/place.h"
#include "routing/decision.h"
#include "routing/router.h"
#include "routing/rule.h"
#include "semver/version_range.h"
#include "store/event.h"
#include "task/task.h"
#include "task/verdict.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_route);
PG_FUNCTION_INFO_V1(clutch_explain_route);
PG_FUNCTION_INFO_V1(clutch_why);
PG_FUNCTION_INFO_V1(clutch_version_satisfies);
PG_FUNCTION_INFO_V1(clutch_roster_changed);

/* the columns of explain_route and why */
enum
{
	COLUMN_AGENT_ID,
	COLUMN_ELIGIBLE,
	COLUMN_REJECTED_BY,
	COLUMN_DETAIL,
	COLUMN_SCORE,
	COLUMN_LOAD,
	COLUMN_SUCCESS_RATE,
	COLUMN_RANK,
	NUM_COLUMNS
};

/* ------------------------------------------------------------------- rows */

static void
why_put_candidate(FunctionCallInfo fcinfo, Slice agent_id, Slice detail, double score,
			  double load, double success_rate, int rank)
{
	Datum		values[NUM_COLUMNS] = {0};
	bool		nulls[NUM_COLUMNS] = {false};

	result_text(values, nulls, COLUMN_AGENT_ID, agent_id);
	result_text(values, nulls, COLUMN_DETAIL, detail);
	nulls[COLUMN_REJECTED_BY] = true;
	values[COLUMN_ELIGIBLE] = BoolGetDatum(true);
	values[COLUMN_SCORE] = Float8GetDatum(score);
	values[COLUMN_LOAD] = Float8GetDatum(load);
	values[COLUMN_SUCCESS_RATE] = Float8GetDatum(success_rate);
	values[COLUMN_RANK] = Int32GetDatum(rank);
	result_put_row(fcinfo, values, nulls);
}

static void
why_put_rejected(FunctionCallInfo fcinfo, Slice agent_id, Slice rejected_by, Slice detail)
{
	Datum		values[NUM_COLUMNS] = {0};
	bool		nulls[NUM_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	result_text(values, nulls, COLUMN_AGENT_ID, agent_id);
	result_text(values, nulls, COLUMN_REJECTED_BY, rejected_by);
	result_text(values, nulls, COLUMN_DETAIL, detail);
	values[COLUMN_ELIGIBLE] = BoolGetDatum(false);
	nulls[COLUMN_ELIGIBLE] = false;
	result_put_row(fcinfo, values, nulls);
}

/* Puts an agent that gets the task without having been compared with others. */
static void
why_put_given(FunctionCallInfo fcinfo, Slice agent_id, Slice detail, int rank)
{
	Datum		values[NUM_COLUMNS] = {0};
	bool		nulls[NUM_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	result_text(values, nulls, COLUMN_AGENT_ID, agent_id);
	result_text(values, nulls, COLUMN_DETAIL, detail);
	values[COLUMN_ELIGIBLE] = BoolGetDatum(true);
	values[COLUMN_RANK] = Int32GetDatum(rank);
	nulls[COLUMN_ELIGIBLE] = nulls[COLUMN_RANK] = false;
	result_put_row(fcinfo, values, nulls);
}

/* Returns text as in "cost medium, last chosen by event 812". */
static Slice
why_candidate_detail(Slice cost, int64 last_chosen)
{
	char	   *words;

	if (last_chosen == 0)
		words = psprintf("cost %.*s, never chosen", cost.len, cost.s);
	else
		words = psprintf("cost %.*s, last chosen by event " INT64_FORMAT,
						 cost.len, cost.s, last_chosen);
	return slice_of_cstring(words);
}

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

/*
 * Reads a request.  The scope is the one that the request names, because its
 * run may not exist yet.  One that was admitted under other limits is judged,
 * too: clutch.stuck explains the requests of the log.
 */
static void
route_read_request(Jsonb *document, Envelope *envelope, Requirement *requirement)
{
	ProblemList *faults = problem_list_admitted();
	Envelope	judged;

	envelope_read_admitted(document, envelope, faults);
	if (faults->n == 0 && envelope->type != MSG_TASK_REQUEST)
		problem_add(faults, "/type", "WRONG_VALUE", "Only a task.request is routed.");
	if (faults->n > 0)
		problem_raise(faults, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	/* this also makes sure that we see changes made by others */
	(void) roster_get();
	judged = *envelope;
	/* do not let the rules reveal what was shared out in a run that the caller may not see */
	if (requirement_rule_notes(envelope) != NULL && !visible_run(envelope->run_id))
		judged.run_id = SLICE_NONE;
	rule_requirement_of(&judged, envelope->orders.scope, requirement);
	/* do not let the agents that a run can no longer afford reveal what a run has cost that the caller may not see */
	if (roster_limits_spending(roster_get()) && !visible_run(envelope->run_id))
		requirement->run_id = SLICE_NONE;
}

/* Returns the words that follow if a request is shared out among only the first of them, palloc'd. */
static char *
sharing_words_of_rest(int64 left_out)
{
	return psprintf(INT64_FORMAT " more are left out, because a request is shared out among at most %d",
					left_out, RULE_MOST_REQUESTS);
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
		appendStringInfo(&words, "; %s", sharing_words_of_rest(sharing->left_out));
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

/* Puts the agents and groups that get a child, followed by the agents that get none. */
static void
explain_sharing(FunctionCallInfo fcinfo, const Sharing *sharing, const Choice *choice)
{
	Slice		words = slice_of_cstring(route_sharing_words(sharing));

	for (int i = 0; i < sharing->among.n; i++)
		why_put_given(fcinfo, sharing->among.items[i], words, i + 1);
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
		explain_sharing(fcinfo, &sharing, choice);
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
		rejection = router_explain(&requirement, choice, i, &detail);
		if (rejection == REJECTED_NOT)
			continue;
		why_put_rejected(fcinfo, roster_agent(choice->roster, i)->agent_id,
					 slice_of_cstring(rejection_name(rejection)),
					 slice_of_cstring(detail));
		pfree(detail);
	}
	return (Datum) 0;
}

/* --------------------------------------------------------------------- why */

/* the last event that gave a task to an agent or to its children, or failed to */
typedef struct LoggedChoice
{
	int64		seq;			/* 0 if none was found */
	MessageType type;
	Jsonb	   *envelope;
} LoggedChoice;

/* Is it a request that names one agent?  This counts as a choice, too. */
static bool
why_is_direct_request(Jsonb *document)
{
	Envelope	envelope;
	Requirement requirement;

	envelope_read_admitted(document, &envelope, problem_list());
	requirement_of(&envelope, SLICE_NONE, &requirement);
	return requirement_is_direct(&requirement);
}

/* Does the event say that a rule has shared the task out? */
static bool
why_is_sharing(Jsonb *document)
{
	JsonbContainer *meta = document_get_container(&document->root, "meta");
	JsonbContainer *orders = document_get_container(meta, "clutch");

	return slice_equal(document_get_text(orders, "move"), SLICE_OF("shared"));
}

static LoggedChoice
why_find_choice(Slice task_id)
{
	LoggedChoice choice = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_ACTIVE, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int64		seq = rows_int8(&scan, Anum_event_seq);
		MessageType type = message_type_parse(rows_text(&scan, Anum_event_type));
		Jsonb	   *envelope;

		CHECK_FOR_INTERRUPTS();
		if (seq <= choice.seq ||
			(type != MSG_ROUTING_DECISION && type != MSG_ROUTING_FAILURE &&
			 type != MSG_TASK_REQUEST && type != MSG_TASK_PROGRESS))
			continue;
		envelope = rows_jsonb(&scan, Anum_event_envelope);
		if (type == MSG_TASK_REQUEST && !why_is_direct_request(envelope))
			continue;
		if (type == MSG_TASK_PROGRESS && !why_is_sharing(envelope))
			continue;
		choice = (LoggedChoice) {seq, type, envelope};
	}
	rows_end(&scan);
	return choice;
}

static void
why_put_chosen(FunctionCallInfo fcinfo, JsonbContainer *payload)
{
	Slice		selected = document_get_text(payload, "selected");
	DecisionCandidate *candidates;
	int			n = decision_candidates(payload, &candidates);

	for (int i = 0; i < n; i++)
	{
		const DecisionCandidate *one = &candidates[i];
		Slice		detail = slice_equal(one->agent_id, selected) ?
			document_get_text(payload, "reason") : why_candidate_detail(one->cost, one->last_chosen);

		why_put_candidate(fcinfo, one->agent_id, detail, one->score, one->load,
						  one->success_rate, i + 1);
	}
}

/* Puts the examples of agents rejected for one reason.  Returns their number. */
static int
why_put_examples(FunctionCallInfo fcinfo, JsonbContainer *rejected, const char *reason)
{
	JsonbContainer *tally = document_get_container(rejected, reason);
	JsonbContainer *agents = document_get_container(tally, "agents");
	int			n = agents != NULL ? JsonContainerSize(agents) : 0;
	int64		count = 0;

	(void) document_get_int(tally, "count", &count);
	for (int i = 0; i < n; i++)
	{
		JsonbValue *element = getIthJsonbValueFromContainer(agents, i);
		char	   *detail = psprintf("one of " INT64_FORMAT " rejected by %s", count, reason);

		why_put_rejected(fcinfo, (Slice) {element->val.string.val, element->val.string.len},
					 slice_of_cstring(reason), slice_of_cstring(detail));
	}
	return n;
}

static void
why_put_choice(FunctionCallInfo fcinfo, const LoggedChoice *choice)
{
	JsonbContainer *payload = document_get_container(&choice->envelope->root, "payload");
	JsonbContainer *rejected = document_get_container(payload, "rejected");
	Rejection	reason;
	int			shown = 0;

	if (choice->type == MSG_ROUTING_DECISION)
		why_put_chosen(fcinfo, payload);
	for (reason = FIRST_REJECTION; reason < NUM_REJECTIONS; reason++)
		shown += why_put_examples(fcinfo, rejected, rejection_name(reason));
	/* no agent was considered, so there is only the message */
	if (choice->type == MSG_ROUTING_FAILURE && shown == 0)
		why_put_rejected(fcinfo, SLICE_NONE, SLICE_NONE, document_get_text(payload, "message"));
}

static void
why_put_named(FunctionCallInfo fcinfo, const LoggedChoice *choice)
{
	Envelope	envelope;
	Requirement requirement;

	envelope_read_admitted(choice->envelope, &envelope, problem_list());
	requirement_of(&envelope, SLICE_NONE, &requirement);
	why_put_given(fcinfo, requirement.named.items[0], SLICE_OF("named by the request"), 1);
}

/* Puts one row for each child of a task that a rule has shared out. */
static void
why_put_shared(FunctionCallInfo fcinfo, const LoggedChoice *choice)
{
	JsonbContainer *payload = document_get_container(&choice->envelope->root, "payload");
	JsonbContainer *children = document_get_container(payload, "children");
	int			n = children != NULL && JsonContainerIsArray(children) ? JsonContainerSize(children) : 0;
	Slice		rule = document_get_text(payload, "rule");
	int64		left_out = 0;

	for (int i = 0; i < n; i++)
	{
		JsonbValue *child = getIthJsonbValueFromContainer(children, i);
		JsonbContainer *object = child->type == jbvBinary ? child->val.binary.data : NULL;
		Slice		task_id = document_get_text(object, "task_id");
		char	   *detail = psprintf("rule %.*s shared it out: child %.*s", rule.len, rule.s, task_id.len, task_id.s);

		why_put_given(fcinfo, document_get_text(object, "to"), slice_of_cstring(detail), i + 1);
	}
	if (document_get_int(payload, "left_out", &left_out))
		why_put_rejected(fcinfo, SLICE_NONE, slice_of_cstring(rejection_name(REJECTED_RULE)),
						 slice_of_cstring(sharing_words_of_rest(left_out)));
}

Datum
clutch_why(PG_FUNCTION_ARGS)
{
	Slice		task_id = slice_of_text(PG_GETARG_TEXT_PP(0));
	LoggedChoice choice;

	result_begin_rows(fcinfo);
	(void) visible_look_task(task_id);
	choice = why_find_choice(task_id);
	if (choice.seq == 0)
		return (Datum) 0;
	if (choice.type == MSG_TASK_REQUEST)
		why_put_named(fcinfo, &choice);
	else if (choice.type == MSG_TASK_PROGRESS)
		why_put_shared(fcinfo, &choice);
	else
		why_put_choice(fcinfo, &choice);
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
