/*-------------------------------------------------------------------------
 *
 * tick.c
 *	  What must happen though nobody asked: leases, deadlines, what waits.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "delivery/assign.h"
#include "delivery/claim.h"
#include "delivery/notice.h"
#include "delivery/tick.h"
#include "delivery/timer.h"
#include "delivery/waiting.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "registry/slot.h"
#include "store/epoch.h"

/* spec 2.1: the task timed out; the agent's report will be late */
static void
time_out(Task *task, TimestampTz deadline, const char *code, const char *message)
{
	TaskEvent	event = {STEP_TIMEOUT};
	DocumentBuilder b;
	Receipt		receipt;
	Slice		freed;

	document_begin(&b);
	document_put_cstring(&b, "code", code);
	document_put_cstring(&b, "message", message);
	document_put_timestamp(&b, "deadline", deadline);
	receipt = notice_append(task, MSG_TASK_TIMEOUT, MOVE_NONE, SLICE_NONE,
							task->from_agent, document_end(&b));
	event.seq = receipt.seq;
	event.at = receipt.received_at;
	event.code = slice_of_cstring(code);
	event.detail = slice_of_cstring(message);
	freed = assign_withdraw(task, OUTCOME_FAILED);
	task_apply(task, &event);
	task_save(task);
	if (slice_present(freed))
		assign_offer(freed);
}

int
tick_moved(const TickReport *report)
{
	return report->expired + report->timed_out + report->woken;
}

TickReport
tick_timers(int n)
{
	TickReport	report = {0};
	TimestampTz now = clock_now();
	TimestampTz after = PG_INT64_MIN;

	while (tick_moved(&report) < n)
	{
		Task	   *task = timer_take_due(now, &after);

		CHECK_FOR_INTERRUPTS();
		if (task == NULL)
			break;
		if (task->deadline != 0 && task->deadline <= now)
		{
			time_out(task, task->deadline, "DEADLINE_EXCEEDED",
					 "the deadline of the request has passed");
			report.timed_out++;
		}
		else if (task->status == TASK_RUNNING && task->lease_until <= now)
		{
			(void) claim_expire(task);
			report.expired++;
		}
		else if (task->status == TASK_INPUT_REQUIRED && task->wake_at != 0 && task->wake_at <= now)
		{
			time_out(task, task->wake_at, "NOT_ANSWERED",
					 "nobody answered the question in time");
			report.timed_out++;
		}
		else if (task_is_held(task) && task->wake_at != 0 && task->wake_at <= now)
		{
			report.routed += assign_again(task);
			report.woken++;
		}
		else
		{
			/* extended meanwhile: look again when that is due */
			timer_set(task);
			task_save(task);
		}
	}
	return report;
}

/*
 * The head of each kind, the most urgent first.  Where one finds an agent,
 * the next of its kind may as well; where it finds none, none of its kind
 * will.
 */
static int
route_waiting(int n)
{
	List	   *heads = waiting_heads(n);
	int			routed = 0;

	while (heads != NIL && routed < n)
	{
		List	   *next = NIL;
		ListCell   *cell;

		foreach(cell, heads)
		{
			Task	   *task = lfirst(cell);
			int64		kind = task->queue_kind;

			CHECK_FOR_INTERRUPTS();
			if (routed == n || !assign_again(task))
				continue;
			routed++;
			task = waiting_next(kind);
			if (task != NULL)
				next = lappend(next, task);
		}
		heads = next;
	}
	return routed;
}

TickReport
tick_all(int n)
{
	TickReport	report = tick_timers(n);

	report.routed += route_waiting(n);
	return report;
}

static void
void_leases(void)
{
	ListCell   *cell;

	foreach(cell, task_list_ids())
	{
		Task	   *task = task_lock(*(Slice *) lfirst(cell), true);

		CHECK_FOR_INTERRUPTS();
		if (task != NULL && task->status == TASK_RUNNING)
			(void) claim_expire(task);
	}
}

int
tick_epoch(void)
{
	bool		is_new;
	int			epoch = epoch_current(&is_new);

	if (is_new)
		void_leases();
	return epoch;
}
