/*-------------------------------------------------------------------------
 *
 * task.c
 *	  Tasks, the units of work: rows of clutch.task.
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
#include "store/event.h"
#include "task/task.h"
#include "task/task_place.h"
#include "task/task_row.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* ----------------------------------------------------- finding and locking */

static void
task_scan(RowScan *scan, Slice task_id, RowSnapshot which, LOCKMODE lock)
{
	rows_begin(scan, TABLE_TASK, INDEX_TASK, which, lock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, task_id);
}

Task *
task_look(Slice task_id, RowSnapshot which)
{
	RowScan		scan;
	Task	   *task = NULL;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK, which, AccessShareLock);
	if (task_place_find(&scan, task_id))
		task = task_row_read(&scan);
	rows_end(&scan);
	return task;
}

Jsonb *
task_request(Task *task)
{
	MemoryContext old;

	if (task->request == NULL)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(task));
		task->request = event_read(task->request_seq, ROWS_LATEST);
		MemoryContextSwitchTo(old);
	}
	return task->request;
}

/*
 * Returns NULL if there is no row, or if another transaction has locked it and
 * wait is false.
 */
static Task *
task_lock_row(Slice task_id, bool wait, bool *busy)
{
	RowScan		scan;
	Task	   *task = NULL;

	*busy = false;
	rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_LATEST, RowExclusiveLock);
	if (task_place_find(&scan, task_id))
	{
		RowLock		result = rows_lock(&scan, ROW_LOCK_CHANGE, wait);

		if (result == ROW_LOCKED)
			task = task_row_read(&scan);
		*busy = result == ROW_BUSY;
	}
	rows_end(&scan);
	return task;
}

/*
 * Waits for an open transaction that has requested the task.  Returns whether
 * the task exists.
 */
static bool
task_await_request(Slice task_id)
{
	for (;;)
	{
		TransactionId creator;
		RowScan		scan;

		task_scan(&scan, task_id, ROWS_DIRTY, RowExclusiveLock);
		if (!rows_look(&scan, &creator))
			return false;
		if (!TransactionIdIsValid(creator))
			return true;
		wait_for_transaction(creator);
	}
}

Task *
task_lock(Slice task_id)
{
	bool		busy;
	Task	   *task = task_lock_row(task_id, true, &busy);

	if (task == NULL && task_await_request(task_id))
		task = task_lock_row(task_id, true, &busy);
	return task;
}

Task *
task_lock_requested(Slice task_id)
{
	bool		busy;

	return task_await_request(task_id) ? task_lock_row(task_id, true, &busy) : NULL;
}

Task *
task_lock_now(Slice task_id, bool *busy)
{
	Task	   *task = task_lock_row(task_id, false, busy);

	if (task == NULL && !*busy)
		(void) task_sight(task_id, busy);
	return task;
}

bool
task_is_locked(Slice task_id)
{
	bool		is_locked;
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_LATEST, AccessShareLock);
	is_locked = task_place_find(&scan, task_id) && rows_is_locked(&scan);
	rows_end(&scan);
	return is_locked;
}

Task *
task_await(Slice task_id)
{
	(void) task_await_request(task_id);
	return task_look(task_id, ROWS_LATEST);
}

/*
 * A version that another transaction is inserting does not count yet; one that
 * it is replacing still does.
 */
Task *
task_sight(Slice task_id, bool *in_doubt)
{
	Task	   *task = NULL;
	RowScan		scan;

	*in_doubt = false;
	task_scan(&scan, task_id, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		if (TransactionIdIsValid(rows_in_doubt(&scan)))
			*in_doubt = true;
		if (!rows_is_being_inserted(&scan))
			task = task_row_read(&scan);
	}
	rows_end(&scan);
	return task;
}

/* --------------------------------------------------------------- relations */

static void
task_scan_children(RowScan *scan, Slice task_id, RowSnapshot which)
{
	rows_begin(scan, TABLE_TASK, INDEX_TASK_PARENT, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, task_id);
}

