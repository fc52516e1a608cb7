/*-------------------------------------------------------------------------
 *
 * transition.c
 *	  The states of a task, and the legal transitions between them, as data.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "task/transition.h"

static const char *const status_names[NUM_TASK_STATUSES] = {
	"pending", "assigned", "running", "input_required", "suspended", "completed",
	"failed", "cancelled", "timed_out"
};

static const char *const step_names[NUM_TASK_STEPS] = {
	"assign", "fail_to_route", "accept", "progress", "park", "result", "error",
	"cancel", "timeout", "release", "lease_expired", "retry", "answer",
	"join", "lift", "suspend", "wake", "keep", "displace", "unclaimed", "share"
};

static const char *const waiting_for_names[NUM_WAITING_FOR] = {
	NULL, "agent", "capacity", "sibling", "retry", "time", "human",
	"children", "message"
};

static const char *const claim_reason_names[NUM_CLAIM_REASONS] = {
	"new", "retry", "moved", "resumed", "joined", "woken", "messaged"
};

static const struct
{
	TaskStatus	from;
	TaskStep	step;
	TaskStatus	to;
}			transitions[] = {
	{TASK_PENDING, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_PENDING, STEP_FAIL_TO_ROUTE, TASK_PENDING},
	/* over budget, or a task that it waited for has failed */
	{TASK_PENDING, STEP_ERROR, TASK_FAILED},
	{TASK_PENDING, STEP_CANCEL, TASK_CANCELLED},
	{TASK_PENDING, STEP_TIMEOUT, TASK_TIMED_OUT},
	/*
	 * its children do the work of a shared task; the database makes the result
	 * from theirs
	 */
	{TASK_PENDING, STEP_SHARE, TASK_PENDING},
	{TASK_PENDING, STEP_RESULT, TASK_COMPLETED},

	/*
	 * A report without a claim counts as the claim, too.  When the log is
	 * read, a request to one agent counts as an assignment; a routing.failure
	 * after it means that the agent could not take the task.
	 */
	{TASK_ASSIGNED, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_ASSIGNED, STEP_FAIL_TO_ROUTE, TASK_PENDING},
	{TASK_ASSIGNED, STEP_ACCEPT, TASK_RUNNING},
	{TASK_ASSIGNED, STEP_PROGRESS, TASK_RUNNING},
	{TASK_ASSIGNED, STEP_KEEP, TASK_RUNNING},
	{TASK_ASSIGNED, STEP_PARK, TASK_INPUT_REQUIRED},
	{TASK_ASSIGNED, STEP_SUSPEND, TASK_SUSPENDED},
	{TASK_ASSIGNED, STEP_RESULT, TASK_COMPLETED},
	{TASK_ASSIGNED, STEP_ERROR, TASK_FAILED},
	{TASK_ASSIGNED, STEP_CANCEL, TASK_CANCELLED},
	{TASK_ASSIGNED, STEP_TIMEOUT, TASK_TIMED_OUT},
	{TASK_ASSIGNED, STEP_RELEASE, TASK_PENDING},
	{TASK_ASSIGNED, STEP_DISPLACE, TASK_PENDING},
	{TASK_ASSIGNED, STEP_UNCLAIMED, TASK_PENDING},

	{TASK_RUNNING, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_RUNNING, STEP_ACCEPT, TASK_RUNNING},
	{TASK_RUNNING, STEP_PROGRESS, TASK_RUNNING},
	{TASK_RUNNING, STEP_KEEP, TASK_RUNNING},
	{TASK_RUNNING, STEP_PARK, TASK_INPUT_REQUIRED},
	{TASK_RUNNING, STEP_SUSPEND, TASK_SUSPENDED},
	{TASK_RUNNING, STEP_RESULT, TASK_COMPLETED},
	{TASK_RUNNING, STEP_ERROR, TASK_FAILED},
	{TASK_RUNNING, STEP_CANCEL, TASK_CANCELLED},
	{TASK_RUNNING, STEP_TIMEOUT, TASK_TIMED_OUT},
	{TASK_RUNNING, STEP_RELEASE, TASK_PENDING},
	{TASK_RUNNING, STEP_LEASE_EXPIRED, TASK_PENDING},

	/* its agent may report more, ask again, or end it without an answer */
	{TASK_INPUT_REQUIRED, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_INPUT_REQUIRED, STEP_ANSWER, TASK_PENDING},
	{TASK_INPUT_REQUIRED, STEP_PROGRESS, TASK_INPUT_REQUIRED},
	{TASK_INPUT_REQUIRED, STEP_KEEP, TASK_INPUT_REQUIRED},
	{TASK_INPUT_REQUIRED, STEP_PARK, TASK_INPUT_REQUIRED},
	{TASK_INPUT_REQUIRED, STEP_SUSPEND, TASK_SUSPENDED},
	{TASK_INPUT_REQUIRED, STEP_RESULT, TASK_COMPLETED},
	{TASK_INPUT_REQUIRED, STEP_ERROR, TASK_FAILED},
	{TASK_INPUT_REQUIRED, STEP_CANCEL, TASK_CANCELLED},
	{TASK_INPUT_REQUIRED, STEP_TIMEOUT, TASK_TIMED_OUT},
	{TASK_INPUT_REQUIRED, STEP_RELEASE, TASK_PENDING},

	/* its agent may wait for something else instead, or end it after all */
	{TASK_SUSPENDED, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_SUSPENDED, STEP_WAKE, TASK_PENDING},
	{TASK_SUSPENDED, STEP_PROGRESS, TASK_SUSPENDED},
	{TASK_SUSPENDED, STEP_KEEP, TASK_SUSPENDED},
	{TASK_SUSPENDED, STEP_PARK, TASK_INPUT_REQUIRED},
	{TASK_SUSPENDED, STEP_SUSPEND, TASK_SUSPENDED},
	{TASK_SUSPENDED, STEP_RESULT, TASK_COMPLETED},
	{TASK_SUSPENDED, STEP_ERROR, TASK_FAILED},
	{TASK_SUSPENDED, STEP_CANCEL, TASK_CANCELLED},
	{TASK_SUSPENDED, STEP_TIMEOUT, TASK_TIMED_OUT},
	{TASK_SUSPENDED, STEP_RELEASE, TASK_PENDING},

	/*
	 * these do not change the status, but are legal only for a task that is
	 * not over
	 */
	{TASK_PENDING, STEP_JOIN, TASK_PENDING},
	{TASK_ASSIGNED, STEP_JOIN, TASK_ASSIGNED},
	{TASK_RUNNING, STEP_JOIN, TASK_RUNNING},
	{TASK_INPUT_REQUIRED, STEP_JOIN, TASK_INPUT_REQUIRED},
	{TASK_SUSPENDED, STEP_JOIN, TASK_SUSPENDED},
	{TASK_PENDING, STEP_LIFT, TASK_PENDING},
	{TASK_ASSIGNED, STEP_LIFT, TASK_ASSIGNED},
	{TASK_RUNNING, STEP_LIFT, TASK_RUNNING},
	{TASK_INPUT_REQUIRED, STEP_LIFT, TASK_INPUT_REQUIRED},
	{TASK_SUSPENDED, STEP_LIFT, TASK_SUSPENDED},

	{TASK_FAILED, STEP_RETRY, TASK_PENDING},
	{TASK_CANCELLED, STEP_RETRY, TASK_PENDING},
	{TASK_TIMED_OUT, STEP_RETRY, TASK_PENDING},
};

