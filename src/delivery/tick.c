/*-------------------------------------------------------------------------
 *
 * tick.c
 *	  What must happen though nobody asked: leases, deadlines, what waits.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "delivery/assign.h"
#include "delivery/claim.h"
#include "delivery/dependency.h"
#include "delivery/ending.h"
#include "delivery/liveness.h"
#include "delivery/notify.h"
#include "delivery/schedule.h"
#include "delivery/tick.h"
#include "delivery/timer.h"
#include "delivery/waiting.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "settings.h"
#include "store/epoch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* its time has come, which does not mean that what it waits for is completed */
static void
wake(Task *task, TickReport *report)
{
	switch (dependency_look_again(task))
	{
		case DEPENDENCY_OPEN:
			assign_hold(task);
			return;
		case DEPENDENCY_FAILED:
			ending_fail(task, "DEPENDENCY_FAILED",
						"a task that it waits for is over, and not completed");
			break;
		case DEPENDENCY_MET:
			report->routed += assign_again(task);
			break;
	}
	report->woken++;
}

/* what is due of the task, if anything still is */
static void
look_at(Task *task, TimestampTz now, TickReport *report)
{
	bool		woken = task->wake_at != 0 && task->wake_at <= now;

	if (ending_at_deadline(task, now))
		report->timed_out++;
	else if (task->status == TASK_INPUT_REQUIRED && woken)
	{
		ending_time_out(task, task->wake_at, "NOT_ANSWERED",
						"nobody answered the question in time", false);
		report->timed_out++;
	}
	else if (task->status == TASK_RUNNING && woken)
	{
		ending_time_out(task, task->wake_at, "RUNTIME_EXCEEDED",
						"it ran longer than the card of its agent allows", true);
		report->timed_out++;
	}
	else if (task->status == TASK_RUNNING && task->lease_until <= now)
	{
		claim_expire(task);
		report->expired++;
	}
	else if (task_is_held(task) && woken)
		wake(task, report);
	else
	{
		/* extended meanwhile: look again when that is due */
		timer_set(task);
		task_save(task);
	}
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
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch due task",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	Task	   *task;

	while (tick_moved(&report) < n && (task = timer_take_due(now, &after)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		look_at(task, now, &report);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	return report;
}

/*
 * The head of each kind, the most urgent first.  Where one finds an agent, or
 * its end, the next of its kind may as well; where it finds none, none of its
 * kind will.  One may be gone because of another: a parent is told of an end,
 * and what stands here was read before that.
 */
static int
route_waiting(int n)
{
	List	   *heads = waiting_heads(n);
	int			routed = 0;
	int			moved = 0;		/* from their place, also those that ended */

	while (heads != NIL && moved < n)
	{
		List	   *next = NIL;
		ListCell   *cell;

		foreach(cell, heads)
		{
			const Task *head = lfirst(cell);
			Task	   *task = waiting_again(head);

			CHECK_FOR_INTERRUPTS();
			if (moved == n)
				break;
			if (task != NULL && assign_again(task))
				routed++;
			else if (waiting_again(head) != NULL)
				continue;
			moved++;
			task = waiting_next(head->queue_kind);
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
	/* before its leases run out one by one, and come back to it */
	int			lost = liveness_watch(n);
	TickReport	report = tick_timers(n);

	report.lost = lost;
	report.sent = schedule_send_due(n);
	report.routed += route_waiting(n);
	return report;
}

/* how soon to try again what somebody else has locked */
#define SOON	USECS_PER_SEC

TimestampTz
tick_next(void)
{
	TimestampTz now = clock_now();
	TimestampTz next = Min(timer_next(), Min(liveness_next(), schedule_next()));

	if (next <= now)
		next = now + SOON;
	if (!waiting_is_empty())
		next = Min(next, now + clutch_tick_interval * USECS_PER_SEC);
	return next;
}

static void
void_leases(void)
{
	int64		n;
	List	   *ids = task_list_live(&n);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch void lease",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	ListCell   *cell;

	foreach(cell, ids)
	{
		Task	   *task = task_lock(*(Slice *) lfirst(cell), true);

		CHECK_FOR_INTERRUPTS();
		if (task != NULL && task->status == TASK_RUNNING)
			claim_void(task);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

int
tick_epoch(void)
{
	bool		is_new;
	int			epoch = epoch_current(&is_new);

	if (is_new)
	{
		void_leases();
		/* the worker has left all that is due to us */
		notify_due(clock_now());
	}
	return epoch;
}