static void
task_scan_run(RowScan *scan, Slice run_id, RowSnapshot which)
{
	rows_begin(scan, TABLE_TASK, INDEX_TASK_RUN_ID, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, run_id);
}

List *
task_list_children(Slice task_id, RowSnapshot which)
{
	RowScan		scan;

	task_scan_children(&scan, task_id, which);
	return rows_list_texts(&scan, Anum_task_task_id);
}

Slice
task_child_elsewhere(Slice task_id, Slice run_id, bool *any)
{
	Slice		child = SLICE_NONE;
	RowScan		scan;

	*any = false;
	task_scan_children(&scan, task_id, ROWS_DIRTY);
	rows_start(&scan);
	while (!slice_present(child) && rows_next(&scan))
	{
		*any = true;
		if (!slice_equal(rows_text(&scan, Anum_task_run_id), run_id))
			child = rows_text_copy(&scan, Anum_task_task_id);
	}
	rows_end(&scan);
	return child;
}

int
task_depth_below(Slice parent_task_id)
{
	Task	   *parent;

	if (!slice_present(parent_task_id))
		return 0;
	parent = task_look(parent_task_id, ROWS_LATEST);
	return parent != NULL ? parent->depth + 1 : TASK_DEPTH_UNKNOWN;
}

bool
task_run_has_any(Slice run_id)
{
	RowScan		scan;

	task_scan_run(&scan, run_id, ROWS_LATEST);
	return rows_look(&scan, NULL);
}

