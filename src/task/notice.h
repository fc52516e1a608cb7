/*-------------------------------------------------------------------------
 *
 * notice.h
 *	  What the database itself says of a task: an event of its own.
 *
 * Built and appended through the same door as every event.  The state of the
 * task is changed by the caller, who has it locked and applies a TaskEvent
 * with the seq and time of the receipt, so that rebuild finds the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_NOTICE_H
#define CLUTCH_NOTICE_H

#include "store/event.h"
#include "task/task.h"

/*
 * from absent: the orchestrator.  attempt is the task's.  move: for
 * task.progress only.
 */
extern Receipt notice_append(const Task *task, MessageType type, TaskMove move,
							 Slice from, Slice to, Jsonb *payload);

#endif							/* CLUTCH_NOTICE_H */
