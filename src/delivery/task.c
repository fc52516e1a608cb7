/*-------------------------------------------------------------------------
 *
 * task.c
 *	  The state of one unit of work: a row of clutch.task.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/guard.h"
#include "base/rows.h"
#include "catalog/pg_type.h"
#include "delivery/task.h"
#include "delivery/task_tree.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/timestamp.h"

/* columns of clutch.task */
enum
{
	Anum_task_id = 1, Anum_run_id, Anum_thread_id, Anum_parent_task_id,
	Anum_scope, Anum_depth, Anum_status, Anum_agent_id, Anum_past_agents,
	Anum_from_agent, Anum_attempt, Anum_priority, Anum_requires, Anum_domain,
	Anum_payload_type, Anum_waiting_for, Anum_code, Anum_detail, Anum_reason,
	Anum_slot_no, Anum_queue_no, Anum_queue_kind, Anum_request_seq,
	Anum_result_seq, Anum_progress_seq, Anum_since, Anum_next_at,
	Anum_lease_until, Anum_deadline, Anum_created_at, Anum_started_at,
	Anum_finished_at,
	Natts_task = Anum_finished_at
};

static const struct
{
	MessageType type;
	TaskStep	step;
}			steps_of_types[] = {
	{MSG_TASK_ACCEPT, STEP_ACCEPT},
	{MSG_TASK_PROGRESS, STEP_PROGRESS},
	{MSG_TASK_RESULT, STEP_RESULT},
	{MSG_TASK_ERROR, STEP_ERROR},
	{MSG_TASK_CANCEL, STEP_CANCEL},
	{MSG_TASK_TIMEOUT, STEP_TIMEOUT},
	{MSG_ROUTING_DECISION, STEP_ASSIGN},
	{MSG_ROUTING_FAILURE, STEP_FAIL_TO_ROUTE},
};

bool
task_step_of(MessageType type, TaskMove move, TaskStep *step)
{
	int			i;

	switch (move)
	{
		case MOVE_RELEASED:
			*step = STEP_RELEASE;
			return true;
		case MOVE_LEASE_EXPIRED:
			*step = STEP_LEASE_EXPIRED;
			return true;
		case MOVE_RETRIED:
			*step = STEP_RETRY;
			return true;
		case MOVE_NONE:
			break;
	}
	for (i = 0; i < lengthof(steps_of_types); i++)
		if (steps_of_types[i].type == type)
		{
			*step = steps_of_types[i].step;
			return true;
		}
	return false;
}

/* ------------------------------------------------------- row and structure */

/* a column of a row that was kept */
static Slice
text_of(const Datum *values, const bool *nulls, int attno)
{
	if (nulls[attno - 1])
		return SLICE_NONE;
	return slice_of_text(PG_DETOAST_DATUM_PACKED(values[attno - 1]));
}

static SliceList
list_of(const Datum *values, const bool *nulls, int attno)
{
	SliceList	list = {0, NULL};
	Datum	   *elements;
	int			i;

	if (nulls[attno - 1])
		return list;
	deconstruct_array(DatumGetArrayTypeP(values[attno - 1]), TEXTOID, -1, false,
					  TYPALIGN_INT, &elements, NULL, &list.n);
	list.items = palloc(sizeof(Slice) * Max(list.n, 1));
	for (i = 0; i < list.n; i++)
		list.items[i] = slice_of_text((struct varlena *) DatumGetPointer(elements[i]));
	return list;
}

/* numbers and times that have no value are 0 */
static int64
number_of(const Datum *values, const bool *nulls, int attno)
{
	return nulls[attno - 1] ? 0 : DatumGetInt64(values[attno - 1]);
}

