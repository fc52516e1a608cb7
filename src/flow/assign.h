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
#include "routing/choice.h"
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
 * assign_again for the handler of a consequence, which may move other tasks.  If
 * no candidate has a free slot, make_room is called; it returns true if one has a
 * free slot now.  assign_again puts CONSEQUENCE_DISPLACE on the agenda instead, if
 * there seems to be a task that would yield.
 */
typedef bool (*AssignMakeRoom) (const Task *task, const Choice *choice);
extern bool assign_making_room(Task *task, AssignMakeRoom make_room);

/* Puts a task that has just been displaced back to where it waited. */
extern void assign_put_back(Task *task);

/*
 * A ready task that its agent has not claimed in time: it stays there, and other
 * agents may have it.  The caller has it locked.
 */
extern void assign_offer(Task *task);

/* the agent that is to get a waiting or an offered task */
typedef struct Receiver
{
	Slice		agent_id;		/* absent: any that has not had it; only for an offered one */
	bool		claims;			/* it is asking for work */
} Receiver;

/*
 * Gives the task to the receiver, if the router would let it have the task and
 * it has a free slot; otherwise the task stays where it is, and is not even
 * locked.  Returns true if it was given.
 */
extern bool assign_waiting_to(const WaitingPlace *place, const Receiver *receiver);

/*
 * Spec 10, step 3: gives the task to the agent that a second request names.
 * Raises if that agent cannot take it.
 */
extern void assign_hand_over(Task *task, const Envelope *request, int64 seq,
							 TimestampTz at);

#endif							/* CLUTCH_ASSIGN_H */
