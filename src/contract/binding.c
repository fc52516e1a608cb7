/*-------------------------------------------------------------------------
 *
 * binding.c
 *	  Bindings: which workflow a run is bound to, and which step of it each
 *	  task does.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/guard.h"
#include "base/wait.h"
#include "contract/binding.h"
#include "miscadmin.h"

/* columns of clutch.run_workflow */
enum
{
	Anum_run_workflow_run_id = 1,
	Anum_run_workflow_workflow,
	Anum_run_workflow_version,
	Natts_run_workflow = Anum_run_workflow_version
};

ROWS_CHECK_COLUMNS(Natts_run_workflow, RUN_WORKFLOW);

/*
 * columns of clutch.workflow_task; those that are changed in place are not
 * null
 */
enum
{
	Anum_workflow_task_task_id = 1,
	Anum_workflow_task_run_id,
	Anum_workflow_task_step,
	Anum_workflow_task_met_seq,
	Anum_workflow_task_attempt,
	Anum_workflow_task_faults,
	Natts_workflow_task = Anum_workflow_task_faults
};

ROWS_CHECK_COLUMNS(Natts_workflow_task, WORKFLOW_TASK);

/* -------------------------------------------------------------------- runs */

/*
 * Has any run ever been bound?  If not, all other functions would find
 * nothing.
 */
static bool
binding_is_in_use(void)
{
	return rows_table_was_used(TABLE_RUN_WORKFLOW);
}

/*
 * The dirty snapshot also finds the binding of a run whose first request is
 * not committed yet.  *in_doubt is set to that transaction.
 */
static bool
binding_look(Slice run_id, RunBinding *binding, TransactionId *in_doubt)
{
	RowScan		scan;
	bool		found;

	*in_doubt = InvalidTransactionId;
	if (!binding_is_in_use())
		return false;
	rows_begin(&scan, TABLE_RUN_WORKFLOW, INDEX_RUN_WORKFLOW, ROWS_DIRTY, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
	{
		binding->workflow = rows_text_copy(&scan, Anum_run_workflow_workflow);
		binding->version = rows_int4(&scan, Anum_run_workflow_version);
		*in_doubt = rows_in_doubt(&scan);
	}
	rows_end(&scan);
	return found;
}

bool
binding_of_run(Slice run_id, RunBinding *binding)
{
	TransactionId in_doubt;

	return binding_look(run_id, binding, &in_doubt);
}

bool
binding_await_run(Slice run_id, RunBinding *binding)
{
	for (;;)
	{
		TransactionId in_doubt;
		bool		found = binding_look(run_id, binding, &in_doubt);

		if (!TransactionIdIsValid(in_doubt))
			return found;
		wait_for_transaction(in_doubt);
	}
}

List *
binding_list_runs(Slice workflow, int version)
{
	List	   *runs = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_RUN_WORKFLOW, INDEX_RUN_WORKFLOW, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (rows_int4(&scan, Anum_run_workflow_version) == version &&
			slice_equal(rows_text(&scan, Anum_run_workflow_workflow), workflow))
			runs = slice_list_add(runs, rows_text(&scan, Anum_run_workflow_run_id));
	}
	rows_end(&scan);
	return runs;
}

bool
binding_set(Slice run_id, const RunBinding *binding)
{
	Datum		values[Natts_run_workflow];
	bool		nulls[Natts_run_workflow] = {0};
	uint64		guard = guard_key(GUARD_WORKFLOW, run_id, SLICE_NONE, 0);
	RunBinding	present;
	bool		is_new;

	values[Anum_run_workflow_run_id - 1] = PointerGetDatum(slice_to_text(run_id));
	values[Anum_run_workflow_workflow - 1] = PointerGetDatum(slice_to_text(binding->workflow));
	values[Anum_run_workflow_version - 1] = Int32GetDatum(binding->version);
	guard_take(guard);
	is_new = !binding_of_run(run_id, &present);
	if (is_new)
		(void) rows_insert(TABLE_RUN_WORKFLOW, values, nulls);
	guard_release(guard);
	return is_new;
}

/* ------------------------------------------------------------------- tasks */

