/*-------------------------------------------------------------------------
 *
 * answer.h
 *	  The chat.message that answers the question of a task.
 *
 * Any chat.message to a task in input_required that its own agent did not send
 * is the answer.  A question that is addressed to agents other than the
 * requester of the task may be answered by these, the requester, or the
 * orchestrator only.  The first answer counts.  A later one is kept, late: it is
 * recognised by meta.clutch.answer_to, which clutch.answer writes, or because it
 * came before the task was claimed again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ANSWER_H
#define CLUTCH_ANSWER_H

#include "store/event.h"
#include "task/task.h"

/* May it be an answer?  This is cheap, because every chat.message is asked. */
extern bool answer_concerns(const Envelope *message);

/*
 * Takes such a message in: dedup, the task's lock, seq, verdict, effect.
 * Returns false if the message was there already.  Raises for an agent that may
 * not answer.
 */
extern bool answer_take(Event *event);

/* clutch.answer: builds the message and sends it */
extern Receipt answer_send(Slice from_agent, Slice task_id, Jsonb *payload);

#endif							/* CLUTCH_ANSWER_H */
