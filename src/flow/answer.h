/*-------------------------------------------------------------------------
 *
 * answer.h
 *	  The chat.message that lets a parked task go on.
 *
 * Any chat.message to a parked task by somebody else than its agent is the
 * answer; a question that is addressed to others than the requester of the
 * task is answered by these, the requester, or the orchestrator alone.  The
 * first answer counts.  A later one is kept, late: it is known by
 * meta.clutch.answer_to, which clutch.answer writes, or by coming before the
 * task was claimed again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ANSWER_H
#define CLUTCH_ANSWER_H

#include "store/event.h"
#include "task/task.h"

/* may it be an answer?  Cheap, for every chat.message is asked. */
extern bool answer_concerns(const Envelope *message);

/*
 * Takes such a message in: dedup, the task's lock, seq, verdict, effect.
 * false: seen before.  Raises for one who may not answer.
 */
extern bool answer_take(Event *event);

/* clutch.answer: the message, built and sent */
extern Receipt answer_send(Slice from_agent, Slice task_id, Jsonb *payload);

#endif							/* CLUTCH_ANSWER_H */
