/*-------------------------------------------------------------------------
 *
 * assign.h
 *	  Giving a task to an agent, or making it wait (spec 4).
 *
 * The router ranks the agents; this takes a slot of the first one that has
 * one.  A task that cannot be given waits, visibly, and is offered again by
 * whoever frees a slot, by every claim of an agent that it fits, and by ticks.
 *
 * The task must be pending, and locked by the caller.  These functions save
 * it.
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
 * Routes a task whose request, received at that time, is just being admitted.
 * Raises TOO_MANY_KINDS if it would have to wait and its requester already
 * has too many kinds of waiting tasks (queue/requester.h).
 */
extern void assign_new(Task *task, const Envelope *request, TimestampTz at);

/*
 * Routes a task that has been waiting, or came back, by its request in the
 * log.  Returns true if an agent has it now.
 */
extern bool assign_again(Task *task);

/*
 * The same as assign_again for the handler of a consequence, which may move
 * other tasks.  If no candidate has a free slot, make_room is called; it must
 * return true if one has a free slot afterwards.  assign_again, in contrast,
 * puts CONSEQUENCE_DISPLACE on the agenda if there seems to be a task that
 * would yield.
 */
typedef bool (*AssignMakeRoom) (const Task *task, const Choice *choice);
extern bool assign_making_room(Task *task, AssignMakeRoom make_room);

/*
 * The same as assign_again for a task that waits at this place, and returns
 * what became of it.
 */
extern WaitingTried assign_at_place(Task *task, const WaitingPlace *place);

/*
 * Writes a routing.failure if the reason why the task cannot be routed has
 * changed since the last time.  The task waits at this place, and is not locked.
 */
extern void assign_renew_failure(const Task *seen, const WaitingPlace *place,
								 const Requirement *requirement, Slice request_id);

/* Puts a task that has just been displaced back where it was waiting. */
extern void assign_put_back(Task *task);

/*
 * Reads the request of a task from the log, and what it requires.  The
 * envelope points into the document.
 */
extern void assign_read_request(Task *task, Envelope *request);
extern void assign_read_requirement(const Task *task, const Envelope *request, Requirement *requirement);

/*
 * Offers a ready task that its agent has not claimed in time to other agents.
 * It also stays with its agent.  The caller has locked it.
 */
extern void assign_offer(Task *task);

/* the agent that is to get a waiting or an offered task */
typedef struct Receiver
{
	Slice		agent_id;		/* if absent, any agent that has not had it;
								 * only for an offered task */
	bool		claims;			/* it is asking for work */
} Receiver;

/*
 * Gives the task to the receiver if the router would let it have the task and
 * it has a free slot.  Otherwise the task stays where it is, and is not even
 * locked.
 */
extern WaitingTried assign_waiting_to(const WaitingPlace *place, const Receiver *receiver);

/*
 * Gives the task to the agent that a second request names (spec 10, step 3).
 * Raises an error if that agent cannot take it.
 */
extern void assign_hand_over(Task *task, const Envelope *request, int64 seq,
							 TimestampTz at);

#endif							/* CLUTCH_ASSIGN_H */
