/*-------------------------------------------------------------------------
 *
 * record.h
 *	  Appending an event about a task and applying it.  This is the only way to
 *	  change the fields that the log determines.
 *
 * There are three kinds of callers:
 *
 *	- a report at the door: its row is about to be written, and notice is NULL;
 *	- an event of the database itself: notice describes an envelope, which is
 *	  appended here, and event->seq and event->at are filled from its receipt;
 *	- a rebuild: the event is in the log, and notice is NULL.
 *
 * The effect on the task is the same, which is why a rebuild arrives at the
 * same state as the live database.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RECORD_H
#define CLUTCH_RECORD_H

#include "store/event.h"
#include "task/step.h"

/* an event of the database itself */
typedef struct Notice
{
	MessageType type;
	TaskMove	move;			/* for a task.progress: the move that it
								 * announces, or MOVE_NONE */
	Slice		from;			/* absent means the orchestrator */
	Slice		to;
	Jsonb	   *payload;
	Slice		idempotency_key;	/* absent if none */
} Notice;

/*
 * The caller has locked the task, and saves it afterwards.  Raises XX000 if
 * the step is not legal, so the caller must judge a report first
 * (task/verdict.h).  Returns the receipt of the notice, which is empty if
 * notice is NULL.
 */
extern Receipt record(Task *task, const Notice *notice, TaskEvent *event);

#endif							/* CLUTCH_RECORD_H */
