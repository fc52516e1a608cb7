/*-------------------------------------------------------------------------
 *
 * due.c
 *	  Tasks whose time has come.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/clock.h"
#include "base/savepoint.h"
#include "base/wait.h"
#include "flow/assign.h"
#include "flow/dependency.h"
#include "flow/due.h"
#include "flow/ending.h"
#include "flow/move.h"
#include "flow/requeue.h"
#include "miscadmin.h"
#include "outbox/call.h"
#include "queue/timer.h"
#include "routing/router.h"
#include "settings.h"
#include "trust/principal.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

bool
due_may_move_now(void)
{
	return !IsTransactionBlock() && principal_is_operator(principal_role());
}

int
due_moved(const DueReport *report)
{
	return report->expired + report->timed_out + report->woken + report->unclaimed + report->unsent;
}

/* ---------------------------------------------------------------- one task */

/*
 * Wakes a held task whose time has come.  It may still have to wait for
 * others.
 */
static void
due_wake(Task *task, DueReport *report)
{
	bool		in_doubt;

	report->woken++;
	switch (dependency_state(task, &in_doubt))
	{
		case DEPENDENCY_OPEN:
			dependency_wait_again(task);
			timer_set(task);
			task_save(task);
			break;
		case DEPENDENCY_FAILED:
			dependency_fail(task);
			break;
		case DEPENDENCY_MET:
			report->routed += assign_again(task);
			break;
	}
}

/* Is there an agent with room for the task that has not had it yet? */
static bool
due_could_go_on(Task *task)
{
	Envelope	request;
	Requirement requirement;
	Choice	   *choice;

	assign_read_request(task, &request);
	assign_read_requirement(task, &request, &requirement);
	choice = router_choose(&requirement);
	for (int i = 0; i < choice->ncandidates; i++)
		if (!task_was_with(task, choice->candidates[i].agent_id))
			return true;
	return false;
}

/*
 * Does the task still wait for a gateway to send its call, because the endpoint
 * is paused, or no gateway is running?  Unless another agent could do it, its
 * agent has not lost it then, and after as many losses as the task may have, it
 * would fail without ever having been sent.  So its lease begins anew, and so
 * does the time that it may run.
 */
static bool
due_waits_for_gateway(Task *task, TimestampTz now)
{
	const Endpoint *endpoint = endpoint_serving(task->agent_id);
	int64		patience;

	if (endpoint == NULL || !call_is_unclaimed(endpoint->name, task->task_id, task->attempt, task->since))
		return false;
	patience = endpoint->patience * USECS_PER_SEC;
	if (due_could_go_on(task))
		return false;
	move_begin_again(task, now, patience);
	return true;
}

/* Does what is due for the task, if anything still is. */
static void
due_move(Task *task, TimestampTz now, DueReport *report)
{
	bool		is_woken = task->wake_at != 0 && task->wake_at <= now;

	if (ending_at_deadline(task, now))
		report->timed_out++;
	else if (task->status == TASK_SUSPENDED && is_woken)
	{
		requeue_wake(task);
		report->woken++;
	}
	else if (task->status == TASK_RUNNING && (is_woken || task->lease_until <= now) &&
			 due_waits_for_gateway(task, now))
		report->unsent++;
	else if (task->status == TASK_RUNNING && is_woken)
	{
		ending_time_out(task, task->wake_at, "RUNTIME_EXCEEDED",
						"it ran longer than the card of its agent allows", true);
		report->timed_out++;
	}
	else if (task->status == TASK_RUNNING && task->lease_until <= now)
	{
		requeue_expire(task);
		report->expired++;
	}
	else if (task_is_held(task) && is_woken)
		due_wake(task, report);
	else if (timer_claim_end(task) != 0 && timer_claim_end(task) <= now)
	{
		assign_offer(task);
		report->unclaimed++;
	}
	else
	{
		/* it was extended meanwhile, so look at it again when that is due */
		timer_set(task);
		task_save(task);
	}
}

/* -------------------------------------------------------- one after another */

