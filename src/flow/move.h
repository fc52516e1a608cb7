/*-------------------------------------------------------------------------
 *
 * move.h
 *	  Moving tasks: a task leaves its place, the event is recorded, and it
 *	  enters the place that its new state requires.
 *
 *		pending, waiting for an agent	a row of clutch.waiting
 *		pending, held					no queue; wake_at or a consequence ends
 *										it
 *		assigned						a row of clutch.ready, and a slot
 *		running							a slot and a lease
 *		input_required					a row of clutch.question
 *		suspended						a row of clutch.suspended
 *		over							nothing
 *
 * Any task for which something is due in the future (lease, deadline, wake_at)
 * also has a row in clutch.timer.  A task that waits for other tasks has none
 * for wake_at.
 *
 * The consequences for other tasks are put on the agenda; nothing here touches
 * another task.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MOVE_H
#define CLUTCH_MOVE_H

#include "task/record.h"

/*
 * Moves a task, which the caller has locked; if the event is a report, the
 * caller must have judged it.  notice is an event of the database itself, or
 * NULL for an event that is being admitted.  The task is saved.  Returns the
 * receipt of the notice.
 *
 * STEP_ASSIGN needs a slot of the new agent, which the caller has taken; see
 * move_to_agent.  The caller must put a task into a queue if
 * STEP_FAIL_TO_ROUTE makes it wait, or if it becomes pending again
 * (flow/assign.h).
 */
extern Receipt move_task(Task *task, const Notice *notice, TaskEvent *event);

/*
 * Does STEP_ASSIGN: the agent of the event gets the task, in the slot of this
 * number.
 */
extern void move_to_agent(Task *task, const Notice *notice, TaskEvent *event, int slot_no);

/*
 * Counts, for the breaker of the agent that had an attempt, what its end says
 * about the agent.
 */
extern void move_count_outcome(Slice agent_id, const TaskEvent *event, AttemptOutcome outcome);

/*
 * Sets a lease of that many microseconds from that time.  It does not go beyond
 * the deadline of the task, nor beyond its agent's max_runtime (runtime_end; 0
 * if there is none).  To be called before the task is moved or saved.
 */
extern void move_lease(Task *task, TimestampTz from, int64 lease, TimestampTz runtime_end);

/*
 * Lets the lease of a running task and the time that it may run begin anew, and
 * saves the task.
 */
extern void move_begin_again(Task *task, TimestampTz from, int64 lease);

/*
 * Returns when a task that its agent begins at that time will have run for too
 * long, or 0 if never.
 */
extern TimestampTz move_runtime_end(const Task *task, TimestampTz from);

#endif							/* CLUTCH_MOVE_H */
