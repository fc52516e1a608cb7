/*-------------------------------------------------------------------------
 *
 * task_row.c
 *	  Reading and writing the rows of clutch.task, column by column.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "task/task_row.h"
#include "utils/timestamp.h"

/*
 * The row as it was read.  A task usually changes in a few columns only, so
 * what stays the same need not be converted to a Datum, or even formed into a
 * tuple, again.
 */
typedef struct TaskVersion
{
	HeapTuple	tuple;
	SliceList	past_agents;
	SliceList	requires;
	Datum		values[Natts_task];
	bool		nulls[Natts_task];
	bool		is_written;		/* the table already has a newer version */
} TaskVersion;

/* ------------------------------------------------------------------ reading */

static TaskVersion *
task_row_keep(const RowScan *scan)
{
	TaskVersion *read = palloc(sizeof(TaskVersion));

	read->tuple = rows_keep(scan, read->values, read->nulls);
	read->is_written = false;
	read->past_agents = column_texts(read->values, read->nulls, Anum_task_past_agents);
	read->requires = column_texts(read->values, read->nulls, Anum_task_requires);
	return read;
}

Task *
task_row_read(const RowScan *scan)
{
	Task	   *task = palloc0(sizeof(Task));
	TaskVersion *read = task_row_keep(scan);
	const Datum *v = read->values;
	const bool *n = read->nulls;

	task->read = read;
	task->tid = rows_tid(scan);
	task->task_id = column_text(v, n, Anum_task_task_id);
	task->run_id = column_text(v, n, Anum_task_run_id);
	task->thread_id = column_text(v, n, Anum_task_thread_id);
	task->parent_task_id = column_text(v, n, Anum_task_parent_task_id);
	task->scope = column_text(v, n, Anum_task_scope);
	task->depth = DatumGetInt32(v[Anum_task_depth - 1]);
	task->status = task_status_parse(column_text(v, n, Anum_task_status));
	task->agent_id = column_text(v, n, Anum_task_agent_id);
	task->past_agents = read->past_agents;
	task->from_agent = column_text(v, n, Anum_task_from_agent);
	task->attempt = DatumGetInt32(v[Anum_task_attempt - 1]);
	task->retries = DatumGetInt32(v[Anum_task_retries - 1]);
	task->losses = DatumGetInt32(v[Anum_task_losses - 1]);
	task->unclaimed = DatumGetInt32(v[Anum_task_unclaimed - 1]);
	task->priority = DatumGetInt16(v[Anum_task_priority - 1]);
	task->asked_priority = n[Anum_task_asked_priority - 1] ? -1 :
		DatumGetInt16(v[Anum_task_asked_priority - 1]);
	task->join = n[Anum_task_join_count - 1] ? JOIN_NONE : DatumGetInt32(v[Anum_task_join_count - 1]);
	task->requires = read->requires;
	task->domain = column_text(v, n, Anum_task_domain);
	task->payload_type = column_text(v, n, Anum_task_payload_type);
	task->is_traced = DatumGetBool(v[Anum_task_is_traced - 1]);
	task->limits_tools = DatumGetBool(v[Anum_task_limits_tools - 1]);
	task->waiting_for = waiting_for_parse(column_text(v, n, Anum_task_waiting_for));
	task->code = column_text(v, n, Anum_task_code);
	task->detail = column_text(v, n, Anum_task_detail);
	task->reason = claim_reason_parse(column_text(v, n, Anum_task_reason));
	task->slot_no = n[Anum_task_slot_no - 1] ? -1 : DatumGetInt32(v[Anum_task_slot_no - 1]);
	task->queue_no = column_int8(v, n, Anum_task_queue_no);
	task->queue_kind = column_int8(v, n, Anum_task_queue_kind);
	task->request_seq = column_int8(v, n, Anum_task_request_seq);
	task->result_seq = column_int8(v, n, Anum_task_result_seq);
	task->progress_seq = column_int8(v, n, Anum_task_progress_seq);
	task->question_seq = column_int8(v, n, Anum_task_question_seq);
	task->answer_seq = column_int8(v, n, Anum_task_answer_seq);
	task->joined_seq = column_int8(v, n, Anum_task_joined_seq);
	task->wait_seq = column_int8(v, n, Anum_task_wait_seq);
	task->wait_count = n[Anum_task_wait_count - 1] ? JOIN_NONE : DatumGetInt32(v[Anum_task_wait_count - 1]);
	task->since = column_int8(v, n, Anum_task_since);
	task->next_at = column_int8(v, n, Anum_task_next_at);
	task->lease_until = column_int8(v, n, Anum_task_lease_until);
	task->lease = column_int8(v, n, Anum_task_lease);
	task->deadline = column_int8(v, n, Anum_task_deadline);
	task->wake_at = column_int8(v, n, Anum_task_wake_at);
	task->created_at = column_int8(v, n, Anum_task_created_at);
	task->started_at = column_int8(v, n, Anum_task_started_at);
	task->finished_at = column_int8(v, n, Anum_task_finished_at);
	task->revived_seq = column_int8(v, n, Anum_task_revived_seq);
	return task;
}

