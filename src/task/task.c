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
#include "base/wait.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "settings.h"
#include "task/task.h"
#include "task/task_row.h"
#include "utils/timestamp.h"

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
		case MOVE_ANSWERED:
			*step = STEP_ANSWER;
			return true;
		case MOVE_JOINED:
			*step = STEP_JOIN;
			return true;
		case MOVE_LIFTED:
			*step = STEP_LIFT;
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

/* ----------------------------------------------------- finding and locking */

static Task *
find(Slice task_id, RowSnapshot which)
{
	RowScan		scan;
	Task	   *task = NULL;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK, which, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	if (rows_next(&scan))
		task = task_row_read(&scan);
	rows_end(&scan);
	return task;
}

static Task *
find_and_lock(Slice task_id, RowLockMode mode, bool wait)
{
	RowScan		scan;
	Task	   *task = NULL;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	if (rows_next(&scan) && rows_lock(&scan, mode, wait) == ROW_LOCKED)
		task = task_row_read(&scan);
	rows_end(&scan);
	return task;
}

Task *
task_look(Slice task_id, RowSnapshot which)
{
	return find(task_id, which);
}

/*
 * A task whose first request is not committed yet is waited for: the event
 * at hand names the same task, so this blocks nobody else.  Answers whether
 * it is there.
 */
static bool
await_creator(Slice task_id)
{
	for (;;)
	{
		TransactionId creator;
		RowScan		scan;

		rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_DIRTY, RowExclusiveLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
		if (!rows_look(&scan, &creator))
			return false;
		if (!TransactionIdIsValid(creator))
			return true;
		wait_for_transaction(creator);
	}
}

Task *
task_lock_requested(Slice task_id)
{
	return await_creator(task_id) ? find_and_lock(task_id, ROW_LOCK_CHANGE, true) : NULL;
}

static Task *
lock(Slice task_id, RowLockMode mode, bool wait)
{
	Task	   *task = find_and_lock(task_id, mode, wait);

	if (task == NULL && wait)
	{
		(void) await_creator(task_id);
		task = find_and_lock(task_id, mode, true);
	}
	return task;
}

Task *
task_lock(Slice task_id, bool wait)
{
	return lock(task_id, ROW_LOCK_CHANGE, wait);
}

Task *
task_name(Slice task_id)
{
	return lock(task_id, ROW_LOCK_NAME, true);
}

/*
 * The parent is told of the end: ancestors are locked before descendants.
 * One that nobody has requested yet is told nothing, and keeps no task from
 * its end.
 */
static Task *
lock_with_parent(Slice task_id, RowLockMode mode, bool wait)
{
	Task	   *task = find(task_id, ROWS_LATEST);

	if (task != NULL && task->join != JOIN_NONE && slice_present(task->parent_task_id) &&
		lock(task->parent_task_id, ROW_LOCK_CHANGE, wait) == NULL && !wait &&
		(find(task->parent_task_id, ROWS_LATEST) != NULL || task_is_moving(task->parent_task_id)))
		return NULL;
	return lock(task_id, mode, wait);
}

Task *
task_lock_to_end(Slice task_id, bool wait)
{
	return lock_with_parent(task_id, ROW_LOCK_CHANGE, wait);
}

Task *
task_lock_to_cancel(Slice task_id)
{
	return lock_with_parent(task_id, ROW_LOCK_END, true);
}

Task *
task_await(Slice task_id)
{
	(void) await_creator(task_id);
	return find(task_id, ROWS_LATEST);
}

bool
task_is_moving(Slice task_id)
{
	bool		moves = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_DIRTY, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	while (!moves && rows_next(&scan))
		moves = TransactionIdIsValid(rows_in_doubt(&scan));
	rows_end(&scan);
	return moves;
}

int
task_depth_below(Slice parent_task_id)
{
	Task	   *parent = slice_present(parent_task_id) ? task_look(parent_task_id, ROWS_LATEST) : NULL;

	if (parent != NULL)
		return parent->depth + 1;
	return slice_present(parent_task_id) ? TASK_DEPTH_UNKNOWN : 0;
}

Slice
task_child_elsewhere(Slice task_id, Slice run_id, bool *any)
{
	Slice		child = SLICE_NONE;
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_PARENT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	*any = false;
	while (!slice_present(child) && rows_next(&scan))
	{
		*any = true;
		if (!slice_equal(rows_text(&scan, Anum_task_run_id), run_id))
			child = slice_copy(rows_text(&scan, Anum_task_task_id));
	}
	rows_end(&scan);
	return child;
}

bool
task_run_has_any(Slice run_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_RUN_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	return rows_look(&scan, NULL);
}

bool
task_is_among_first(const Task *task, int64 n)
{
	int64		found = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_RUN_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->run_id);
	rows_start(&scan);
	while (found <= n && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (rows_int8(&scan, Anum_task_request_seq) <= task->request_seq)
			found++;
	}
	rows_end(&scan);
	return found <= n;
}

/* ---------------------------------------------------------------- creating */

/* 0, the first instant of 2000, stands for none */
static TimestampTz
some_time(TimestampTz time)
{
	return time != 0 ? time : 1;
}