static Task *
task_of_row(const RowScan *scan)
{
	Task	   *task = palloc0(sizeof(Task));
	Datum		v[Natts_task];
	bool		n[Natts_task];

	rows_keep(scan, v, n);
	task->tid = rows_tid(scan);
	task->task_id = text_of(v, n, Anum_task_id);
	task->run_id = text_of(v, n, Anum_run_id);
	task->thread_id = text_of(v, n, Anum_thread_id);
	task->parent_task_id = text_of(v, n, Anum_parent_task_id);
	task->scope = text_of(v, n, Anum_scope);
	task->depth = DatumGetInt32(v[Anum_depth - 1]);
	task->status = task_status_parse(text_of(v, n, Anum_status));
	task->agent_id = text_of(v, n, Anum_agent_id);
	task->past_agents = list_of(v, n, Anum_past_agents);
	task->from_agent = text_of(v, n, Anum_from_agent);
	task->attempt = DatumGetInt32(v[Anum_attempt - 1]);
	task->priority = DatumGetInt16(v[Anum_priority - 1]);
	task->requires = list_of(v, n, Anum_requires);
	task->domain = text_of(v, n, Anum_domain);
	task->payload_type = text_of(v, n, Anum_payload_type);
	task->waiting_for = text_of(v, n, Anum_waiting_for);
	task->code = text_of(v, n, Anum_code);
	task->detail = text_of(v, n, Anum_detail);
	task->reason = text_of(v, n, Anum_reason);
	task->slot_no = n[Anum_slot_no - 1] ? -1 : DatumGetInt32(v[Anum_slot_no - 1]);
	task->queue_no = number_of(v, n, Anum_queue_no);
	task->queue_kind = number_of(v, n, Anum_queue_kind);
	task->request_seq = number_of(v, n, Anum_request_seq);
	task->result_seq = number_of(v, n, Anum_result_seq);
	task->progress_seq = number_of(v, n, Anum_progress_seq);
	task->since = number_of(v, n, Anum_since);
	task->next_at = number_of(v, n, Anum_next_at);
	task->lease_until = number_of(v, n, Anum_lease_until);
	task->deadline = number_of(v, n, Anum_deadline);
	task->created_at = number_of(v, n, Anum_created_at);
	task->started_at = number_of(v, n, Anum_started_at);
	task->finished_at = number_of(v, n, Anum_finished_at);
	return task;
}

static void
put_text(Datum *values, bool *nulls, int attno, Slice value)
{
	nulls[attno - 1] = !slice_present(value);
	if (slice_present(value))
		values[attno - 1] = PointerGetDatum(slice_to_text(value));
}

static void
put_list(Datum *values, bool *nulls, int attno, SliceList list)
{
	Datum	   *elements;
	int			i;

	nulls[attno - 1] = list.n == 0;
	if (list.n == 0)
		return;
	elements = palloc(sizeof(Datum) * list.n);
	for (i = 0; i < list.n; i++)
		elements[i] = PointerGetDatum(slice_to_text(list.items[i]));
	values[attno - 1] = PointerGetDatum(construct_array(elements, list.n, TEXTOID,
														-1, false, TYPALIGN_INT));
}

static void
put_int8(Datum *values, bool *nulls, int attno, int64 value)
{
	nulls[attno - 1] = value == 0;
	values[attno - 1] = Int64GetDatum(value);
}

static void
task_form_row(const Task *task, Datum *values, bool *nulls)
{
	put_text(values, nulls, Anum_task_id, task->task_id);
	put_text(values, nulls, Anum_run_id, task->run_id);
	put_text(values, nulls, Anum_thread_id, task->thread_id);
	put_text(values, nulls, Anum_parent_task_id, task->parent_task_id);
	put_text(values, nulls, Anum_scope, task->scope);
	values[Anum_depth - 1] = Int32GetDatum(task->depth);
	put_text(values, nulls, Anum_status, slice_of_cstring(task_status_name(task->status)));
	put_text(values, nulls, Anum_agent_id, task->agent_id);
	put_list(values, nulls, Anum_past_agents, task->past_agents);
	put_text(values, nulls, Anum_from_agent, task->from_agent);
	values[Anum_attempt - 1] = Int32GetDatum(task->attempt);
	values[Anum_priority - 1] = Int16GetDatum(task->priority);
	put_list(values, nulls, Anum_requires, task->requires);
	put_text(values, nulls, Anum_domain, task->domain);
	put_text(values, nulls, Anum_payload_type, task->payload_type);
	put_text(values, nulls, Anum_waiting_for, task->waiting_for);
	put_text(values, nulls, Anum_code, task->code);
	put_text(values, nulls, Anum_detail, task->detail);
	put_text(values, nulls, Anum_reason, task->reason);
	nulls[Anum_slot_no - 1] = task->slot_no < 0;
	values[Anum_slot_no - 1] = Int32GetDatum(task->slot_no);
	put_int8(values, nulls, Anum_queue_no, task->queue_no);
	put_int8(values, nulls, Anum_queue_kind, task->queue_kind);
	values[Anum_request_seq - 1] = Int64GetDatum(task->request_seq);
	put_int8(values, nulls, Anum_result_seq, task->result_seq);
	put_int8(values, nulls, Anum_progress_seq, task->progress_seq);
	values[Anum_since - 1] = TimestampTzGetDatum(task->since);
	put_int8(values, nulls, Anum_next_at, task->next_at);
	put_int8(values, nulls, Anum_lease_until, task->lease_until);
	put_int8(values, nulls, Anum_deadline, task->deadline);
	values[Anum_created_at - 1] = TimestampTzGetDatum(task->created_at);
	put_int8(values, nulls, Anum_started_at, task->started_at);
	put_int8(values, nulls, Anum_finished_at, task->finished_at);
}

