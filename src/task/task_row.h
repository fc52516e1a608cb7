/*-------------------------------------------------------------------------
 *
 * task_row.h
 *	  Reading and writing the rows of clutch.task, column by column.
 *
 * This defines the fields of a task; task/task.h says what they mean and who
 * may change them.  What is read is copied into the current context.
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
	Slice		parent_task_id; /* absent for a root */
	Slice		scope;			/* of the run; absent if the run has no owner */
	int			depth;			/* 0 for a root; see task_depth_below */
	TaskStatus	status;
	Slice		agent_id;		/* absent while pending */
	SliceList	past_agents;	/* agents that had it before; the most recent
								 * one is last */
	Slice		from_agent;		/* the agent that requested it */
	int			attempt;		/* the fencing token, counted from 1 */
	int			retries;		/* retries after errors, since it was last
								 * retried by hand */
	int			losses;			/* leases lost, since it was last retried by
								 * hand */
	int			unclaimed;		/* number of agents in a row that did not claim
								 * it in time */
	int			priority;		/* 0 to 4, as requested or lifted */
	int			asked_priority; /* as requested, if it has been lifted;
								 * otherwise -1 */
	int			join;			/* JOIN_NONE, JOIN_ALL or a number: see flow/join.h */
	SliceList	requires;
	Slice		domain;
	Slice		payload_type;
	bool		is_traced;		/* its request has a trace */
	bool		limits_tools;	/* its request has an allowlist for tools or
								 * hosts */
	Jsonb	   *trace;			/* that trace, if the request is just being
								 * admitted */
	WaitingFor	waiting_for;
	Slice		code;			/* of the last routing.failure, error or
								 * timeout */
	Slice		detail;			/* the same in words */
	ClaimReason reason;			/* of the next claim */
	int			slot_no;		/* -1 if it holds no slot */
	int64		queue_no;		/* 0 if it is in no queue */
	int64		queue_kind;
	int64		request_seq;
	int64		result_seq;		/* 0 in these means that there is no such event
								 * yet */
	int64		progress_seq;
	int64		question_seq;
	int64		answer_seq;
	int64		joined_seq;		/* the event that said that its children were
								 * over */
	int64		wait_seq;		/* the event that suspended it, or shared it
								 * out */
	int			wait_count;		/* suspended for children: how many, or JOIN_ALL; else JOIN_NONE */
	TimestampTz since;			/* when it got this status */
	TimestampTz next_at;		/* 0 in these means NULL */
	TimestampTz lease_until;
	int64		lease;			/* length of the lease as claimed, in
								 * microseconds; 0 if none */
	TimestampTz deadline;
	TimestampTz wake_at;
	TimestampTz created_at;
	TimestampTz started_at;
	TimestampTz finished_at;
	int64		revived_seq;	/* the event that last revived it; 0 if none has */

	/*
	 * Not columns: its request, see task_request; and the row as it was read.
	 * NULL if not read.
	 */
	Jsonb	   *request;
	struct TaskVersion *read;

	/*
	 * Not columns: its place in the queue that it has just left; see
	 * queue/queue.h.
	 */
	int64		left_no;
	TimestampTz left_since;
	Slice		left_for;		/* clutch.waiting only: for which agent its kind
								 * counts */
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
	Anum_task_revived_seq,
	Natts_task = Anum_task_revived_seq
};

ROWS_CHECK_COLUMNS(Natts_task, TASK);

/* Returns the task in the current row of a scan. */
extern Task *task_row_read(const RowScan *scan);
/* The same for its status alone. */
extern TaskStatus task_row_status(const RowScan *scan);
/*
 * Returns since which event a task counts among the children of its parent, and
 * on the quota of a role: its request, or the event that last revived it.
 */
extern int64 task_counts_since(const Task *task);
/* The same for the task in the current row of a scan. */
extern int64 task_row_counts_since(const RowScan *scan);
/* Forms the row.  values and nulls must have Natts_task elements. */
extern void task_row_form(const Task *task, Datum *values, bool *nulls);
/* Writes the row of a locked task. */
extern void task_row_update(Task *task);

#endif							/* CLUTCH_TASK_ROW_H */