const char *
task_status_name(TaskStatus status)
{
	return status_names[status];
}

/*
 * Returns the index of a name in one of the tables above.  "column" is the
 * column of clutch.task from which it was read.
 */
static int
transition_parse_name(const char *const *names, int n, Slice name, const char *column)
{
	int			i = slice_find(name, names, n);

	if (i >= 0)
		return i;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid value \"%.*s\" in column \"%s\" of clutch.task",
					name.len, name.s, column),
			 errhint("Run SELECT clutch.rebuild() to derive the state from the log again.")));
}

TaskStatus
task_status_parse(Slice name)
{
	return (TaskStatus) transition_parse_name(status_names, NUM_TASK_STATUSES, name, "status");
}

Slice
waiting_for_name(WaitingFor waiting_for)
{
	return waiting_for == WAITING_FOR_NOTHING ? SLICE_NONE :
		slice_of_cstring(waiting_for_names[waiting_for]);
}

WaitingFor
waiting_for_parse(Slice name)
{
	if (!slice_present(name))
		return WAITING_FOR_NOTHING;
	return (WaitingFor) transition_parse_name(waiting_for_names, NUM_WAITING_FOR, name, "waiting_for");
}

const char *
claim_reason_name(ClaimReason reason)
{
	return claim_reason_names[reason];
}

ClaimReason
claim_reason_parse(Slice name)
{
	return (ClaimReason) transition_parse_name(claim_reason_names, NUM_CLAIM_REASONS, name, "reason");
}

bool
claim_reason_find(Slice name, ClaimReason *reason)
{
	int			i = slice_find(name, claim_reason_names, NUM_CLAIM_REASONS);

	*reason = (ClaimReason) Max(i, 0);
	return i >= 0;
}

bool
claim_reason_goes_back(ClaimReason reason)
{
	return reason >= CLAIM_RESUMED;
}

bool
task_status_is_over(TaskStatus status)
{
	return status >= TASK_COMPLETED;
}

bool
task_status_holds_slot(TaskStatus status)
{
	return status == TASK_ASSIGNED || status == TASK_RUNNING;
}

const char *
task_step_name(TaskStep step)
{
	return step_names[step];
}

bool
transition_find(TaskStatus from, TaskStep step, TaskStatus *to)
{
	int			i;

	for (i = 0; i < lengthof(transitions); i++)
		if (transitions[i].from == from && transitions[i].step == step)
		{
			*to = transitions[i].to;
			return true;
		}
	return false;
}

bool
transition_row(int n, TaskStatus *from, TaskStep *step, TaskStatus *to)
{
	if (n >= lengthof(transitions))
		return false;
	*from = transitions[n].from;
	*step = transitions[n].step;
	*to = transitions[n].to;
	return true;
}
