/*-------------------------------------------------------------------------
 *
 * claim.c
 *	  Taking work, holding it, giving it back.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/clock.h"
#include "base/document.h"
#include "flow/assign.h"
#include "flow/claim.h"
#include "flow/dependency.h"
#include "flow/ending.h"
#include "flow/liveness.h"
#include "flow/tick.h"
#include "queue/queue.h"
#include "queue/ready.h"
#include "queue/timer.h"
#include "registry/breaker.h"
#include "registry/roster.h"
#include "registry/slot.h"
#include "settings.h"
#include "task/notice.h"
#include "utils/timestamp.h"

/*
 * How much of tick's work a claim does in passing.  What it moves stays locked
 * until the claimer commits, so one that finds work of its own leaves the
 * timers alone, but for every 16th: agents that are never idle must not keep
 * a dead one's task for ever.
 */
#define IDLE_SHARE		8
#define BUSY_SHARE		1
#define BUSY_EVERY		16
/* for others, in a transaction that the client began: it may stay open for long */
#define OPEN_SHARE		2

TimestampTz
claim_runtime_end(const Task *task, TimestampTz from)
{
	Roster	   *roster = roster_get();
	int			ordinal = roster_find(roster, task->agent_id);
	int			seconds = ordinal < 0 ? 0 : roster_agent(roster, ordinal)->card.max_runtime_sec;

	return seconds == 0 ? 0 : TimestampTzPlusMilliseconds(from, (int64) seconds * 1000);
}

/* 0: for ever */
static TimestampTz
earlier(TimestampTz a, TimestampTz b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

TimestampTz
claim_lease_end(const Task *task, TimestampTz until)
{
	return earlier(earlier(until, task->deadline), task->wake_at);
}

static void
claim_one(Task *task, Slice agent_id, int64 lease)
{
	TimestampTz now = clock_now();
	TimestampTz until = earlier(claim_lease_end(task, now + lease), claim_runtime_end(task, now));
	TaskEvent	event = {STEP_ACCEPT};
	DocumentBuilder b;
	Receipt		receipt;

	document_begin(&b);
	document_put_int(&b, "attempt", task->attempt);
	document_put_timestamp(&b, "lease_until", until);
	receipt = notice_append(task, MSG_TASK_ACCEPT, MOVE_NONE, agent_id,
							task->from_agent, document_end(&b));
	event.seq = receipt.seq;
	event.at = receipt.received_at;
	event.agent = agent_id;

	event.wake_at = claim_runtime_end(task, event.at);
	task_apply(task, &event);
	task->queue_no = 0;
	task->lease_until = until;
	task->lease = lease;
	timer_set(task);
	task_save(task);
}

/* more of what is ready, after this many waiting tasks were given out */
static List *
pull_and_take(List *tasks, Slice agent_id, int n, int least_level)
{
	int			more = n - list_length(tasks);

	if (more > 0 && assign_pull(agent_id, more) > 0)
		tasks = list_concat(tasks, ready_take(agent_id, more, least_level));
	return tasks;
}

/* what is due may become ours, or make room for what waits */
static List *
take_due(Slice agent_id, int n)
{
	List	   *tasks = NIL;
	int			share = IsTransactionBlock() ? OPEN_SHARE : IDLE_SHARE;

	while (list_length(tasks) < n && share > 0)
	{
		TickReport	report = tick_timers(1);
		int			had = list_length(tasks);

		if (tick_moved(&report) == 0)
			break;
		tasks = list_concat(tasks, ready_take(agent_id, n - had, LEVEL_BATCH));
		tasks = pull_and_take(tasks, agent_id, n, LEVEL_BATCH);
		if (list_length(tasks) == had)
			share--;
	}
	return tasks;
}

/* what was taken, as it is now; NULL: it ended meanwhile, or moved */
static Task *
take_again(const Task *taken, Task *now)
{
	if (now == NULL || now->status != TASK_ASSIGNED || now->queue_no != taken->queue_no)
		return NULL;
	return now;
}

/*
 * What nobody claimed in time is no work any more.  Its parent may have to be
 * told: while somebody else has that one, the task is left where it was.
 */
static void
end_overdue(const Task *taken, TimestampTz now)
{
	Task	   *task = take_again(taken, task_lock_to_end(taken->task_id, false));

	if (task != NULL)
	{
		(void) ending_at_deadline(task, now);
		return;
	}
	task = take_again(taken, task_lock(taken->task_id, false));
	if (task != NULL)
	{
		ready_put(task);
		task_save(task);
	}
}

/*
 * Those that are still ours to claim, as they are now: what was done to get
 * the others may have ended them, or told them of the end of a child.
 */
static List *
sift(List *taken, uint64 changes)
{
	TimestampTz now = clock_now();
	List	   *tasks = NIL;
	ListCell   *cell;

	foreach(cell, taken)
	{
		Task	   *task = lfirst(cell);

		if (task->deadline != 0 && task->deadline <= now)
			end_overdue(task, now);
	}
	foreach(cell, taken)
	{
		Task	   *task = lfirst(cell);

		if (task->deadline != 0 && task->deadline <= now)
			continue;
		if (task_changes() != changes)
			task = take_again(task, task_lock(task->task_id, false));
		if (task != NULL)
			tasks = lappend(tasks, task);
	}
	return tasks;
}

List *
claim_tasks(Slice agent_id, int n, int64 lease)
{
	static int	claims = 0;
	uint64		changes;
	List	   *tasks;
	ListCell   *cell;

	(void) tick_epoch();
	if (++claims % BUSY_EVERY == 0)
		(void) tick_timers(BUSY_SHARE);
	changes = task_changes();
	tasks = ready_take(agent_id, n, LEVEL_LOW);
	tasks = pull_and_take(tasks, agent_id, n, LEVEL_LOW);
	/* batch work is for who has nothing else */
	if (tasks == NIL)
		tasks = ready_take(agent_id, n, LEVEL_BATCH);
	if (tasks == NIL)
		tasks = take_due(agent_id, n);
	tasks = sift(tasks, changes);
	foreach(cell, tasks)
		claim_one(lfirst(cell), agent_id, lease);
	return tasks;
}

LeaseState
claim_extend(Slice agent_id, Slice task_id, int attempt, int64 lease, TimestampTz *until)
{
	Task	   *task;

	(void) tick_epoch();
	task = task_lock(task_id, true);
	if (task == NULL)
		return LEASE_LOST;
	if (task->status == TASK_CANCELLED && task_was_with(task, agent_id))
		return LEASE_CANCELLED;
	if (task->status != TASK_RUNNING || (attempt > 0 && task->attempt != attempt) ||
		!slice_equal(task->agent_id, agent_id))
		return LEASE_LOST;
	/* the timer is left where it is: when it is due, the lease is looked at */
	task->lease_until = *until = claim_lease_end(task, clock_now() + lease);
	task->lease = lease;
	timer_set(task);
	task_save(task);
	return LEASE_HELD;
}

/* one event by whom, then the next attempt is routed, then the slot offered */
static Receipt
begin_again(Task *task, TaskEvent event, TaskMove move, Slice from, Slice to, Jsonb *payload)
{
	Receipt		receipt = notice_append(task, MSG_TASK_PROGRESS, move, from, to, payload);
	bool		ran_out = event.step == STEP_LEASE_EXPIRED &&
		task->lease_until <= receipt.received_at;
	Slice		agent_id = task->agent_id;
	Slice		freed = assign_withdraw(task, event.step == STEP_LEASE_EXPIRED ?
										OUTCOME_FAILED : OUTCOME_NONE);

	event.seq = receipt.seq;
	event.at = receipt.received_at;
	/* one that a copy of the database voids is nobody's failure */
	if (ran_out)
	{
		breaker_count(agent_id, event.seq, event.at, BREAKER_TIMED_OUT);
		liveness_timed_out(agent_id);
	}
	task_apply(task, &event);
	if (event.step == STEP_RETRY && dependency_hold(task))
		assign_hold(task);
	else
		(void) assign_again(task);
	if (slice_present(freed))
		assign_offer(freed);
	return receipt;
}

void
claim_void(Task *task)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "lease_expired");
	document_put_text(&b, "agent_id", task->agent_id);
	document_put_timestamp(&b, "lease_until", task->lease_until);
	(void) begin_again(task, (TaskEvent) {STEP_LEASE_EXPIRED}, MOVE_LEASE_EXPIRED,
					   SLICE_NONE, task->agent_id, document_end(&b));
}

