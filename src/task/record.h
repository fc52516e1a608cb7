/*-------------------------------------------------------------------------
 *
 * record.h
 *	  Appending an event about a task and applying it: the only way in which
 *	  the fields that the log decides are changed.
 *
 * Three callers have three kinds of event:
 *
 *	- a report at the door: its row is about to be written, notice is NULL;
 *	- what the database itself has to say: notice describes an envelope, which
 *	  is appended here, and event->seq and event->at are filled from its receipt;
 *	- a rebuild: the event is in the log, notice is NULL.
 *
 * The effect on the task is the same, which is why a rebuild ends up with the
 * state that the living database has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RECORD_H
#define CLUTCH_RECORD_H

#include "store/event.h"
#include "task/step.h"

/* an event in the words of the database */
typedef struct Notice
{
	MessageType type;
	TaskMove	move;			/* MOVE_NONE unless a task.progress says a move */
	Slice		from;			/* absent means the orchestrator */
	Slice		to;
	Jsonb	   *payload;
	Slice		idempotency_key;	/* absent if none */
} Notice;

/*
 * The caller has the task locked and saves it afterwards.  Raises XX000 if the
 * step is not legal: the caller has to judge a report first (task/verdict.h).
 * Returns the receipt of the notice; without a notice it is empty.
 */
extern Receipt record(Task *task, const Notice *notice, TaskEvent *event);

#endif							/* CLUTCH_RECORD_H */
