/*-------------------------------------------------------------------------
 *
 * why_fn.c
 *	  clutch.why.
 *
 * This function shows how the log explains a past choice.  It has no side effects.
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
#include "miscadmin.h"
#include "protocol/envelope.h"
#include "routing/decision.h"
#include "routing/rule.h"
#include "store/event.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_why);

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

void
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

void
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

void
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

Slice
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

char *
why_words_of_rest(int64 left_out)
{
	return psprintf(INT64_FORMAT " more are left out, because a request is shared out among at most %d",
					left_out, RULE_MOST_REQUESTS);
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

		why_put_rejected(fcinfo, document_text(element),
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

/*
 * Puts a child of a task that a rule has shared out.  Its recipient may not be
 * able to do it, and then it waits.
 */
static void
why_put_child(FunctionCallInfo fcinfo, Slice rule, Slice task_id, Slice to, int rank)
{
	char	   *detail = psprintf("rule %.*s shared it out: child %.*s", rule.len, rule.s, task_id.len, task_id.s);
	LoggedChoice choice = why_find_choice(task_id);
	Slice		message;

	if (choice.type != MSG_ROUTING_FAILURE)
	{
		why_put_given(fcinfo, to, slice_of_cstring(detail), rank);
		return;
	}
	message = document_get_text(document_get_container(&choice.envelope->root, "payload"), "message");
	why_put_rejected(fcinfo, to, SLICE_NONE,
					 slice_of_cstring(psprintf("%s: %.*s", detail, message.len, message.s)));
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

		CHECK_FOR_INTERRUPTS();
		why_put_child(fcinfo, rule, document_get_text(object, "task_id"), document_get_text(object, "to"), i + 1);
	}
	if (document_get_int(payload, "left_out", &left_out))
		why_put_rejected(fcinfo, SLICE_NONE, slice_of_cstring(rejection_name(REJECTED_RULE)),
						 slice_of_cstring(why_words_of_rest(left_out)));
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