void
claim_expire(Task *task)
{
	/* it may be the task that kills them */
	if (clutch_max_lease_losses > 0 && task->losses >= clutch_max_lease_losses)
		ending_fail(task, "LEASES_LOST",
					psprintf("its agents lost their lease on it %d times", task->losses + 1));
	else
		claim_void(task);
}

static Jsonb *
released(Slice reason)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "released");
	document_put_text(&b, "reason", reason);
	return document_end(&b);
}

Receipt
claim_release(Task *task, Slice reason)
{
	return begin_again(task, (TaskEvent) {STEP_RELEASE}, MOVE_RELEASED, task->agent_id,
					   task->from_agent, released(reason));
}

void
claim_take_away(Task *task, Slice reason)
{
	(void) begin_again(task, (TaskEvent) {STEP_RELEASE}, MOVE_RELEASED, SLICE_NONE,
					   task->agent_id, released(reason));
}

void
claim_resume(Task *task, int64 answer_seq, Slice answer_id)
{
	TaskEvent	event = {STEP_ANSWER};
	DocumentBuilder b;

	event.answer_seq = answer_seq;
	document_begin(&b);
	document_put_cstring(&b, "state", "answered");
	document_put_text(&b, "answer_id", answer_id);
	document_put_int(&b, "answer_seq", answer_seq);
	(void) begin_again(task, event, MOVE_ANSWERED, SLICE_NONE, task->agent_id,
					   document_end(&b));
}

Receipt
claim_retry(Task *task, Slice by_agent)
{
	TaskEvent	event = {STEP_RETRY};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "retried");
	document_put_cstring(&b, "was", task_status_name(task->status));
	event.deadline = task_default_deadline(clock_now());
	if (event.deadline != 0)
		document_put_timestamp(&b, "deadline", event.deadline);
	return begin_again(task, event, MOVE_RETRIED, by_agent,
					   task->from_agent, document_end(&b));
}
