/*-------------------------------------------------------------------------
 *
 * step.c
 *	  The state machine: what an event of the log does to its task.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "settings.h"
#include "task/step.h"

/* ---------------------------------------------------------------- applying */

/* Appends the agent to past_agents, where each agent occurs once. */
static void
step_remember_agent(Task *task)
{
	Slice	   *items = palloc(sizeof(Slice) * (task->past_agents.n + 1));
	int			n = 0;
	int			i;

	for (i = 0; i < task->past_agents.n; i++)
		if (!slice_equal(task->past_agents.items[i], task->agent_id))
			items[n++] = task->past_agents.items[i];
	items[n++] = task->agent_id;
	task->past_agents.items = items;
	task->past_agents.n = n;
}

/*
 * Takes the task from the agent.  What the agent still reports belongs to an
 * older attempt.
 */
static void
step_take_from_agent(Task *task)
{
	if (slice_present(task->agent_id))
		step_remember_agent(task);
	task->agent_id = SLICE_NONE;
	task->attempt++;
	task->reason = CLAIM_MOVED;
}

void
step_set_priority(Task *task, int priority)
{
	if (task->asked_priority >= 0)
	{
		task->asked_priority = priority;
		task->priority = Max(task->priority, priority);
	}
	else
		task->priority = priority;
}

static void
step_apply_assign(Task *task, const TaskEvent *event)
{
	if (event->has_priority)
		step_set_priority(task, event->priority);
	/* it is handed over while an agent has it */
	if (task->status != TASK_PENDING)
		step_take_from_agent(task);
	task->agent_id = event->agent;
	task->waiting_for = WAITING_FOR_NOTHING;
	task->wait_seq = 0;
	task->code = SLICE_NONE;
	task->detail = SLICE_NONE;
}

static void
step_apply_failure(Task *task, const TaskEvent *event)
{
	if (event->has_priority)
		step_set_priority(task, event->priority);
	/*
	 * the log had suggested that the agent named in the request had the task
	 */
	if (task->status == TASK_ASSIGNED)
	{
		task->agent_id = SLICE_NONE;
		task->since = task->created_at;
	}
	task->code = event->code;
	task->detail = event->detail;
	task->waiting_for = slice_equal(event->code, SLICE_OF("NO_CAPACITY")) ?
		WAITING_FOR_CAPACITY : WAITING_FOR_AGENT;
}

static void
step_apply_end(Task *task, const TaskEvent *event)
{
	bool		is_reported = event->step == STEP_RESULT || event->step == STEP_ERROR;

	if (event->was_pending && task->status == TASK_ASSIGNED)
		task->agent_id = SLICE_NONE;
	if (is_reported)
		task->result_seq = event->seq;
	if (is_reported && task->started_at == 0 && slice_present(task->agent_id))
		task->started_at = event->at;
	task->code = event->code;
	task->detail = event->detail;
	task->waiting_for = WAITING_FOR_NOTHING;
	task->finished_at = event->at;
}

/*
 * Retries a task: automatically after an error, when wake_at says when, and
 * otherwise by hand.
 */
static void
step_apply_retry(Task *task, const TaskEvent *event)
{
	step_take_from_agent(task);
	task->reason = CLAIM_RETRY;
	task->result_seq = 0;
	task->finished_at = 0;
	task->started_at = 0;
	if (event->wake_at != 0)
	{
		task->retries++;
		task->waiting_for = WAITING_FOR_RETRY;
		return;
	}
	task->retries = 0;
	task->losses = 0;
	task->code = SLICE_NONE;
	task->detail = SLICE_NONE;
	/* the old deadline has passed, or was meant for the first try */
	task->deadline = event->deadline;
	task->revived_seq = event->seq;
}

static void
step_apply_answer(Task *task, const TaskEvent *event)
{
	step_take_from_agent(task);
	task->reason = CLAIM_RESUMED;
	task->answer_seq = event->answer_seq;
	task->waiting_for = WAITING_FOR_NOTHING;
}

/* Suspends a task.  Without a note, the last progress stays the last one. */
static void
step_apply_suspend(Task *task, const TaskEvent *event)
{
	task->waiting_for = event->waiting_for;
	task->wait_seq = event->seq;
	task->wait_count = event->wait_count;
	if (event->has_note)
		task->progress_seq = event->seq;
	if (task->started_at == 0)
		task->started_at = event->at;
}

/*
 * Shares a task out.  It is held, and keeps its wait_seq as long as no agent
 * gets it.
 */
static void
step_apply_share(Task *task, const TaskEvent *event)
{
	if (event->has_priority)
		step_set_priority(task, event->priority);
	task->waiting_for = WAITING_FOR_CHILDREN;
	task->wait_seq = event->seq;
}

static void
step_apply_wake(Task *task, const TaskEvent *event)
{
	step_take_from_agent(task);
	task->reason = event->reason;
	task->answer_seq = event->answer_seq;
}

/* Clears the fields that say what a suspended task waits for. */
static void
step_end_wait(Task *task)
{
	task->waiting_for = WAITING_FOR_NOTHING;
	task->wait_seq = 0;
	task->wait_count = JOIN_NONE;
}

/*
 * Makes a displaced task pending again, where it was before, as if the agent
 * had never had it.  Nevertheless, reports by that agent belong to an older
 * attempt.
 */
static void
step_apply_displacement(Task *task, const TaskEvent *event)
{
	ClaimReason reason = task->reason;

	step_take_from_agent(task);
	task->reason = reason;
	task->since = event->since;
	task->waiting_for = WAITING_FOR_CAPACITY;
	task->code = SLICE_OF("NO_CAPACITY");
	task->detail = event->detail;
}

/*
 * Makes an unclaimed task pending.  If it had been resumed, the next agent
 * must learn that.
 */