TaskStatus
task_row_status(const RowScan *scan)
{
	return task_status_parse(rows_text(scan, Anum_task_status));
}

int64
task_counts_since(const Task *task)
{
	return Max(task->request_seq, task->revived_seq);
}

int64
task_row_counts_since(const RowScan *scan)
{
	return rows_int8(scan, rows_is_null(scan, Anum_task_revived_seq) ? Anum_task_request_seq : Anum_task_revived_seq);
}

/* ------------------------------------------------------------------ writing */

/*
 * The same as column_put_text, but reuses the Datum that was read if the text
 * is unchanged.
 */
static void
task_row_put_text(const Task *task, Datum *values, bool *nulls, int attno, Slice value)
{
	const TaskVersion *read = task->read;
	const struct varlena *before = read == NULL || read->nulls[attno - 1] ? NULL :
		(const struct varlena *) DatumGetPointer(read->values[attno - 1]);

	if (before != NULL && slice_present(value) && !VARATT_IS_EXTERNAL(before) &&
		!VARATT_IS_COMPRESSED(before) && slice_equal(slice_of_text(before), value))
	{
		nulls[attno - 1] = false;
		values[attno - 1] = read->values[attno - 1];
	}
	else
		column_put_text(values, nulls, attno, value);
}

/* The same for an array.  "before" is the list as it was read, or NULL. */
static void
task_row_put_texts(const Task *task, Datum *values, bool *nulls, int attno, SliceList value,
				   const SliceList *before)
{
	if (before != NULL && value.n > 0 && value.n == before->n && value.items == before->items)
	{
		nulls[attno - 1] = false;
		values[attno - 1] = task->read->values[attno - 1];
	}
	else
		column_put_texts(values, nulls, attno, value);
}