TimestampTz
task_default_deadline(TimestampTz from)
{
	return clutch_default_deadline == 0 ? 0 :
		TimestampTzPlusMilliseconds(from, (int64) clutch_default_deadline * 1000);
}

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
	task->join = request->orders.join;
	task->requires = request->requires;
	task->domain = request->domain;
	task->payload_type = request->payload_type;
	task->reason = SLICE_OF("new");
	task->slot_no = -1;
	task->request_seq = seq;
	task->since = at;
	task->created_at = at;
	if (request->orders.has_not_before && request->orders.not_before > at)
	{
		task->wake_at = some_time(request->orders.not_before);
		task->waiting_for = SLICE_OF("time");
	}
	task->deadline = request->orders.has_deadline ? some_time(request->orders.deadline) :
		task_default_deadline(Max(at, task->wake_at));
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
		TransactionId creator;
		RowScan		scan;

		guard_take(guard);
		rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_DIRTY, RowExclusiveLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, request->task_id);
		if (!rows_look(&scan, &creator))
			break;
		guard_release(guard);
		if (!TransactionIdIsValid(creator))
			return NULL;
		wait_for_transaction(creator);
	}
	task_row_form(task, values, nulls);
	task->tid = rows_insert(TABLE_TASK, values, nulls);
	guard_release(guard);
	return task;
}

static uint64 changes = 0;

uint64
task_changes(void)
{
	return changes;
}

void
task_save(Task *task)
{
	Datum		values[Natts_task] = {0};
	bool		nulls[Natts_task] = {0};

	task_row_form(task, values, nulls);
	rows_update(TABLE_TASK, &task->tid, values, nulls);
	changes++;
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

bool
task_is_held(const Task *task)
{
	return task->status == TASK_PENDING &&
		(slice_equal(task->waiting_for, SLICE_OF("time")) ||
		 slice_equal(task->waiting_for, SLICE_OF("retry")) ||
		 slice_equal(task->waiting_for, SLICE_OF("sibling")));
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

/* by itself after an error (wake_at says when), or revived by somebody */
static void
apply_retry(Task *task, const TaskEvent *event)
{
	take_from_agent(task);
	task->reason = SLICE_OF("retry");
	task->result_seq = 0;
	task->finished_at = 0;
	task->started_at = 0;
	if (event->wake_at != 0)
	{
		task->retries++;
		task->waiting_for = SLICE_OF("retry");
		return;
	}
	task->retries = 0;
	task->losses = 0;
	task->code = SLICE_NONE;
	task->detail = SLICE_NONE;
	/* the old deadline has passed, or was set for the first try */
	task->deadline = event->deadline;
}

/* what a step says beside the status */
static void
apply_step(Task *task, const TaskEvent *event)
{
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
		case STEP_PARK:
			task->question_seq = event->seq;
			task->waiting_for = SLICE_OF("human");
			/* FALLTHROUGH */
		case STEP_PROGRESS:
			task->progress_seq = event->seq;
			/* FALLTHROUGH */
		case STEP_ACCEPT:
			if (task->started_at == 0)
				task->started_at = event->at;
			break;
		case STEP_LEASE_EXPIRED:
			task->losses++;
			/* FALLTHROUGH */
		case STEP_RELEASE:
			take_from_agent(task);
			break;
		case STEP_JOIN:
			task->joined_seq = event->seq;
			break;
		case STEP_LIFT:
			task->priority = event->priority;
			break;
		case STEP_ANSWER:
			take_from_agent(task);
			task->reason = SLICE_OF("resumed");
			task->answer_seq = event->answer_seq;
			task->waiting_for = SLICE_NONE;
			break;
		case STEP_RETRY:
			apply_retry(task, event);
			break;
		case STEP_RESULT:
		case STEP_ERROR:
		case STEP_CANCEL:
		case STEP_TIMEOUT:
			apply_end(task, event);
			break;
	}
}

bool
task_apply(Task *task, const TaskEvent *event)
{
	TaskStatus	to;

	if (!transition_find(task->status, event->step, &to))
		return false;
	apply_step(task, event);
	if (to != task->status || event->step == STEP_ASSIGN)
		task->since = event->at;
	if (to != task->status || event->step == STEP_PARK || event->step == STEP_FAIL_TO_ROUTE)
		task->wake_at = event->wake_at;
	task->status = to;
	return true;
}

/* ------------------------------------------------------------------- lists */

typedef struct Place
{
	int			depth;
	Slice		task_id;
} Place;

static int
compare_places(const ListCell *a, const ListCell *b)
{
	const Place *x = lfirst(a);
	const Place *y = lfirst(b);

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return slice_compare(x->task_id, y->task_id);
}

List *
task_list_of_run(Slice run_id)
{
	List	   *places = NIL;
	ListCell   *cell;
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_RUN_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Place	   *place = palloc(sizeof(Place));

		place->depth = rows_int4(&scan, Anum_task_depth);
		place->task_id = slice_copy(rows_text(&scan, Anum_task_task_id));
		places = lappend(places, place);
	}
	rows_end(&scan);
	list_sort(places, compare_places);
	foreach(cell, places)
		lfirst(cell) = &((Place *) lfirst(cell))->task_id;
	return places;
}

List *
task_list_live(int64 *n)
{
	List	   *ids = NIL;
	RowScan		scan;

	*n = 0;
	rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		(*n)++;
		if (!task_status_is_over(task_status_parse(rows_text(&scan, Anum_task_status))))
			ids = slice_list_add(ids, rows_text(&scan, Anum_task_task_id));
	}
	rows_end(&scan);
	return ids;
}