/* ----------------------------------------------------- finding and locking */

static Task *
find(Slice task_id, RowSnapshot which, bool lock, bool wait)
{
	RowScan		scan;
	Task	   *task = NULL;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK, which,
			   lock ? RowExclusiveLock : AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	if (rows_next(&scan) && (!lock || rows_lock(&scan, wait) == ROW_LOCKED))
		task = task_of_row(&scan);
	rows_end(&scan);
	return task;
}

Task *
task_look(Slice task_id, RowSnapshot which)
{
	return find(task_id, which, false, false);
}

/*
 * A task whose first request is not committed yet is waited for: the event
 * at hand names the same task, so this blocks nobody else.
 */
static void
await_creator(Slice task_id)
{
	for (;;)
	{
		TransactionId creator = InvalidTransactionId;
		RowScan		scan;

		rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_DIRTY, RowExclusiveLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
		rows_start(&scan);
		if (rows_next(&scan))
			creator = scan.dirty.xmin;
		rows_end(&scan);
		if (!TransactionIdIsValid(creator))
			return;
		rows_await(creator);
	}
}

Task *
task_lock(Slice task_id, bool wait)
{
	Task	   *task = find(task_id, ROWS_LATEST, true, wait);

	if (task == NULL && wait)
	{
		await_creator(task_id);
		task = find(task_id, ROWS_LATEST, true, true);
	}
	return task;
}

Task *
task_await(Slice task_id)
{
	await_creator(task_id);
	return find(task_id, ROWS_LATEST, false, false);
}

int
task_depth_below(Slice parent_task_id)
{
	Task	   *parent = slice_present(parent_task_id) ? task_look(parent_task_id, ROWS_LATEST) : NULL;

	if (parent != NULL)
		return parent->depth + 1;
	return slice_present(parent_task_id) ? 1 : 0;
}

bool
task_run_has_any(Slice run_id)
{
	RowScan		scan;
	bool		any;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_RUN_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	any = rows_next(&scan);
	rows_end(&scan);
	return any;
}

/* ---------------------------------------------------------------- creating */

static void
fill_from_request(Task *task, const Envelope *request, int64 seq, TimestampTz at)
{
	task->task_id = request->task_id;
	task->run_id = request->run_id;
	task->thread_id = request->thread_id;
	task->parent_task_id = request->parent_task_id;
	task->status = TASK_PENDING;
	task->from_agent = request->from_agent;
	task->attempt = 1;
	task->priority = request->orders.priority;
	task->requires = request->requires;
	task->domain = request->domain;
	task->payload_type = request->payload_type;
	task->reason = SLICE_OF("new");
	task->slot_no = -1;
	task->request_seq = seq;
	task->since = at;
	task->created_at = at;
	/* 0, the first instant of 2000, stands for none */
	if (request->orders.has_deadline)
		task->deadline = request->orders.deadline != 0 ? request->orders.deadline : 1;
}

Task *
task_create(const Envelope *request, Slice scope, int depth, int64 seq, TimestampTz at)
{
	Datum		values[Natts_task] = {0};
	bool		nulls[Natts_task] = {0};
	Task	   *task = palloc0(sizeof(Task));
	uint64		guard = guard_key(GUARD_TASK, request->task_id, SLICE_NONE, 0);

	fill_from_request(task, request, seq, at);
	task->scope = scope;
	task->depth = depth;

	for (;;)
	{
		TransactionId in_doubt = InvalidTransactionId;
		bool		exists;
		RowScan		scan;

		guard_take(guard);
		rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_DIRTY, RowExclusiveLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, request->task_id);
		rows_start(&scan);
		exists = rows_next(&scan);
		if (exists)
			in_doubt = scan.dirty.xmin;
		rows_end(&scan);
		if (!exists)
			break;
		guard_release(guard);
		if (!TransactionIdIsValid(in_doubt))
			return NULL;
		rows_await(in_doubt);
	}
	task_form_row(task, values, nulls);
	task->tid = rows_insert(TABLE_TASK, values, nulls);
	guard_release(guard);
	return task;
}

void
task_save(Task *task)
{
	Datum		values[Natts_task] = {0};
	bool		nulls[Natts_task] = {0};

	task_form_row(task, values, nulls);
	rows_update(TABLE_TASK, &task->tid, values, nulls);
}

/* ------------------------------------------------------------------ moving */

bool
task_was_with(const Task *task, Slice agent_id)
{
	int			i;

	if (slice_equal(task->agent_id, agent_id))
		return true;
	for (i = 0; i < task->past_agents.n; i++)
		if (slice_equal(task->past_agents.items[i], agent_id))
			return true;
	return false;
}