void
task_row_form(const Task *task, Datum *values, bool *nulls)
{
	task_row_put_text(task, values, nulls, Anum_task_task_id, task->task_id);
	task_row_put_text(task, values, nulls, Anum_task_run_id, task->run_id);
	task_row_put_text(task, values, nulls, Anum_task_thread_id, task->thread_id);
	task_row_put_text(task, values, nulls, Anum_task_parent_task_id, task->parent_task_id);
	task_row_put_text(task, values, nulls, Anum_task_scope, task->scope);
	values[Anum_task_depth - 1] = Int32GetDatum(task->depth);
	task_row_put_text(task, values, nulls, Anum_task_status, slice_of_cstring(task_status_name(task->status)));
	task_row_put_text(task, values, nulls, Anum_task_agent_id, task->agent_id);
	task_row_put_texts(task, values, nulls, Anum_task_past_agents, task->past_agents,
					   task->read != NULL ? &task->read->past_agents : NULL);
	task_row_put_text(task, values, nulls, Anum_task_from_agent, task->from_agent);
	values[Anum_task_attempt - 1] = Int32GetDatum(task->attempt);
	values[Anum_task_retries - 1] = Int32GetDatum(task->retries);
	values[Anum_task_losses - 1] = Int32GetDatum(task->losses);
	values[Anum_task_unclaimed - 1] = Int32GetDatum(task->unclaimed);
	values[Anum_task_priority - 1] = Int16GetDatum(task->priority);
	nulls[Anum_task_asked_priority - 1] = task->asked_priority < 0;
	values[Anum_task_asked_priority - 1] = Int16GetDatum(task->asked_priority);
	nulls[Anum_task_join_count - 1] = task->join == JOIN_NONE;
	values[Anum_task_join_count - 1] = Int32GetDatum(task->join);
	task_row_put_texts(task, values, nulls, Anum_task_requires, task->requires,
					   task->read != NULL ? &task->read->requires : NULL);
	task_row_put_text(task, values, nulls, Anum_task_domain, task->domain);
	task_row_put_text(task, values, nulls, Anum_task_payload_type, task->payload_type);
	values[Anum_task_is_traced - 1] = BoolGetDatum(task->is_traced);
	values[Anum_task_limits_tools - 1] = BoolGetDatum(task->limits_tools);
	task_row_put_text(task, values, nulls, Anum_task_waiting_for, waiting_for_name(task->waiting_for));
	task_row_put_text(task, values, nulls, Anum_task_code, task->code);
	task_row_put_text(task, values, nulls, Anum_task_detail, task->detail);
	task_row_put_text(task, values, nulls, Anum_task_reason,
					  slice_of_cstring(claim_reason_name(task->reason)));
	nulls[Anum_task_slot_no - 1] = task->slot_no < 0;
	values[Anum_task_slot_no - 1] = Int32GetDatum(task->slot_no);
	column_put_int8(values, nulls, Anum_task_queue_no, task->queue_no);
	column_put_int8(values, nulls, Anum_task_queue_kind, task->queue_kind);
	values[Anum_task_request_seq - 1] = Int64GetDatum(task->request_seq);
	column_put_int8(values, nulls, Anum_task_result_seq, task->result_seq);
	column_put_int8(values, nulls, Anum_task_progress_seq, task->progress_seq);
	column_put_int8(values, nulls, Anum_task_question_seq, task->question_seq);
	column_put_int8(values, nulls, Anum_task_answer_seq, task->answer_seq);
	column_put_int8(values, nulls, Anum_task_joined_seq, task->joined_seq);
	column_put_int8(values, nulls, Anum_task_wait_seq, task->wait_seq);
	nulls[Anum_task_wait_count - 1] = task->wait_count == JOIN_NONE;
	values[Anum_task_wait_count - 1] = Int32GetDatum(task->wait_count);
	values[Anum_task_since - 1] = TimestampTzGetDatum(task->since);
	column_put_int8(values, nulls, Anum_task_next_at, task->next_at);
	column_put_int8(values, nulls, Anum_task_lease_until, task->lease_until);
	column_put_int8(values, nulls, Anum_task_lease, task->lease);
	column_put_int8(values, nulls, Anum_task_deadline, task->deadline);
	column_put_int8(values, nulls, Anum_task_wake_at, task->wake_at);
	values[Anum_task_created_at - 1] = TimestampTzGetDatum(task->created_at);
	column_put_int8(values, nulls, Anum_task_started_at, task->started_at);
	column_put_int8(values, nulls, Anum_task_finished_at, task->finished_at);
	column_put_int8(values, nulls, Anum_task_revived_seq, task->revived_seq);
}

/*
 * Are all columns as they were read?  A column that has not changed is the
 * very same Datum.
 */
static bool
task_row_is_as_read(const TaskVersion *read, const Datum *values, const bool *nulls)
{
	for (int i = 0; i < Natts_task; i++)
		if (nulls[i] != read->nulls[i] || (!nulls[i] && values[i] != read->values[i]))
			return false;
	return true;
}

/*
 * A tick looks at waiting tasks over and over, so a row that has not changed
 * is not written, unless it has been written since it was read.
 */
void
task_row_update(Task *task)
{
	Datum		values[Natts_task] = {0};
	bool		nulls[Natts_task] = {0};

	task_row_form(task, values, nulls);
	if (task->read != NULL)
	{
		KeptRow		kept = {task->read->tuple, task->read->values, task->read->nulls};

		if (!task->read->is_written && task_row_is_as_read(task->read, values, nulls))
			return;
		task->read->is_written = true;

		rows_update_kept(TABLE_TASK, &task->tid, &kept, values, nulls);
	}
	else
		rows_update(TABLE_TASK, &task->tid, values, nulls);
}