static void
step_apply_unclaimed(Task *task)
{
	ClaimReason reason = task->reason;

	step_take_from_agent(task);
	if (claim_reason_goes_back(reason))
		task->reason = reason;
	task->unclaimed++;
}

static void
step_apply_lift(Task *task, const TaskEvent *event)
{
	if (task->asked_priority < 0)
		task->asked_priority = task->priority;
	task->priority = event->priority;
}

/* Applies a report after which the agent still has the task. */
static void
step_apply_report(Task *task, const TaskEvent *event)
{
	if (event->step == STEP_PARK)
	{
		task->question_seq = event->seq;
		task->waiting_for = WAITING_FOR_HUMAN;
	}
	if (event->step == STEP_PARK || event->step == STEP_PROGRESS)
		task->progress_seq = event->seq;
	if (task->started_at == 0)
		task->started_at = event->at;
}

/* Changes all fields except the status. */
static void
step_apply_fields(Task *task, const TaskEvent *event)
{
	switch (event->step)
	{
		case STEP_ASSIGN:
			step_apply_assign(task, event);
			break;
		case STEP_FAIL_TO_ROUTE:
			step_apply_failure(task, event);
			break;
		case STEP_PARK:
		case STEP_PROGRESS:
		case STEP_ACCEPT:
		case STEP_KEEP:
			step_apply_report(task, event);
			break;
		case STEP_LEASE_EXPIRED:
			task->losses++;
			/* FALLTHROUGH */
		case STEP_RELEASE:
			step_take_from_agent(task);
			break;
		case STEP_JOIN:
			task->joined_seq = event->seq;
			break;
		case STEP_LIFT:
			step_apply_lift(task, event);
			break;
		case STEP_DISPLACE:
			step_apply_displacement(task, event);
			break;
		case STEP_UNCLAIMED:
			step_apply_unclaimed(task);
			break;
		case STEP_SHARE:
			step_apply_share(task, event);
			break;
		case STEP_ANSWER:
			step_apply_answer(task, event);
			break;
		case STEP_SUSPEND:
			step_apply_suspend(task, event);
			break;
		case STEP_WAKE:
			step_apply_wake(task, event);
			break;
		case STEP_RETRY:
			step_apply_retry(task, event);
			break;
		case STEP_RESULT:
		case STEP_ERROR:
		case STEP_CANCEL:
		case STEP_TIMEOUT:
			step_apply_end(task, event);
			break;
	}
}

bool
step_apply(Task *task, const TaskEvent *event)
{
	TaskStatus	to;

	if (!transition_find(task->status, event->step, &to))
		return false;
	if (to != task->status || event->step == STEP_ASSIGN)
		task->since = event->at;
	if (to != task->status || event->step == STEP_PARK || event->step == STEP_SUSPEND ||
		event->step == STEP_FAIL_TO_ROUTE || event->step == STEP_SHARE)
		task->wake_at = event->wake_at;
	if (task->status == TASK_SUSPENDED && to != TASK_SUSPENDED)
		step_end_wait(task);
	if (to != TASK_PENDING && to != TASK_ASSIGNED)
		task->unclaimed = 0;
	step_apply_fields(task, event);
	task->status = to;
	return true;
}

/*
 * Did the requester leave the agent too little time?  Any role may request
 * tasks of any agent and choose their deadlines, and three deadlines that
 * nobody could keep must not make the agent UNAVAILABLE.  A task that is not
 * claimed in time is handled by STEP_UNCLAIMED.
 */
static bool
step_was_hurried(const Task *task, const TaskEvent *event)
{
	return slice_equal(event->code, SLICE_OF("DEADLINE_EXCEEDED")) &&
		(task->status == TASK_ASSIGNED ||
		 task->deadline - task->since < (int64) clutch_default_lease * USECS_PER_SEC);
}

/*
 * Does this code of an error blame the request?  Then it does not count against
 * the agent (spec 003 5.3, 9.1), or one bad sender could close the agent to all
 * others.  Adapters use the last two codes for the error of a server that refuses
 * the arguments of a call.
 */
static bool
step_blames_request(Slice code)
{
	return slice_equal(code, SLICE_OF("REJECTED")) ||
		slice_equal(code, SLICE_OF("INVALID_PARAMS")) ||
		slice_equal(code, SLICE_OF("SCHEMA_VIOLATION"));
}

AttemptOutcome
step_outcome(const Task *task, const TaskEvent *event)
{
	bool		is_held = task_status_holds_slot(task->status) && !event->was_pending;

	switch (event->step)
	{
		case STEP_RESULT:
			/* the task was shared out, and its children have been counted */
			return task->status == TASK_PENDING ? ATTEMPT_UNDECIDED : ATTEMPT_DONE;
		case STEP_ERROR:
			if (step_blames_request(event->code))
				return ATTEMPT_UNDECIDED;
			return is_held || !event->by_database ? ATTEMPT_FAILED : ATTEMPT_UNDECIDED;
		case STEP_TIMEOUT:
			return is_held && !step_was_hurried(task, event) ? ATTEMPT_TIMED_OUT : ATTEMPT_UNDECIDED;
		case STEP_LEASE_EXPIRED:
			/*
			 * a restored copy voids leases that have not expired, which is not
			 * the agent's fault
			 */
			return event->lease_until != 0 && event->lease_until <= event->at ?
				ATTEMPT_TIMED_OUT : ATTEMPT_UNDECIDED;
		case STEP_UNCLAIMED:
			/* an agent that is busy with other work would have come to it */
			return event->was_idle ? ATTEMPT_FAILED : ATTEMPT_UNDECIDED;
		default:
			return ATTEMPT_UNDECIDED;
	}
}
