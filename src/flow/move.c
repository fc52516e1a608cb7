/*-------------------------------------------------------------------------
 *
 * move.c
 *	  Moving tasks: a task leaves its place, the event is recorded, and it
 *	  enters the next place.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "flow/agenda.h"
#include "flow/attempt.h"
#include "flow/move.h"
#include "outbox/call.h"
#include "protocol/identifier.h"
#include "queue/question.h"
#include "queue/ready.h"
#include "queue/suspended.h"
#include "queue/timer.h"
#include "queue/waiting.h"
#include "registry/breaker.h"
#include "registry/roster.h"
#include "registry/slot.h"
#include "settings.h"
#include "store/participant.h"
#include "task/edge.h"
#include "utils/timestamp.h"

/* ------------------------------------------------------------------ leases */

TimestampTz
move_runtime_end(const Task *task, TimestampTz from)
{
	const RosterAgent *agent = roster_look(task->agent_id);
	int			seconds = agent == NULL ? 0 : agent->card.max_runtime_sec;

	return seconds == 0 ? 0 : TimestampTzPlusMilliseconds(from, (int64) seconds * 1000);
}

/* Returns the earlier of two times, where 0 stands for "never". */
static TimestampTz
move_earlier_time(TimestampTz a, TimestampTz b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

void
move_lease(Task *task, TimestampTz from, int64 lease, TimestampTz runtime_end)
{
	task->lease_until = move_earlier_time(move_earlier_time(from + lease, task->deadline), runtime_end);
	task->lease = lease;
}

void
move_begin_again(Task *task, TimestampTz from, int64 lease)
{
	task->wake_at = move_runtime_end(task, from);
	move_lease(task, from, lease, task->wake_at);
	timer_set(task);
	task_save(task);
}

/* ----------------------------------------------------------------- leaving */

/* Does the task leave its queue in this step, for no queue or another one? */
static bool
move_leaves_queue(const Task *task, TaskStep step, TaskStatus to)
{
	return to != task->status || step == STEP_ASSIGN || step == STEP_PARK ||
		step == STEP_SUSPEND ||
		(step == STEP_LIFT && task->status != TASK_INPUT_REQUIRED && task->status != TASK_SUSPENDED);
}

/*
 * Does the task keep its place in the order of waiting tasks?  It does if it
 * is given to an agent, lifted there, or displaced, but not if it begins again
 * in another way.
 */
static bool
move_keeps_order(const Task *task, TaskStep step)
{
	return step == STEP_DISPLACE || (step == STEP_ASSIGN && task->status == TASK_PENDING) ||
		(step == STEP_LIFT && task->status == TASK_ASSIGNED);
}

static void
move_leave_queue(Task *task, TaskStep step)
{
	if (task->status == TASK_ASSIGNED)
		ready_remove(task);
	else if (task->status == TASK_PENDING)
	{
		waiting_remove(task);
		/* a task that is lifted goes on waiting for the others */
		if (task_awaits_others(task) && step != STEP_LIFT)
			edge_forget_unknown(task->task_id);
	}
	else if (task->status == TASK_INPUT_REQUIRED)
		question_remove(task);
	else if (task->status == TASK_SUSPENDED)
		suspended_remove(task);
}

static SlotOutcome
move_slot_outcome_of(AttemptOutcome outcome)
{
	switch (outcome)
	{
		case ATTEMPT_DONE:
			return OUTCOME_DONE;
		case ATTEMPT_FAILED:
		case ATTEMPT_TIMED_OUT:
			return OUTCOME_FAILED;
		case ATTEMPT_UNDECIDED:
			break;
	}
	return OUTCOME_NONE;
}

/*
 * Frees the slot.  The agent has room for another task, which the agenda will
 * offer to it.
 */
static void
move_leave_slot(Task *task, AttemptOutcome outcome)
{
	slot_free(task->agent_id, task->slot_no, task->request_seq, move_slot_outcome_of(outcome));
	task->slot_no = -1;
	agenda_add_agent(CONSEQUENCE_OFFER, task->agent_id, 1);
}

/*
 * Removes the task from its queue, slot and timer, as far as the new status
 * has no use for them.
 */
static void
move_leave_place(Task *task, const TaskEvent *event, TaskStatus to, AttemptOutcome outcome)
{
	if (move_leaves_queue(task, event->step, to))
		move_leave_queue(task, event->step);
	if (!move_keeps_order(task, event->step))
	{
		task->left_no = 0;
		task->left_since = 0;
	}
	if (task->slot_no >= 0 && (!task_status_holds_slot(to) || event->step == STEP_ASSIGN))
		move_leave_slot(task, outcome);
	else if (outcome != ATTEMPT_UNDECIDED)
		slot_count(task->agent_id, task->task_id, task->request_seq, move_slot_outcome_of(outcome));
	if (to != TASK_RUNNING)
	{
		task->lease_until = 0;
		task->lease = 0;
	}
	/* the timer row of a claimed task is used for its lease as well */
	if (to != task->status && !task_status_holds_slot(to))
		timer_clear(task);
}

/*
 * Records that the agent has taken part in the run.  While the task is ready,
 * the task itself shows that; and once the agent has claimed it, the log does.
 */
static void
move_leave_agent(const Task *task, TaskStep step, TaskStatus to)
{
	if (task->status == TASK_ASSIGNED && to != TASK_RUNNING &&
		(to != TASK_ASSIGNED || step == STEP_ASSIGN))
		participant_add(task->agent_id, task->run_id);
}

/* ---------------------------------------------------------------- entering */

/*
 * Sets the timer.  For an assigned task, it is set to the time after one
 * lease, because by then the task usually has a lease, so claiming it does not
 * change the timer.
 */
static void
move_set_timer(Task *task, const TaskEvent *event)
{
	if (task_status_is_over(task->status))
		timer_clear(task);
	else if (event->step == STEP_ASSIGN)
		timer_set_before(task, TimestampTzPlusMilliseconds(event->at,
														   (int64) clutch_default_lease * 1000));
	else
		timer_set(task);
}

/*
 * Puts the task into its new place. "kind" is the kind of the queue from which
 * it was taken only to be put back with a higher priority.
 */
static void
move_enter_place(Task *task, const TaskEvent *event, int64 kind)
{
	if (task->status == TASK_ASSIGNED && task->queue_no == 0)
		ready_put(task);
	else if (task->status == TASK_INPUT_REQUIRED && event->step == STEP_PARK)
		question_put(task);
	else if (task->status == TASK_SUSPENDED && event->step == STEP_SUSPEND)
		suspended_put(task);
	else if (task->status == TASK_PENDING && event->step == STEP_LIFT && kind != 0)
		waiting_put_kind(task, kind);
	move_set_timer(task, event);
}

/* ------------------------------------------------------------ consequences */

/*
 * Puts the waiters on the agenda.  Uncommitted ones are included, because
 * their own transactions may have looked at this task before it was moved.
 */
static void
move_tell_waiters(const Task *task)
{
	ListCell   *cell;

	foreach(cell, edge_list_waiters(task->task_id, ROWS_DIRTY))
		agenda_add_task(CONSEQUENCE_DEPENDENT, task->depth, *(Slice *) lfirst(cell));
}

static void
move_tell_parent(const Task *task)
{
	Consequence join = {CONSEQUENCE_JOIN, task->depth - 1, task->parent_task_id,
	.amount = task->join, .seq = task_counts_since(task)};

	if (!slice_present(task->parent_task_id))
		return;
	if (task->join != JOIN_NONE)
		agenda_add(&join);
	if (suspended_has(task->parent_task_id))
		agenda_add_task(CONSEQUENCE_WAKE, task->depth - 1, task->parent_task_id);
}

static void
move_tell_children(const Task *task, const TaskEvent *event)
{
	Consequence cancel = {CONSEQUENCE_CANCEL_CHILDREN, task->depth, task->task_id};

	cancel.because = slice_present(event->ancestor) ? event->ancestor : task->task_id;
	agenda_add(&cancel);
}

static void
move_add_consequences(const Task *task, const TaskEvent *event, AttemptOutcome outcome,
					  Slice agent_id)
{
	if (outcome == ATTEMPT_TIMED_OUT)
		agenda_add_agent(CONSEQUENCE_TIMED_OUT, agent_id, 1);
	/* nobody else would use the results of its children */
	if (event->step == STEP_CANCEL || (event->step == STEP_TIMEOUT && task_is_shared(task)))
		move_tell_children(task, event);
	/* what it waits for may already have happened */
	if (event->step == STEP_SUSPEND && task->waiting_for != WAITING_FOR_TIME)
		agenda_add_task(CONSEQUENCE_WAKE, task->depth, task->task_id);
	if (event->step == STEP_ASSIGN && endpoint_serving(task->agent_id) != NULL)
		agenda_add_task(CONSEQUENCE_CALL, task->depth, task->task_id);
	if (!task_status_is_over(task->status))
		return;
	move_tell_waiters(task);
	move_tell_parent(task);
}

/* ------------------------------------------------------- behind an endpoint */

/* Returns the agent of the last attempt before this one, or an absent slice. */
static Slice
move_last_agent(const Task *task)
{
	return task->past_agents.n > 0 ? task->past_agents.items[task->past_agents.n - 1] : SLICE_NONE;
}

/*
 * Returns the agent that is at work on the task, or may be, or an absent slice
 * if there is none.  While the task waits for an agent, that is the last one
 * that has had it.  If it has asked a question or suspended the task, it waits
 * until it gets the task again.  If it has lost its lease, or exceeded its time,
 * it may still be at work.
 */
static Slice
move_agent_at_work(const Task *task)
{
	switch (task->status)
	{
		case TASK_RUNNING:
		case TASK_INPUT_REQUIRED:
		case TASK_SUSPENDED:
			return task->agent_id;
		case TASK_PENDING:
		case TASK_ASSIGNED:
			return move_last_agent(task);
		default:
			return SLICE_NONE;
	}
}

/*
 * Is the task over now, although the agent that was at work on it has not ended
 * it?
 */
static bool
move_ends_without(const Task *task, const TaskEvent *event, Slice at_work)
{
	return slice_present(at_work) && !slice_equal(event->agent, at_work) &&
		(task->status == TASK_CANCELLED || task->status == TASK_TIMED_OUT ||
		 (task->status == TASK_FAILED && event->by_database));
}

/*
 * Returns the ID of the call that tells the agent of an attempt that its work is
 * not wanted any more.  The agent is to be told once, even if the task is
 * retried and ends again before another attempt is sent.
 */
static Slice
move_cancel_id(const Task *task, int attempt)
{
	const Slice parts[] = {task->task_id, slice_of_cstring(psprintf(INT64_FORMAT "_%d", task->created_at, attempt))};

	return slice_of_cstring(identifier_derive("msg_cancel", parts, lengthof(parts)));
}

/*
 * If the agent is behind an endpoint, writes a call that tells the other side
 * that its work is no longer wanted.  A request that no gateway has claimed is
 * withdrawn instead, and so is an answer to a question.  But the other side
 * still waits for the answer, and if the request was withdrawn, the agent of
 * the attempt before may still be at work on that one.  "since" is when the
 * agent got the task, or 0 if it has only had an earlier attempt.
 */
static void
move_call_off(const Task *task, const TaskEvent *event, Slice agent_id, TimestampTz since)
{
	const Endpoint *endpoint = endpoint_serving(agent_id);
	Call		call = {.kind = CALL_CANCEL, .seq = event->seq, .run_id = task->run_id, .task_id = task->task_id};
	bool		is_sent = since != 0;

	if (is_sent && endpoint != NULL &&
		call_withdraw(endpoint->name, task->task_id, task->attempt, since) == task->request_seq)
	{
		is_sent = false;
		agent_id = move_last_agent(task);
		endpoint = slice_present(agent_id) ? endpoint_serving(agent_id) : NULL;
	}
	if (endpoint == NULL || !endpoint_takes_cancel(endpoint))
		return;
	call.endpoint = endpoint->name;
	call.agent_id = agent_id;
	call.task_attempt = is_sent ? task->attempt : attempt_find_open(task->task_id, agent_id, task->attempt - 1);
	if (call.task_attempt < 0)
		return;
	call.id = move_cancel_id(task, call.task_attempt);
	call_put_again(&call);
}

/* ------------------------------------------------------------------- moving */

void
move_count_outcome(Slice agent_id, const TaskEvent *event, AttemptOutcome outcome)
{
	switch (outcome)
	{
		case ATTEMPT_DONE:
			breaker_count(agent_id, event->seq, event->at, BREAKER_DONE);
			break;
		case ATTEMPT_FAILED:
			breaker_count(agent_id, event->seq, event->at, BREAKER_FAILED);
			break;
		case ATTEMPT_TIMED_OUT:
			breaker_count(agent_id, event->seq, event->at, BREAKER_TIMED_OUT);
			break;
		case ATTEMPT_UNDECIDED:
			break;
	}
}

/*
 * Does the step.  slot_no is the slot that a task of STEP_ASSIGN enters, and
 * -1 otherwise.
 */
static Receipt
move_in_slot(Task *task, const Notice *notice, TaskEvent *event, int slot_no)
{
	Slice		agent_id = task->agent_id;
	Slice		at_work = move_agent_at_work(task);
	TaskStatus	to = task->status;
	TimestampTz since = task->status == TASK_PENDING || task->status == TASK_ASSIGNED ? 0 : task->since;
	int64		kind = task->queue_kind;
	AttemptOutcome outcome;
	Receipt		receipt;

	/* record sets the time of the event itself, which is hardly later */
	if (notice != NULL)
		event->at = clock_now();
	outcome = step_outcome(task, event);
	(void) transition_find(task->status, event->step, &to);
	move_leave_agent(task, event->step, to);
	move_leave_place(task, event, to, outcome);
	receipt = record(task, notice, event);
	if (event->step == STEP_ASSIGN)
		task->slot_no = slot_no;
	move_count_outcome(agent_id, event, outcome);
	move_enter_place(task, event, kind);
	task_save(task);
	move_add_consequences(task, event, outcome, agent_id);
	if (move_ends_without(task, event, at_work))
		move_call_off(task, event, at_work, since);
	return receipt;
}

Receipt
move_task(Task *task, const Notice *notice, TaskEvent *event)
{
	Assert(event->step != STEP_ASSIGN);
	return move_in_slot(task, notice, event, -1);
}

void
move_to_agent(Task *task, const Notice *notice, TaskEvent *event, int slot_no)
{
	Assert(event->step == STEP_ASSIGN);
	(void) move_in_slot(task, notice, event, slot_no);
}
