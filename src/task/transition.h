/*-------------------------------------------------------------------------
 *
 * transition.h
 *	  The states of a task, and the legal transitions between them, as data.
 *
 * pending -> assigned -> running -> completed | failed | cancelled | timed_out
 *                        running -> input_required -> pending
 *                        running -> suspended -> pending
 *
 * A pending task has no agent.  An assigned task has been given to an agent,
 * holds a slot and can be claimed.  A task in input_required waits for the
 * answer to a question, and a suspended one for its children, a time or a
 * message; neither holds a slot.  In SQL, clutch.task_transitions() returns
 * the table.
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
	TASK_SUSPENDED,
	TASK_COMPLETED,
	TASK_FAILED,
	TASK_CANCELLED,
	TASK_TIMED_OUT
} TaskStatus;
#define NUM_TASK_STATUSES	(TASK_TIMED_OUT + 1)

/*
 * what a task that is not running waits for; column waiting_for of
 * clutch.tasks
 */
typedef enum WaitingFor
{
	WAITING_FOR_NOTHING,
	WAITING_FOR_AGENT,			/* no agent can do it */
	WAITING_FOR_CAPACITY,		/* every agent that can do it is busy */
	WAITING_FOR_SIBLING,		/* the tasks named by meta.clutch.after */
	WAITING_FOR_RETRY,			/* the delay before the next try */
	WAITING_FOR_TIME,			/* meta.clutch.not_before, or suspended */
	WAITING_FOR_HUMAN,			/* an answer to its question */
	WAITING_FOR_CHILDREN,		/* suspended, or shared out among them */
	WAITING_FOR_MESSAGE			/* suspended */
} WaitingFor;
#define NUM_WAITING_FOR		(WAITING_FOR_MESSAGE + 1)

/* why a task is claimed (again); column reason of clutch.claim */
typedef enum ClaimReason
{
	CLAIM_NEW,
	CLAIM_RETRY,				/* an earlier attempt failed */
	CLAIM_MOVED,				/* another agent lost it or gave it back */
	CLAIM_RESUMED,				/* its question has been answered */
	CLAIM_JOINED,				/* it was suspended until its children were
								 * over, and they are */
	CLAIM_WOKEN,				/* ... until a time, which has come */
	CLAIM_MESSAGED				/* ... until a message, which has come */
} ClaimReason;
#define NUM_CLAIM_REASONS	(CLAIM_MESSAGED + 1)

/* what happens to a task; each of these is one kind of event in the log */
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
	STEP_RELEASE,				/* task.progress with meta.clutch.move */
	STEP_LEASE_EXPIRED,
	STEP_RETRY,
	STEP_ANSWER,				/* its question has been answered */
	STEP_JOIN,					/* its children are over */
	STEP_LIFT,					/* a more urgent task waits for it */
	STEP_SUSPEND,				/* task.progress with meta.clutch.wait */
	STEP_WAKE,					/* what it was suspended for has happened */
	STEP_KEEP,					/* task.progress with meta.clutch.step */
	STEP_DISPLACE,				/* a more urgent task has taken its slot */
	STEP_UNCLAIMED,				/* its agent has not claimed it in time */
	STEP_SHARE					/* a rule shares it out among its children */
} TaskStep;
#define NUM_TASK_STEPS	(STEP_SHARE + 1)

/*
 * Names as SQL shows them.  The parsers raise XX001 (data_corrupted) for a
 * word that the extension never writes.  WAITING_FOR_NOTHING corresponds to an
 * absent slice.
 */
extern const char *task_status_name(TaskStatus status);
extern TaskStatus task_status_parse(Slice name);
extern Slice waiting_for_name(WaitingFor waiting_for);
extern WaitingFor waiting_for_parse(Slice name);
extern const char *claim_reason_name(ClaimReason reason);
extern ClaimReason claim_reason_parse(Slice name);
/* The same, but returns false if there is no such reason. */
extern bool claim_reason_find(Slice name, ClaimReason *reason);
extern const char *task_step_name(TaskStep step);

/* completed, failed, cancelled or timed out */
extern bool task_status_is_over(TaskStatus status);
/* assigned or running */
extern bool task_status_holds_slot(TaskStatus status);

/*
 * Does the agent that had the task until it waited get it back, if it can take
 * it?
 */
extern bool claim_reason_goes_back(ClaimReason reason);

/* Returns false if the step is not legal in that status. */
extern bool transition_find(TaskStatus from, TaskStep step, TaskStatus *to);

/*
 * Gets row n of the table, counted from 0.  Returns false if there is no such
 * row.
 */
extern bool transition_row(int n, TaskStatus *from, TaskStep *step, TaskStatus *to);

#endif							/* CLUTCH_TRANSITION_H */
