/*-------------------------------------------------------------------------
 *
 * step.h
 *	  The state machine: what an event of the log does to its task.
 *
 * A TaskEvent is an event reduced to what the state machine needs.  It is made
 * from a report at the door, from an event that the database itself is about
 * to append, or from a row of the log in a rebuild.  The effect is the same.
 * (docs/protocol.md, section 5.)
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_STEP_H
#define CLUTCH_STEP_H

#include "task/task.h"

/* one event of the log, as the state machine sees it */
typedef struct TaskEvent
{
	TaskStep	step;
	int64		seq;
	TimestampTz at;				/* received_at */
	Slice		agent;			/* STEP_ASSIGN: the agent that gets it;
								 * otherwise the reporter */
	Slice		code;			/* for a failure, error or timeout */
	Slice		detail;			/* the same in words */
	Slice		ancestor;		/* STEP_CANCEL: the ancestor whose cancellation
								 * reached it, or absent */
	TimestampTz wake_at;		/* until when the task waits at most; 0 if
								 * there is no such time */
	int64		answer_seq;		/* STEP_ANSWER, and STEP_WAKE by a message;
								 * otherwise 0 */
	WaitingFor	waiting_for;	/* STEP_SUSPEND */
	int			wait_count;		/* STEP_SUSPEND for children: how many, or JOIN_ALL */
	bool		has_note;		/* STEP_SUSPEND: the payload says more than the
								 * state */
	ClaimReason reason;			/* STEP_WAKE */
	TimestampTz deadline;		/* STEP_RETRY by hand; 0 if none */
	int			priority;		/* STEP_LIFT; or the priority set by a rule, if
								 * has_priority */
	bool		has_priority;	/* STEP_ASSIGN, STEP_FAIL_TO_ROUTE, STEP_SHARE */
	TimestampTz since;			/* STEP_DISPLACE: the time by which it keeps
								 * its old place */
	bool		was_idle;		/* STEP_UNCLAIMED: its agent was working on
								 * nothing else */
	TimestampTz lease_until;	/* STEP_ACCEPT, STEP_LEASE_EXPIRED: the end of
								 * the lease */
	bool		was_pending;	/* an end: no agent had the task, whatever the
								 * log suggests */
	bool		by_database;	/* an error: not reported by its agent */
} TaskEvent;

/* what an event says about the attempt of the agent that has the task */
typedef enum AttemptOutcome
{
	ATTEMPT_UNDECIDED,			/* given back, cancelled or rejected, which
								 * says nothing */
	ATTEMPT_DONE,
	ATTEMPT_FAILED,
	ATTEMPT_TIMED_OUT
} AttemptOutcome;

/*
 * Fills in a TaskEvent from an event that is in the log, or about to be: its
 * step and everything that its payload says about it.  Returns false if the
 * event moves no task.
 */
extern bool step_read(const Envelope *envelope, int64 seq, TimestampTz at,
					  TaskEvent *event);

/*
 * Changes the fields that the log determines.  If the step is not legal now,
 * returns false and changes nothing.
 */
extern bool step_apply(Task *task, const TaskEvent *event);

/*
 * Sets the priority that a rule gives the task.  A task that was lifted stays
 * as urgent as it is.
 */
extern void step_set_priority(Task *task, int priority);

/*
 * Returns what the event says about the attempt of the agent that has the task
 * now.  To be called before step_apply.
 */
extern AttemptOutcome step_outcome(const Task *task, const TaskEvent *event);

#endif							/* CLUTCH_STEP_H */