static void
binding_read_task(const RowScan *scan, TaskBinding *task)
{
	task->tid = rows_tid(scan);
	task->task_id = rows_text_copy(scan, Anum_workflow_task_task_id);
	task->run_id = rows_text_copy(scan, Anum_workflow_task_run_id);
	task->step = rows_text_copy(scan, Anum_workflow_task_step);
	task->met_seq = rows_int8(scan, Anum_workflow_task_met_seq);
	task->attempt = rows_int4(scan, Anum_workflow_task_attempt);
	task->faults = rows_int4(scan, Anum_workflow_task_faults);
}

bool
binding_of_task(Slice task_id, TaskBinding *task)
{
	RowScan		scan;
	bool		found;

	if (!binding_is_in_use())
		return false;
	rows_begin(&scan, TABLE_WORKFLOW_TASK, INDEX_WORKFLOW_TASK, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
		binding_read_task(&scan, task);
	rows_end(&scan);
	return found;
}

static void
binding_form_task(const TaskBinding *task, Datum *values, bool *nulls)
{
	memset(nulls, 0, sizeof(bool) * Natts_workflow_task);
	values[Anum_workflow_task_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	values[Anum_workflow_task_run_id - 1] = PointerGetDatum(slice_to_text(task->run_id));
	column_put_text(values, nulls, Anum_workflow_task_step, task->step);
	column_put_int8(values, nulls, Anum_workflow_task_met_seq, task->met_seq);
	values[Anum_workflow_task_attempt - 1] = Int32GetDatum(task->attempt);
	values[Anum_workflow_task_faults - 1] = Int32GetDatum(task->faults);
}

void
binding_add_task(Slice task_id, Slice run_id, Slice step)
{
	TaskBinding task = {.task_id = task_id, .run_id = run_id, .step = step};
	Datum		values[Natts_workflow_task];
	bool		nulls[Natts_workflow_task];

	binding_form_task(&task, values, nulls);
	(void) rows_insert(TABLE_WORKFLOW_TASK, values, nulls);
}

void
binding_save_task(TaskBinding *task)
{
	Datum		values[Natts_workflow_task];
	bool		nulls[Natts_workflow_task];

	binding_form_task(task, values, nulls);
	rows_update(TABLE_WORKFLOW_TASK, &task->tid, values, nulls);
}

static void
binding_scan_step(RowScan *scan, Slice run_id, Slice step)
{
	rows_begin(scan, TABLE_WORKFLOW_TASK, INDEX_WORKFLOW_TASK_RUN, ROWS_LATEST, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, run_id);
	rows_key_text(scan, 2, BTEqualStrategyNumber, step);
}

bool
binding_step_is_met(Slice run_id, Slice step)
{
	RowScan		scan;

	binding_scan_step(&scan, run_id, step);
	rows_key_int8(&scan, 3, BTGreaterStrategyNumber, 0);
	return rows_look(&scan, NULL);
}

List *
binding_list_step(Slice run_id, Slice step)
{
	RowScan		scan;

	binding_scan_step(&scan, run_id, step);
	return rows_list_texts(&scan, Anum_workflow_task_task_id);
}

int
binding_count_fault(TaskBinding *task, int attempt)
{
	static const int columns[] = {Anum_workflow_task_attempt, Anum_workflow_task_faults};
	int32		numbers[2];

	task->faults = task->attempt == attempt ? task->faults + 1 : 1;
	task->attempt = attempt;
	numbers[0] = task->attempt;
	numbers[1] = task->faults;
	rows_set_in_place(TABLE_WORKFLOW_TASK, INDEX_WORKFLOW_TASK, task->task_id, columns, numbers,
				   lengthof(columns));
	return task->faults;
}

/* -------------------------------------------------------------- forgetting */

void
binding_forget_run(Slice run_id)
{
	RowScan		scan;

	if (!binding_is_in_use())
		return;
	rows_begin(&scan, TABLE_RUN_WORKFLOW, INDEX_RUN_WORKFLOW, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	(void) rows_delete_first(&scan);
}

void
binding_forget_task(Slice task_id)
{
	RowScan		scan;

	if (!binding_is_in_use())
		return;
	rows_begin(&scan, TABLE_WORKFLOW_TASK, INDEX_WORKFLOW_TASK, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	(void) rows_delete_first(&scan);
}