/* Begins with the newest tasks, because one that is not over is probably among them. */
bool
task_run_is_over(Slice run_id, bool *has_tasks)
{
	bool		over = true;
	RowScan		scan;

	*has_tasks = false;
	task_scan_run(&scan, run_id, ROWS_DIRTY);
	rows_start(&scan);
	while (over && rows_previous(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		*has_tasks = true;
		over = task_status_is_over(task_row_status(&scan));
	}
	rows_end(&scan);
	return over;
}

bool
task_is_open(Slice task_id)
{
	bool		is_open;
	RowScan		scan;

	task_scan(&scan, task_id, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	is_open = rows_next(&scan) && !task_status_is_over(task_row_status(&scan));
	rows_end(&scan);
	return is_open;
}

int64
task_count_requested(Slice run_id, int64 after, int64 upto, int64 most, RowSnapshot which, int64 *last)
{
	int64		n = 0;
	RowScan		scan;

	task_scan_run(&scan, run_id, which);
	rows_key_int8(&scan, 2, BTGreaterStrategyNumber, after);
	rows_key_int8(&scan, 2, BTLessEqualStrategyNumber, upto);
	rows_start(&scan);
	while (n < most && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		*last = rows_int8(&scan, Anum_task_request_seq);
		n++;
	}
	rows_end(&scan);
	return n;
}

bool
task_was_with(const Task *task, Slice agent_id)
{
	return slice_equal(task->agent_id, agent_id) || slices_have(task->past_agents, agent_id);
}

bool
task_is_held(const Task *task)
{
	return task->status == TASK_PENDING &&
		(task->waiting_for == WAITING_FOR_TIME || task->waiting_for == WAITING_FOR_RETRY ||
		 task_awaits_others(task));
}

/* ---------------------------------------------------------------- creating */

/* Avoids 0, the first instant of the year 2000, which stands for "none". */
static TimestampTz
task_some_time(TimestampTz time)
{
	return time != 0 ? time : 1;
}

TimestampTz
task_default_deadline(TimestampTz from)
{
	return clutch_default_deadline == 0 ? 0 :
		TimestampTzPlusMilliseconds(from, (int64) clutch_default_deadline * 1000);
}

Task *
task_of_request(const Envelope *request, Slice scope, int depth, int64 seq, TimestampTz at)
{
	Task	   *task = palloc0(sizeof(Task));

	task->task_id = request->task_id;
	task->run_id = request->run_id;
	task->thread_id = request->thread_id;
	task->parent_task_id = request->parent_task_id;
	task->scope = scope;
	task->depth = depth;
	task->status = TASK_PENDING;
	task->from_agent = request->from_agent;
	task->attempt = 1;
	task->priority = request->orders.priority;
	task->asked_priority = -1;
	task->join = request->orders.join;
	task->requires = request->requires;
	task->domain = request->domain;
	task->payload_type = request->payload_type;
	task->is_traced = request->trace != NULL;
	task->trace = request->trace;
	task->limits_tools = request->policy.has_allowlist || request->policy.has_egress;
	task->reason = CLAIM_NEW;
	task->wait_count = JOIN_NONE;
	task->slot_no = -1;
	task->request_seq = seq;
	task->since = at;
	task->created_at = at;
	if (request->orders.has_not_before && request->orders.not_before > at)
	{
		task->wake_at = task_some_time(request->orders.not_before);
		task->waiting_for = WAITING_FOR_TIME;
	}
	task->deadline = request->orders.has_deadline ? task_some_time(request->orders.deadline) :
		task_default_deadline(Max(at, task->wake_at));
	return task;
}

bool
task_insert_guarded(Task *task)
{
	uint64		guard = guard_key(GUARD_TASK, task->task_id, SLICE_NONE, 0);

	for (;;)
	{
		TransactionId creator;
		RowScan		scan;

		guard_take(guard);
		if (rows_lacks_text(TABLE_TASK, INDEX_TASK, RowExclusiveLock, task->task_id))
			break;
		task_scan(&scan, task->task_id, ROWS_DIRTY, RowExclusiveLock);
		if (!rows_look(&scan, &creator))
			break;
		guard_release(guard);
		if (!TransactionIdIsValid(creator))
			return false;
		wait_for_transaction(creator);
	}
	task_insert(task);
	guard_release(guard);
	return true;
}

Task *
task_create(const Envelope *request, Slice scope, int depth, int64 seq, TimestampTz at)
{
	Task	   *task = task_of_request(request, scope, depth, seq, at);

	return task_insert_guarded(task) ? task : NULL;
}

void
task_insert(Task *task)
{
	Datum		values[Natts_task] = {0};
	bool		nulls[Natts_task] = {0};

	task_row_form(task, values, nulls);
	task->tid = rows_insert(TABLE_TASK, values, nulls);
	task_place_note(task->task_id, task->tid);
}

void
task_forget(Task *task)
{
	rows_delete(TABLE_TASK, &task->tid);
}

void
task_save(Task *task)
{
	task_row_update(task);
}

/* ------------------------------------------------------------------- lists */

typedef struct TaskInRun
{
	int			depth;
	Slice		task_id;
} TaskInRun;

/* Compares: ancestors first, then by ID. */
static int
task_compare_in_run(const ListCell *a, const ListCell *b)
{
	const TaskInRun *x = lfirst(a);
	const TaskInRun *y = lfirst(b);

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return slice_compare(x->task_id, y->task_id);
}

static List *
task_list_in_run(Slice run_id, bool only_live)
{
	List	   *tasks = NIL;
	ListCell   *cell;
	RowScan		scan;

	task_scan_run(&scan, run_id, ROWS_LATEST);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		TaskInRun  *task;

		CHECK_FOR_INTERRUPTS();
		if (only_live && task_status_is_over(task_row_status(&scan)))
			continue;
		task = palloc(sizeof(TaskInRun));
		task->depth = rows_int4(&scan, Anum_task_depth);
		task->task_id = rows_text_copy(&scan, Anum_task_task_id);
		tasks = lappend(tasks, task);
	}
	rows_end(&scan);
	list_sort(tasks, task_compare_in_run);
	foreach(cell, tasks)
		lfirst(cell) = &((TaskInRun *) lfirst(cell))->task_id;
	return tasks;
}

List *
task_list_of_run(Slice run_id)
{
	return task_list_in_run(run_id, false);
}

List *
task_list_live_of_run(Slice run_id)
{
	return task_list_in_run(run_id, true);
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
		if (!task_status_is_over(task_row_status(&scan)))
			ids = slice_list_add(ids, rows_text(&scan, Anum_task_task_id));
	}
	rows_end(&scan);
	return ids;
}
