/*-------------------------------------------------------------------------
 *
 * move.h
 *	  A task moves: it leaves the place where it stands, the event is recorded,
 *	  and it enters the place that its new state asks for.
 *
 *		pending, waiting for an agent	a row of clutch.waiting
 *		pending, held					no queue; wake_at or a consequence ends it
 *		assigned						a row of clutch.ready, and a slot
 *		running							a slot and a lease
 *		input_required					a row of clutch.question
 *		suspended						a row of clutch.suspended
 *		over							nothing
 *
 * Any task that has a time in the future (lease, deadline, wake_at) also has a
 * row of clutch.timer, but one that waits for other tasks has none for wake_at.
 *
 * What the move means for other tasks goes to the agenda; nothing here touches
 * another task.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MOVE_H
#define CLUTCH_MOVE_H

#include "task/record.h"

/*
 * Moves a task that the caller has locked, and judged if the event is a report.
 * notice is what the database has to say, or NULL for an event whose row is at
 * the door.  The task is saved.  Returns the receipt of the notice.
 *
 * STEP_ASSIGN needs a slot for the new agent, which the caller has taken; see
 * move_to_agent.  A task that STEP_FAIL_TO_ROUTE makes wait, and one that
 * becomes pending again, is put into a queue by the caller (flow/assign.h).
 */
extern Receipt move_task(Task *task, const Notice *notice, TaskEvent *event);

/* STEP_ASSIGN: the agent of the event gets the task, in the slot of this number */
extern void move_to_agent(Task *task, const Notice *notice, TaskEvent *event, int slot_no);

/* what the end of an attempt says about the agent that had it, for its breaker */
extern void move_count_outcome(Slice agent_id, const TaskEvent *event, AttemptOutcome outcome);

/*
 * Sets a lease of that many microseconds, which ends at "until" at the latest,
 * and never after the deadline of the task, nor after its agent's max_runtime
 * (runtime_end; 0: none).  To be called before the task is moved or saved.
 */
extern void move_lease(Task *task, TimestampTz until, TimestampTz runtime_end, int64 lease);

/*
 * when a task that its agent begins at that time has run too long; 0 means
 * never
 */
extern TimestampTz move_runtime_end(const Task *task, TimestampTz from);

#endif							/* CLUTCH_MOVE_H */