/* the last of past_agents is the last that had it; each stands there once */
static void
remember_agent(Task *task)
{
	Slice	   *items = palloc(sizeof(Slice) * (task->past_agents.n + 1));
	int			n = 0;
	int			i;

	for (i = 0; i < task->past_agents.n; i++)
		if (!slice_equal(task->past_agents.items[i], task->agent_id))
			items[n++] = task->past_agents.items[i];
	items[n++] = task->agent_id;
	task->past_agents.items = items;
	task->past_agents.n = n;
}

/* the agent loses the task: what it still reports is of an older attempt */
static void
take_from_agent(Task *task)
{
	if (slice_present(task->agent_id))
		remember_agent(task);
	task->agent_id = SLICE_NONE;
	task->attempt++;
	task->reason = SLICE_OF("moved");
}

static void
apply_assign(Task *task, const TaskEvent *event)
{
	/* handed over while somebody had it */
	if (task->status != TASK_PENDING)
		take_from_agent(task);
	task->agent_id = event->agent;
	task->waiting_for = SLICE_NONE;
	task->code = SLICE_NONE;
	task->detail = SLICE_NONE;
}

static void
apply_end(Task *task, const TaskEvent *event)
{
	if (event->step == STEP_RESULT || event->step == STEP_ERROR)
		task->result_seq = event->seq;
	if (task->started_at == 0 && slice_present(task->agent_id) &&
		(event->step == STEP_RESULT || event->step == STEP_ERROR))
		task->started_at = event->at;
	task->code = event->code;
	task->detail = event->detail;
	task->waiting_for = SLICE_NONE;
	task->finished_at = event->at;
}

static void
apply_retry(Task *task)
{
	take_from_agent(task);
	task->reason = SLICE_OF("retry");
	task->code = SLICE_NONE;
	task->detail = SLICE_NONE;
	task->result_seq = 0;
	task->finished_at = 0;
	task->started_at = 0;
	/* the old deadline has passed, or was set for the first try */
	task->deadline = 0;
}

bool
task_apply(Task *task, const TaskEvent *event)
{
	TaskStatus	to;

	if (!transition_find(task->status, event->step, &to))
		return false;
	switch (event->step)
	{
		case STEP_ASSIGN:
			apply_assign(task, event);
			break;
		case STEP_FAIL_TO_ROUTE:
			task->code = event->code;
			task->detail = event->detail;
			task->waiting_for = slice_equal(event->code, SLICE_OF("NO_CAPACITY")) ?
				SLICE_OF("capacity") : SLICE_OF("agent");
			break;
		case STEP_PROGRESS:
			task->progress_seq = event->seq;
			/* FALLTHROUGH */
		case STEP_ACCEPT:
			if (task->started_at == 0)
				task->started_at = event->at;
			break;
		case STEP_RELEASE:
		case STEP_LEASE_EXPIRED:
			take_from_agent(task);
			break;
		case STEP_RETRY:
			apply_retry(task);
			break;
		case STEP_RESULT:
		case STEP_ERROR:
		case STEP_CANCEL:
		case STEP_TIMEOUT:
			apply_end(task, event);
			break;
	}
	if (to != task->status || event->step == STEP_ASSIGN)
		task->since = event->at;
	task->status = to;
	return true;
}

/* ------------------------------------------------------------------- lists */

void
task_read_node(const RowScan *scan, TaskNode *node)
{
	Datum		v[Natts_task];
	bool		n[Natts_task];

	rows_keep(scan, v, n);
	memset(node, 0, sizeof(*node));
	node->task_id = text_of(v, n, Anum_task_id);
	node->parent_task_id = text_of(v, n, Anum_parent_task_id);
	node->status = slice_of_cstring(task_status_name(task_status_parse(text_of(v, n, Anum_status))));
	node->agent_id = text_of(v, n, Anum_agent_id);
	node->domain = text_of(v, n, Anum_domain);
	node->payload_type = text_of(v, n, Anum_payload_type);
	node->attempt = DatumGetInt32(v[Anum_attempt - 1]);
	node->request_seq = number_of(v, n, Anum_request_seq);
	node->created_at = number_of(v, n, Anum_created_at);
	node->started_at = number_of(v, n, Anum_started_at);
	node->finished_at = number_of(v, n, Anum_finished_at);
}

List *
task_list_ids(void)
{
	List	   *ids = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Slice	   *id = palloc(sizeof(Slice));

		*id = slice_copy(rows_text(&scan, Anum_task_id));
		ids = lappend(ids, id);
	}
	rows_end(&scan);
	return ids;
}
