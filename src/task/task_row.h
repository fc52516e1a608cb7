/*-------------------------------------------------------------------------
 *
 * task_row.h
 *	  A task as a row of clutch.task, column by column.
 *
 * What is read is copied into the current context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_ROW_H
#define CLUTCH_TASK_ROW_H

#include "task/task.h"
#include "task/task_tree.h"

/* columns of clutch.task */
enum
{
	Anum_task_task_id = 1, Anum_task_run_id, Anum_task_thread_id,
	Anum_task_parent_task_id, Anum_task_scope, Anum_task_depth, Anum_task_status,
	Anum_task_agent_id, Anum_task_past_agents, Anum_task_from_agent,
	Anum_task_attempt, Anum_task_retries, Anum_task_losses, Anum_task_priority, Anum_task_join_count, Anum_task_requires, Anum_task_domain,
	Anum_task_payload_type, Anum_task_waiting_for, Anum_task_code,
	Anum_task_detail, Anum_task_reason, Anum_task_slot_no, Anum_task_queue_no,
	Anum_task_queue_kind, Anum_task_request_seq, Anum_task_result_seq,
	Anum_task_progress_seq, Anum_task_question_seq, Anum_task_answer_seq, Anum_task_joined_seq,
	Anum_task_since, Anum_task_next_at,
	Anum_task_lease_until, Anum_task_lease, Anum_task_deadline, Anum_task_wake_at,
	Anum_task_created_at, Anum_task_started_at, Anum_task_finished_at,
	Natts_task = Anum_task_finished_at
};

/* the current row of a scan */
extern Task *task_row_read(const RowScan *scan);
/* of it, what the tree shows */
extern void task_row_read_node(const RowScan *scan, TaskNode *node);

/* values and nulls have Natts_task places */
extern void task_row_form(const Task *task, Datum *values, bool *nulls);

#endif							/* CLUTCH_TASK_ROW_H */
