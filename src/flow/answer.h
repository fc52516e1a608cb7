/*-------------------------------------------------------------------------
 *
 * answer.h
 *	  Answers to the questions of tasks, which are chat.messages.
 *
 * Any chat.message to a task in input_required that its own agent did not send
 * is the answer.  A question that is addressed to agents other than the
 * requester of the task may be answered only by these, the requester, or the
 * orchestrator.  The first answer counts.  A later one is kept as late; it is
 * recognized by meta.clutch.answer_to, which clutch.answer writes, or because
 * it came before the task was claimed again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ANSWER_H
#define CLUTCH_ANSWER_H

#include "store/event.h"
#include "task/task.h"

/*
 * May it be an answer?  This is called for every chat.message, so it must be
 * cheap.
 */
extern bool answer_concerns(const Envelope *message);

/*
 * Takes such a message in: deduplication, lock of the task, seq, verdict,
 * effect.  Returns false if the message was already in the log.  Raises an
 * error if the agent may not answer.
 */
extern bool answer_take(Event *event);

/* Builds the message and sends it, for clutch.answer. */
extern Receipt answer_send(Slice from_agent, Slice task_id, Jsonb *payload);

#endif							/* CLUTCH_ANSWER_H */
