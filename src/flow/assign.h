/*-------------------------------------------------------------------------
 *
 * assign.h
 *	  Giving a task to an agent, or putting it to wait (spec 4).
 *
 * The router ranks; here a slot is taken of the first that has one.  What
 * cannot be given waits, visibly, and is offered again by whoever frees a
 * slot, by every claim of an agent that it fits, and by tick.
 *
 * The task is locked by the caller, pending, and saved here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ASSIGN_H
#define CLUTCH_ASSIGN_H

#include "store/event.h"
#include "task/task.h"

/* right after its request was admitted; at is the request's received_at */
extern void assign_new(Task *task, const Envelope *request, TimestampTz at);

/* it is held: saved, in no queue, and looked at when its time comes */
extern void assign_hold(Task *task);

/* a lift, and its new place in the queue it stands in; saved */
extern void assign_lift(Task *task, const TaskEvent *lift);

/*
 * A task that waits, or came back: routed by its request as it was sent.
 * true: an agent has it now.
 */
extern bool assign_again(const Task *task);

/*
 * Spec 10 step 3: given to the agent that a second request names.  Raises
 * when that agent cannot take it.
 */
extern void assign_hand_over(Task *task, const Envelope *request, int64 seq,
							 TimestampTz at);

/*
 * The task leaves slot, queue and timer; the state is the caller's matter.
 * The agent whose slot was freed, or an absent Slice.
 */
extern Slice assign_withdraw(Task *task, int outcome);

/* one freed slot, one waiting task */
extern void assign_offer(Slice agent_id);

/* up to n waiting tasks that fit the agent are routed, while it has slots */
extern int	assign_pull(Slice agent_id, int n);

#endif							/* CLUTCH_ASSIGN_H */
