/*-------------------------------------------------------------------------
 *
 * envelope_orders.c
 *	  "meta.clutch", the only part of "meta" that the database acts on.
 *
 * The rest of "meta" belongs to the frameworks and is not read.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/number.h"
#include "protocol/envelope_part.h"
#include "protocol/limits.h"
#include "utils/timestamp.h"

#define ADVICE	"put a framework's own data into \"meta\", beside \"clutch\""

enum
{
	ORDER_JOIN,
	ORDER_MOVE,
	ORDER_STEP,
	ORDER_WAIT,
	ORDER_AFTER,
	ORDER_RETRY,
	ORDER_SCOPE,
	ORDER_USAGE,
	ORDER_BUDGET,
	ORDER_TTL_MS,
	ORDER_STEP_OF,
	ORDER_DEADLINE,
	ORDER_PRIORITY,
	ORDER_REPLY_TO,
	ORDER_WORKFLOW,
	ORDER_ANSWER_TO,
	ORDER_NOT_BEFORE,
	ORDER_VISIBILITY
};

static const Slice order_names[] = {
	FIELD("join"),
	FIELD("move"),
	FIELD("step"),
	FIELD("wait"),
	FIELD("after"),
	FIELD("retry"),
	FIELD("scope"),
	FIELD("usage"),
	FIELD("budget"),
	FIELD("ttl_ms"),
	FIELD("step_of"),
	FIELD("deadline"),
	FIELD("priority"),
	FIELD("reply_to"),
	FIELD("workflow"),
	FIELD("answer_to"),
	FIELD("not_before"),
	FIELD("visibility"),
};
static const FieldTable order_fields = FIELD_TABLE(order_names, ADVICE);

enum
{
	BUDGET_COST,
	BUDGET_DEPTH,
	BUDGET_TASKS,
	BUDGET_TOKENS
};

static const Slice budget_names[] = {
	FIELD("cost"),
	FIELD("depth"),
	FIELD("tasks"),
	FIELD("tokens"),
};
static const FieldTable budget_fields = FIELD_TABLE(budget_names, ADVICE);

enum
{
	USAGE_COST,
	USAGE_INPUT_TOKENS,
	USAGE_OUTPUT_TOKENS
};

static const Slice usage_names[] = {
	FIELD("cost"),
	FIELD("input_tokens"),
	FIELD("output_tokens"),
};
static const FieldTable usage_fields = FIELD_TABLE(usage_names, ADVICE);

enum
{
	STEP_NAME,
	STEP_OUTPUT
};

static const Slice step_names[] = {
	FIELD("name"),
	FIELD("output"),
};
static const FieldTable step_fields = FIELD_TABLE(step_names, ADVICE);

static const Slice meta_names[] = {
	FIELD("clutch"),
};
static const FieldTable meta_fields = FIELD_TABLE_OPEN(meta_names);

/* in the order of TaskMove, without its first member, MOVE_NONE */
static const char *const order_moves[] = {
	"released", "lease_expired", "retried", "answered", "joined", "lifted", "woken",
	"displaced", "unclaimed", "shared", "unregistered", "paused", "resumed", NULL
};

/* in the order of Visibility, without its first member, VISIBILITY_UNSAID */
static const char *const order_visibilities[] = {
	"public", "scope", "parent-only", "private", NULL
};

const char *
envelope_visibility_word(Visibility visibility)
{
	return order_visibilities[visibility - 1];
}

static void
envelope_read_budget(Fields *orders, Envelope *envelope)
{
	Budget	   *budget = &envelope->orders.budget;
	DocumentPlace place = fields_place(orders, ORDER_BUDGET);
	Fields		f;

	if (!fields_present(orders, ORDER_BUDGET) ||
		!fields_open(&f, &budget_fields, &orders->values[ORDER_BUDGET], &place, orders->list))
		return;
	budget->is_set = true;
	budget->amount.cost = fields_amount(&f, BUDGET_COST);
	budget->amount.tokens = amount_count(fields_amount(&f, BUDGET_TOKENS), -1);
	budget->tasks = amount_count(fields_amount(&f, BUDGET_TASKS), -1);
	budget->depth = amount_count(fields_amount(&f, BUDGET_DEPTH), -1);
}

static void
envelope_read_usage(Fields *orders, Envelope *envelope)
{
	Amount	   *usage = &envelope->orders.usage;
	DocumentPlace place = fields_place(orders, ORDER_USAGE);
	Fields		f;

	if (!fields_present(orders, ORDER_USAGE) ||
		!fields_open(&f, &usage_fields, &orders->values[ORDER_USAGE], &place, orders->list))
		return;
	envelope->orders.has_usage = true;
	usage->cost = fields_amount(&f, USAGE_COST);
	usage->tokens = amount_count(fields_amount(&f, USAGE_INPUT_TOKENS), 0) +
		amount_count(fields_amount(&f, USAGE_OUTPUT_TOKENS), 0);
}

