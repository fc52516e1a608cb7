/*-------------------------------------------------------------------------
 *
 * transition.c
 *	  The states of a task and the legal moves between them, as data.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "task/transition.h"

static const char *const status_names[NUM_TASK_STATUSES] = {
	"pending", "assigned", "running", "input_required", "completed", "failed",
	"cancelled", "timed_out"
};

static const char *const step_names[NUM_TASK_STEPS] = {
	"assign", "fail_to_route", "accept", "progress", "park", "result", "error",
	"cancel", "timeout", "release", "lease_expired", "retry", "answer",
	"join", "lift"
};

static const struct
{
	TaskStatus	from;
	TaskStep	step;
	TaskStatus	to;
}			transitions[] = {
	{TASK_PENDING, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_PENDING, STEP_FAIL_TO_ROUTE, TASK_PENDING},
	{TASK_PENDING, STEP_ERROR, TASK_FAILED},	/* over budget, or what it waited for failed */
	{TASK_PENDING, STEP_CANCEL, TASK_CANCELLED},
	{TASK_PENDING, STEP_TIMEOUT, TASK_TIMED_OUT},

	/* a report without a claim is the claim as well */
	{TASK_ASSIGNED, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_ASSIGNED, STEP_ACCEPT, TASK_RUNNING},
	{TASK_ASSIGNED, STEP_PROGRESS, TASK_RUNNING},
	{TASK_ASSIGNED, STEP_PARK, TASK_INPUT_REQUIRED},
	{TASK_ASSIGNED, STEP_RESULT, TASK_COMPLETED},
	{TASK_ASSIGNED, STEP_ERROR, TASK_FAILED},
	{TASK_ASSIGNED, STEP_CANCEL, TASK_CANCELLED},
	{TASK_ASSIGNED, STEP_TIMEOUT, TASK_TIMED_OUT},
	{TASK_ASSIGNED, STEP_RELEASE, TASK_PENDING},

	{TASK_RUNNING, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_RUNNING, STEP_ACCEPT, TASK_RUNNING},
	{TASK_RUNNING, STEP_PROGRESS, TASK_RUNNING},
	{TASK_RUNNING, STEP_PARK, TASK_INPUT_REQUIRED},
	{TASK_RUNNING, STEP_RESULT, TASK_COMPLETED},
	{TASK_RUNNING, STEP_ERROR, TASK_FAILED},
	{TASK_RUNNING, STEP_CANCEL, TASK_CANCELLED},
	{TASK_RUNNING, STEP_TIMEOUT, TASK_TIMED_OUT},
	{TASK_RUNNING, STEP_RELEASE, TASK_PENDING},
	{TASK_RUNNING, STEP_LEASE_EXPIRED, TASK_PENDING},

	/* who asked may say more, ask anew, or find the end without an answer */
	{TASK_INPUT_REQUIRED, STEP_ASSIGN, TASK_ASSIGNED},
	{TASK_INPUT_REQUIRED, STEP_ANSWER, TASK_PENDING},
	{TASK_INPUT_REQUIRED, STEP_PROGRESS, TASK_INPUT_REQUIRED},
	{TASK_INPUT_REQUIRED, STEP_PARK, TASK_INPUT_REQUIRED},
	{TASK_INPUT_REQUIRED, STEP_RESULT, TASK_COMPLETED},
	{TASK_INPUT_REQUIRED, STEP_ERROR, TASK_FAILED},
	{TASK_INPUT_REQUIRED, STEP_CANCEL, TASK_CANCELLED},
	{TASK_INPUT_REQUIRED, STEP_TIMEOUT, TASK_TIMED_OUT},
	{TASK_INPUT_REQUIRED, STEP_RELEASE, TASK_PENDING},

	/* said to it, or of it, while it lives */
	{TASK_PENDING, STEP_JOIN, TASK_PENDING},
	{TASK_ASSIGNED, STEP_JOIN, TASK_ASSIGNED},
	{TASK_RUNNING, STEP_JOIN, TASK_RUNNING},
	{TASK_INPUT_REQUIRED, STEP_JOIN, TASK_INPUT_REQUIRED},
	{TASK_PENDING, STEP_LIFT, TASK_PENDING},
	{TASK_ASSIGNED, STEP_LIFT, TASK_ASSIGNED},
	{TASK_RUNNING, STEP_LIFT, TASK_RUNNING},
	{TASK_INPUT_REQUIRED, STEP_LIFT, TASK_INPUT_REQUIRED},

	{TASK_FAILED, STEP_RETRY, TASK_PENDING},
	{TASK_CANCELLED, STEP_RETRY, TASK_PENDING},
	{TASK_TIMED_OUT, STEP_RETRY, TASK_PENDING},
};

const char *
task_status_name(TaskStatus status)
{
	return status_names[status];
}

TaskStatus
task_status_parse(Slice name)
{
	int			i;

	for (i = 0; i < NUM_TASK_STATUSES; i++)
		if (slice_equal(name, slice_of_cstring(status_names[i])))
			return (TaskStatus) i;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("task has unknown status \"%.*s\"", name.len, name.s),
			 errhint("Run SELECT clutch.rebuild() to make the state anew from the log.")));
}

bool
task_status_is_over(TaskStatus status)
{
	return status >= TASK_COMPLETED;
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
