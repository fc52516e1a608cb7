/*-------------------------------------------------------------------------
 *
 * transition.h
 *	  The states of a task and the legal moves between them, as data.
 *
 * pending -> assigned -> running -> completed | failed | cancelled | timed_out
 *                           running -> input_required -> pending
 *
 * *pending* has no agent; *assigned* is given to an agent, holds a slot and
 * can be claimed; *input_required* is parked with a question, and holds none.  SQL sees the table as clutch.task_transitions().
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSITION_H
#define CLUTCH_TRANSITION_H

#include "base/text.h"

typedef enum TaskStatus
{
	TASK_PENDING,
	TASK_ASSIGNED,
	TASK_RUNNING,
	TASK_INPUT_REQUIRED,
	TASK_COMPLETED,
	TASK_FAILED,
	TASK_CANCELLED,
	TASK_TIMED_OUT
} TaskStatus;
#define NUM_TASK_STATUSES	(TASK_TIMED_OUT + 1)

/* what happens to a task; each is one kind of event in the log */
typedef enum TaskStep
{
	STEP_ASSIGN,				/* routing.decision, or a request to one agent */
	STEP_FAIL_TO_ROUTE,			/* routing.failure */
	STEP_ACCEPT,
	STEP_PROGRESS,
	STEP_PARK,					/* task.progress that asks a question */
	STEP_RESULT,
	STEP_ERROR,
	STEP_CANCEL,
	STEP_TIMEOUT,
	STEP_RELEASE,				/* task.progress, meta.clutch.move */
	STEP_LEASE_EXPIRED,
	STEP_RETRY,
	STEP_ANSWER,				/* of the question: it goes on */
	STEP_JOIN,					/* its children are over */
	STEP_LIFT					/* a more urgent one waits for it */
} TaskStep;
#define NUM_TASK_STEPS	(STEP_LIFT + 1)

extern const char *task_status_name(TaskStatus status);
extern TaskStatus task_status_parse(Slice name);
extern bool task_status_is_over(TaskStatus status);

extern const char *task_step_name(TaskStep step);

/* false: the step is not legal in that status */
extern bool transition_find(TaskStatus from, TaskStep step, TaskStatus *to);

/* the rows of the table one by one; false after the last */
extern bool transition_row(int n, TaskStatus *from, TaskStep *step, TaskStatus *to);

#endif							/* CLUTCH_TRANSITION_H */