/* Reads a step whose output, which may be any value, is to be stored. */
static void
envelope_read_step(Fields *orders, Envelope *envelope)
{
	DocumentPlace place = fields_place(orders, ORDER_STEP);
	Fields		f;

	if (!fields_present(orders, ORDER_STEP) ||
		!fields_open(&f, &step_fields, &orders->values[ORDER_STEP], &place, orders->list))
		return;
	envelope->orders.step = fields_text(&f, STEP_NAME, REQUIRED, TEXT_ID);
	if (fields_present(&f, STEP_OUTPUT))
		envelope->orders.output = f.values[STEP_OUTPUT];
}

static void
envelope_read_after(Fields *f, Envelope *envelope)
{
	SliceList  *after = &envelope->orders.after;
	DocumentPlace place = fields_place(f, ORDER_AFTER);
	DocumentPlace element = {&place, SLICE_NONE};
	int			i;

	fields_identifiers(f, ORDER_AFTER, OPTIONAL, ID_TASK, after);
	for (; element.index < after->n; element.index++)
	{
		Slice		task = after->items[element.index];

		if (!slice_present(task))
			continue;
		if (slice_equal(task, envelope->task_id))
			place_fault(&element, f->list, "WRONG_VALUE",
						"is the ID of the task itself; a task cannot wait for its own end.");
		for (i = 0; i < element.index && !slice_equal(task, after->items[i]); i++)
			;
		if (i < element.index)
			place_fault(&element, f->list, "DUPLICATE_VALUE",
						"has been named before; name each task once.");
	}
}

/*
 * Computes the deadline: "deadline", or "ts" plus "ttl_ms" if that is earlier.
 */
static void
envelope_read_deadline(Fields *f, Envelope *envelope)
{
	EnvelopeOrders *orders = &envelope->orders;
	int64		ttl_ms;

	orders->has_deadline = fields_time(f, ORDER_DEADLINE, OPTIONAL, &orders->deadline);
	if (orders->has_deadline && orders->deadline <= envelope->ts)
	{
		DocumentPlace place = fields_place(f, ORDER_DEADLINE);

		place_fault(&place, f->list, "WRONG_VALUE",
					"must be later than \"ts\", the time of the envelope itself.");
	}
	if (fields_integer(f, ORDER_TTL_MS, OPTIONAL, 1, LIMITS_TTL_MS, &ttl_ms))
	{
		TimestampTz end = envelope->ts + ttl_ms * 1000;

		if (!orders->has_deadline || end < orders->deadline)
			orders->deadline = end;
		orders->has_deadline = true;
	}
}

static void
envelope_read_orders(const JsonbValue *clutch, const DocumentPlace *place, Envelope *envelope,
					 ProblemList *list)
{
	EnvelopeOrders *orders = &envelope->orders;
	Fields		f;
	int64		priority;

	if (!fields_open(&f, &order_fields, clutch, place, list))
		return;
	envelope_read_deadline(&f, envelope);
	orders->has_not_before = fields_time(&f, ORDER_NOT_BEFORE, OPTIONAL, &orders->not_before);
	if (fields_integer(&f, ORDER_PRIORITY, OPTIONAL, 0, 4, &priority))
		orders->priority = priority;
	orders->scope = fields_identifier(&f, ORDER_SCOPE, OPTIONAL, ID_GROUP);
	orders->workflow = fields_identifier(&f, ORDER_WORKFLOW, OPTIONAL, ID_WORD);
	orders->step_of = fields_identifier(&f, ORDER_STEP_OF, OPTIONAL, ID_WORD);
	orders->visibility = fields_word(&f, ORDER_VISIBILITY, OPTIONAL, order_visibilities) + 1;
	orders->reply_to = fields_identifier(&f, ORDER_REPLY_TO, OPTIONAL, ID_MESSAGE);
	orders->answer_to = fields_identifier(&f, ORDER_ANSWER_TO, OPTIONAL, ID_MESSAGE);
	orders->move = fields_word(&f, ORDER_MOVE, OPTIONAL, order_moves) + 1;
	orders->join = suspension_read_children(&f, ORDER_JOIN);
	envelope_read_after(&f, envelope);
	retry_policy_read(&f, ORDER_RETRY, &orders->retry);
	envelope_read_budget(&f, envelope);
	envelope_read_usage(&f, envelope);
	suspension_read(&f, ORDER_WAIT, &orders->wait);
	envelope_read_step(&f, envelope);
}

void
envelope_read_meta(const JsonbValue *meta, const DocumentPlace *place, Envelope *envelope,
				   ProblemList *list)
{
	Fields		f;
	DocumentPlace clutch;

	if (!fields_open(&f, &meta_fields, meta, place, list) || !fields_present(&f, 0))
		return;
	clutch = fields_place(&f, 0);
	envelope_read_orders(&f.values[0], &clutch, envelope, list);
}
