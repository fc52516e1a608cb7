/*-------------------------------------------------------------------------
 *
 * ending.c
 *	  The ends of a task that nobody reported: the database says them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/document.h"
#include "base/transaction.h"
#include "flow/assign.h"
#include "flow/dependency.h"
#include "flow/ending.h"
#include "flow/join.h"
#include "flow/liveness.h"
#include "flow/retry.h"
#include "registry/breaker.h"
#include "registry/slot.h"
#include "task/notice.h"
#include "utils/memutils.h"

/* ------------------------------------------------------- telling others */

/*
 * A list and not a recursion: a chain of dependents may be as long as
 * somebody cares to make it.  It lives as long as the transaction at most.
 * An end that a trigger of somebody else's takes back, with a savepoint of its
 * own, is not told.
 */
static List *told = NIL;
static bool telling = false;

static void
forget_rolled_back(void)
{
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *cell;

	foreach(cell, told)
	{
		EndedTask  *ended = lfirst(cell);

		ended->taken_back = ended->taken_back || ended->level >= level;
	}
}

static void
hand_to_parent(void)
{
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *cell;

	foreach(cell, told)
	{
		EndedTask  *ended = lfirst(cell);

		ended->level = Min(ended->level, level - 1);
	}
}

static TransactionWatch watch = {.rolled_back = forget_rolled_back, .released = hand_to_parent};

static void
remember(const Task *task)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	EndedTask  *ended = palloc0(sizeof(EndedTask));

	ended->task_id = slice_copy(task->task_id);
	if (slice_present(task->parent_task_id))
		ended->parent_task_id = slice_copy(task->parent_task_id);
	ended->status = task->status;
	ended->join = task->join;
	ended->request_seq = task->request_seq;
	ended->level = GetCurrentTransactionNestLevel();
	told = lappend(told, ended);
	MemoryContextSwitchTo(old);
}

static void
tell_all(void)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch ended task",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	ListCell   *cell;

	/* the list grows meanwhile: what ends thereby is told behind the others */
	foreach(cell, told)
	{
		const EndedTask *ended = lfirst(cell);

		if (ended->taken_back)
			continue;
		dependency_settle(ended);
		join_settle(ended);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

void
ending_tell(const Task *task)
{
	if (!task_status_is_over(task->status))
		return;
	transaction_watch(&watch);
	remember(task);
	if (telling)
		return;
	telling = true;
	PG_TRY();
	{
		tell_all();
	}
	PG_FINALLY();
	{
		told = NIL;
		telling = false;
	}
	PG_END_TRY();
}

/* -------------------------------------------------------------- the ends */

Slice
ending_cancel(Task *task, Slice ancestor)
{
	TaskEvent	event = {STEP_CANCEL};
	Slice		to = slice_present(task->agent_id) ? task->agent_id : task->from_agent;
	DocumentBuilder b;
	Receipt		receipt;
	Slice		freed;

	event.detail = slice_of_cstring(psprintf("task \"%.*s\" above it was cancelled",
											 ancestor.len, ancestor.s));
	document_begin(&b);
	document_put_text(&b, "reason", event.detail);
	document_put_text(&b, "ancestor", ancestor);
	document_put_cstring(&b, "was", task_status_name(task->status));
	receipt = notice_append(task, MSG_TASK_CANCEL, MOVE_NONE, SLICE_NONE, to, document_end(&b));
	event.seq = receipt.seq;
	event.at = receipt.received_at;
	freed = assign_withdraw(task, OUTCOME_NONE);
	task_apply(task, &event);
	task_save(task);
	ending_tell(task);
	return freed;
}

/* who holds the task when it ends has failed it; parked or pending, nobody did */
static void
end(Task *task, TaskEvent event, MessageType type, Jsonb *payload, bool may_retry)
{
	Receipt		receipt = notice_append(task, type, MOVE_NONE, SLICE_NONE,
										task->from_agent, payload);
	Slice		freed;

	event.seq = receipt.seq;
	event.at = receipt.received_at;
	if (task->slot_no >= 0)
		breaker_count(task->agent_id, event.seq, event.at,
					  type == MSG_TASK_TIMEOUT ? BREAKER_TIMED_OUT : BREAKER_FAILED);
	freed = assign_withdraw(task, OUTCOME_FAILED);
	task_apply(task, &event);
	if (may_retry)
		(void) retry_after_timeout(task);
	task_save(task);
	if (type == MSG_TASK_TIMEOUT && slice_present(freed))
		liveness_timed_out(freed);
	if (slice_present(freed))
		assign_offer(freed);
	ending_tell(task);
}

void
ending_fail(Task *task, const char *code, const char *message)
{
	TaskEvent	event = {STEP_ERROR};
	DocumentBuilder b;

	event.code = slice_of_cstring(code);
	event.detail = slice_of_cstring(message);
	document_begin(&b);
	document_put_text(&b, "code", event.code);
	document_put_text(&b, "message", event.detail);
	document_put_bool(&b, "retryable", false);
	document_put_cstring(&b, "was", task_status_name(task->status));
	end(task, event, MSG_TASK_ERROR, document_end(&b), false);
}

bool
ending_at_deadline(Task *task, TimestampTz now)
{
	if (task->deadline == 0 || task->deadline > now)
		return false;
	ending_time_out(task, task->deadline, "DEADLINE_EXCEEDED",
					"the deadline of the request has passed", false);
	return true;
}

void
ending_time_out(Task *task, TimestampTz deadline, const char *code, const char *message,
				bool may_retry)
{
	TaskEvent	event = {STEP_TIMEOUT};
	DocumentBuilder b;

	event.code = slice_of_cstring(code);
	event.detail = slice_of_cstring(message);
	document_begin(&b);
	document_put_text(&b, "code", event.code);
	document_put_text(&b, "message", event.detail);
	document_put_timestamp(&b, "deadline", deadline);
	end(task, event, MSG_TASK_TIMEOUT, document_end(&b), may_retry);
}
