/*-------------------------------------------------------------------------
 *
 * tick.c
 *	  What must happen though nobody asked: leases, deadlines, what waits.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/attempt.h"
#include "base/clock.h"
#include "flow/assign.h"
#include "flow/claim.h"
#include "flow/dependency.h"
#include "flow/ending.h"
#include "flow/liveness.h"
#include "flow/schedule.h"
#include "flow/tick.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "queue/timer.h"
#include "queue/waiting.h"
#include "settings.h"
#include "store/epoch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

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

/* ------------------------------------------------------------------ timers */

typedef struct DueWork
{
	int			n;
	TimestampTz now;
	TimestampTz after;			/* timer_take_due's */
	TickReport	report;
	char		task_id[MAX_ID_BYTES + 1];	/* taken last; empty: none was left */
} DueWork;

static void
move_one(void *arg)
{
	DueWork    *work = arg;
	Task	   *task;

	CHECK_FOR_INTERRUPTS();
	work->task_id[0] = '\0';
	task = timer_take_due(work->now, &work->after);
	if (task == NULL)
		return;
	snprintf(work->task_id, sizeof(work->task_id), "%.*s", task->task_id.len, task->task_id.s);
	look_at(task, work->now, &work->report);
}

static void
move_all(void *arg)
{
	DueWork    *work = arg;
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch due task",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);

	do
	{
		move_one(work);
		MemoryContextReset(each);
	} while (work->task_id[0] != '\0' && tick_moved(&work->report) < work->n);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

/* so long a task is left alone that could not be moved */
#define PUT_OFF			USECS_PER_MINUTE

/* so many of them end a tick */
#define MOST_PUT_OFF	16

static void
put_off(const DueWork *work, const ErrorData *error)
{
	Task	   *task = task_lock_to_end(slice_of_cstring(work->task_id), false);

	if (task != NULL)
	{
		timer_put_off(task, work->now + PUT_OFF);
		task_save(task);
	}
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("task \"%s\" is due and cannot be moved: %s", work->task_id, error->message),
			 errhint("The other tasks are; this one is tried again in a minute. Triggers of your own on clutch.events must not raise, "
					 "and SELECT * FROM clutch.check() says whether rows of the log are missing.")));
}

/* what cannot be moved keeps nobody else from it */
static void
move_one_by_one(DueWork *work)
{
	int			failed = 0;

	do
	{
		TickReport	before = work->report;
		ErrorData  *error = attempt(move_one, work);

		if (error == NULL)
			continue;
		if (work->task_id[0] == '\0' || attempt_failed_by_chance(error))
			ReThrowError(error);
		work->report = before;
		put_off(work, error);
		failed++;
	} while (work->task_id[0] != '\0' && failed < MOST_PUT_OFF &&
			 tick_moved(&work->report) < work->n);
}

TickReport
tick_timers(int n)
{
	DueWork		none = {n, clock_now(), PG_INT64_MIN};
	DueWork		work = none;
	ErrorData  *error;

	if (!timer_is_due(work.now))
		return work.report;
	error = attempt(move_all, &work);
	if (error != NULL)
	{
		if (attempt_failed_by_chance(error))
			ReThrowError(error);
		work = none;
		move_one_by_one(&work);
	}
	return work.report;
}

/* -------------------------------------------------------------- what waits */

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

/* ----------------------------------------------------------------- a tick */

typedef struct Share
{
	int			n;
	int			done;
} Share;

static void
watch_agents(void *arg)
{
	Share	   *share = arg;

	share->done = liveness_watch(share->n);
}

static void
route_some(void *arg)
{
	Share	   *share = arg;

	share->done = route_waiting(share->n);
}

/* what fails in one part of a tick keeps it from no other */
static int
do_part(void (*part) (void *arg), int n, const char *what)
{
	Share		share = {n, 0};
	ErrorData  *error = attempt(part, &share);

	if (error == NULL)
		return share.done;
	if (attempt_failed_by_chance(error))
		ReThrowError(error);
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("%s: %s", what, error->message),
			 error->hint ? errhint("%s", error->hint) :
			 errhint("The rest of the tick goes on. Triggers of your own on clutch.events must not raise.")));
	return 0;
}

TickReport
tick_all(int n)
{
	/* before its leases run out one by one, and come back to it */
	int			lost = do_part(watch_agents, n, "silent agents cannot be given up");
	TickReport	report = tick_timers(n);

	report.lost = lost;
	report.sent = schedule_send_due(n);
	report.routed += do_part(route_some, n, "waiting tasks cannot be given out");
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
