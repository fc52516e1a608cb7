/*-------------------------------------------------------------------------
 *
 * assign.h
 *	  Giving a task to an agent, or making it wait (spec 4).
 *
 * The router ranks the agents; here a slot is taken at the first one that has
 * one.  A task that cannot be given waits, visibly, and is offered again by
 * whoever frees a slot, by every claim of an agent that it fits, and by tick.
 *
 * The task is locked by the caller, pending, and saved here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ASSIGN_H
#define CLUTCH_ASSIGN_H

#include "queue/waiting.h"
#include "store/event.h"
#include "task/task.h"

/*
 * Routes a task whose request, received at that time, is at the door.  Raises
 * TOO_MANY_KINDS if it would have to wait, and its sender has too many kinds of
 * tasks that wait.
 */
extern void assign_new(Task *task, const Envelope *request, TimestampTz at);

/*
 * Routes a task that waits, or came back, by its request in the log.  Returns
 * true if an agent has it now.
 */
extern bool assign_again(Task *task);

/*
 * Gives a task that waits to this agent, if the router would let it have the
 * task and it has a free slot; otherwise the task stays where it is, and is not
 * even locked.  Returns true if the agent has it now.
 */
extern bool assign_waiting_to(const WaitingPlace *place, Slice agent_id);

/*
 * Spec 10, step 3: gives the task to the agent that a second request names.
 * Raises if that agent cannot take it.
 */
extern void assign_hand_over(Task *task, const Envelope *request, int64 seq,
							 TimestampTz at);

#endif							/* CLUTCH_ASSIGN_H */
