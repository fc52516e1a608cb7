/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  Which attempts of a task an agent has had, and which of them it has ended
 *	  itself, as the log tells.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ATTEMPT_H
#define CLUTCH_ATTEMPT_H

#include "clutch.h"

#include "nodes/bitmapset.h"
#include "task/task.h"

/*
 * Returns the attempts up to "last" that the agent has ended itself, by a
 * result, an error or a hand-over.  The error for a call that was given up does
 * not count, because nobody knows whether the call has arrived.  Sets *begun to
 * those that it has had.
 */
extern Bitmapset *attempt_list_ended(Slice task_id, Slice agent_id, int last, Bitmapset **begun);

/*
 * Returns the last attempt up to "last" that the agent has had, or -1 if it has
 * had none, or has ended all of them itself.
 */
extern int	attempt_find_open(Slice task_id, Slice agent_id, int last);

/*
 * The agent of the task is reached through an endpoint and has asked a
 * question.  Was the call with the answer given up, and has the agent reported
 * nothing since it asked?  Then it still needs the answer.
 */
extern bool attempt_lacks_answer(const Task *task);

/*
 * Returns the meta of an error that is reported in the name of an agent because
 * its call was given up.  The log tells such an error from one of the agent by
 * this meta.
 */
extern Jsonb *attempt_given_up_meta(void);

#endif							/* CLUTCH_ATTEMPT_H */
