/*-------------------------------------------------------------------------
 *
 * task_row.h
 *	  A task as a row of clutch.task, column by column.
 *
 * Here are the fields of a task; what they mean and who may change them is said
 * in task/task.h.  What is read is copied into the current context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_ROW_H
#define CLUTCH_TASK_ROW_H

#include "base/rows.h"
#include "protocol/envelope.h"
#include "storage/itemptr.h"
#include "task/transition.h"

typedef struct Task
{
	ItemPointerData tid;

	Slice		task_id;
	Slice		run_id;
	Slice		thread_id;
	Slice		parent_task_id; /* absent means a root */
	Slice		scope;			/* of the run; absent means unowned */
	int			depth;			/* 0 for a root; see task_depth_below */
	TaskStatus	status;
	Slice		agent_id;		/* absent while pending */
	SliceList	past_agents;	/* agents that had it before, the last one last */
	Slice		from_agent;		/* the agent that requested it */
	int			attempt;		/* the fencing token, from 1 */
	int			retries;		/* after errors, since it was revived */
	int			losses;			/* leases lost, since it was revived */
	int			unclaimed;		/* agents in a row that did not claim it in time */
	int			priority;		/* 0 to 4, as requested or lifted */
	int			asked_priority; /* as requested, if it was lifted; else -1 */
	int			join;			/* JOIN_NONE, JOIN_ALL or a number: see flow/join.h */
	SliceList	requires;
	Slice		domain;
	Slice		payload_type;
	bool		is_traced;		/* its request has a trace */
	bool		limits_tools;	/* its request has an allowlist, of tools or hosts */
	Jsonb	   *trace;			/* that trace, if the request is just being taken in */
	WaitingFor	waiting_for;
	Slice		code;			/* of the last routing.failure, error or timeout */
	Slice		detail;			/* the same in words */
	ClaimReason reason;			/* of the next claim */
	int			slot_no;		/* -1: holds no slot */
	int64		queue_no;		/* 0: stands in no queue */
	int64		queue_kind;
	int64		request_seq;
	int64		result_seq;		/* 0 in these: no such event yet */
	int64		progress_seq;
	int64		question_seq;
	int64		answer_seq;
	int64		joined_seq;		/* of the event that said its children were over */
	int64		wait_seq;		/* of the event that suspended it, or shared it out */
	int			wait_count;		/* suspended for children: how many, or JOIN_ALL; else JOIN_NONE */
	TimestampTz since;			/* in this status */
	TimestampTz next_at;		/* 0 in these: NULL */
	TimestampTz lease_until;
	int64		lease;			/* its length as claimed, in microseconds, or 0
								 * if none */
	TimestampTz deadline;
	TimestampTz wake_at;
	TimestampTz created_at;
	TimestampTz started_at;
	TimestampTz finished_at;


	/*
	 * no columns: its request, see task_request; the row as it was read; NULL
	 * means neither
	 */
	Jsonb	   *request;
	struct TaskVersion *read;

	/* no columns: where it stood in the queue that it has just left; see queue/queue.h */
	int64		left_no;
	TimestampTz left_since;
} Task;

/* columns of clutch.task */
enum
{
	Anum_task_task_id = 1, Anum_task_run_id, Anum_task_thread_id,
	Anum_task_parent_task_id, Anum_task_scope, Anum_task_depth, Anum_task_status,
	Anum_task_agent_id, Anum_task_past_agents, Anum_task_from_agent,
	Anum_task_attempt, Anum_task_retries, Anum_task_losses, Anum_task_unclaimed,
	Anum_task_priority, Anum_task_asked_priority, Anum_task_join_count, Anum_task_requires, Anum_task_domain,
	Anum_task_payload_type, Anum_task_is_traced, Anum_task_limits_tools, Anum_task_waiting_for, Anum_task_code,
	Anum_task_detail, Anum_task_reason, Anum_task_slot_no, Anum_task_queue_no,
	Anum_task_queue_kind, Anum_task_request_seq, Anum_task_result_seq,
	Anum_task_progress_seq, Anum_task_question_seq, Anum_task_answer_seq, Anum_task_joined_seq,
	Anum_task_wait_seq, Anum_task_wait_count,
	Anum_task_since, Anum_task_next_at,
	Anum_task_lease_until, Anum_task_lease, Anum_task_deadline, Anum_task_wake_at,
	Anum_task_created_at, Anum_task_started_at, Anum_task_finished_at,
	Natts_task = Anum_task_finished_at
};

StaticAssertDecl((int) Natts_task == (int) COLUMNS_TASK, "columns of clutch.task");

/* Returns the current row of a scan. */
extern Task *task_row_read(const RowScan *scan);
/* values and nulls have Natts_task places */
extern void task_row_form(const Task *task, Datum *values, bool *nulls);
/* Writes the row of a task that is locked. */
extern void task_row_update(Task *task);

#endif							/* CLUTCH_TASK_ROW_H */