typedef struct DueWork
{
	int			n;
	TimestampTz now;
	TimerPlace	place;			/* the rows before this place have been looked
								 * at */
	DueReport	report;
	char		task_id[MAX_ID_BYTES + 1];	/* the task taken last, or empty if
											 * there was none left */
} DueWork;

static void
due_take_one(void *arg)
{
	DueWork    *work = arg;
	Task	   *task;

	CHECK_FOR_INTERRUPTS();
	work->task_id[0] = '\0';
	task = timer_take_due(work->now, &work->place);
	if (task == NULL)
		return;
	snprintf(work->task_id, sizeof(work->task_id), "%.*s", task->task_id.len, task->task_id.s);
	due_move(task, work->now, &work->report);
}

static void
due_take_all(void *arg)
{
	DueWork    *work = arg;
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch due task",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);

	do
	{
		due_take_one(work);
		MemoryContextReset(each);
	} while (work->task_id[0] != '\0' && due_moved(&work->report) < work->n);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

/* how long to leave a task alone that could not be moved */
#define PUT_OFF			USECS_PER_MINUTE

/* after so many of them, give up */
#define MOST_PUT_OFF	16

static void
due_put_off(const DueWork *work, const ErrorData *error)
{
	bool		busy;
	Task	   *task = task_lock_now(slice_of_cstring(work->task_id), &busy);

	if (task != NULL)
	{
		timer_put_off(task, work->now + PUT_OFF);
		task_save(task);
	}
	ereport(principal_level(task != NULL ? task->from_agent : SLICE_NONE),
			(errcode(error->sqlerrcode),
			 errmsg("task \"%s\" is due and cannot be moved: %s", work->task_id, error->message),
			 errhint("It is tried again in a minute; the other tasks are moved. %s "
					 "SELECT * FROM clutch.check() shows whether rows of the log or privileges of the owner are missing.",
					 savepoint_advice(error))));
}

/* Reports a task for which the server lacks memory or disk space. */
static void
due_report_lack(const DueWork *work, const ErrorData *error)
{
	ereport(principal_level(SLICE_NONE),
			(errcode(error->sqlerrcode),
			 errmsg("task \"%s\" is due and cannot be moved yet: %s", work->task_id, error->message),
			 errhint("It stays due, and is tried again by the next tick.%s%s",
					 error->hint != NULL ? " " : "", error->hint != NULL ? error->hint : "")));
}

/* what another transaction has locked, for example, is passed over so many times */
#define MOST_CHANCES	100

/*
 * Moves the tasks one by one, so that one that cannot be moved does not keep
 * the others from being moved.  A task that fails by chance stays due.
 */
static void
due_move_one_by_one(DueWork *work)
{
	static TimestampTz told_at = 0;
	int			failed = 0;
	int			chances = 0;

	do
	{
		DueReport	before = work->report;
		ErrorData  *error = savepoint_run_whole(due_take_one, work);

		if (error == NULL)
			continue;
		if (work->task_id[0] == '\0')
			ReThrowError(error);
		work->report = before;
		if (savepoint_failed_by_chance(error))
		{
			if (savepoint_lacked_resources(error) && savepoint_tells_of_lack(&told_at))
				due_report_lack(work, error);
			chances++;
			continue;
		}
		due_put_off(work, error);
		failed++;
	} while (work->task_id[0] != '\0' && failed < MOST_PUT_OFF && chances < MOST_CHANCES &&
			 due_moved(&work->report) < work->n);
}

static void
due_move_all(void *arg)
{
	DueWork    *work = arg;
	DueWork		none = *work;

	if (savepoint_run_whole(due_take_all, work) == NULL)
		return;
	*work = none;
	due_move_one_by_one(work);
}

DueReport
due_work(int n)
{
	DueWork		work = {n, clock_now(), TIMER_BEGIN};

	if (timer_is_due(work.now))
		wait_forbidden_run(due_move_all, &work);
	return work.report;
}

bool
due_settle(const Consequence *consequence)
{
	(void) due_work(consequence->amount);
	return true;
}
