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

/*
 * Returns the attempts up to "last" that the agent has ended itself, by a
 * result, an error or a hand-over.  Sets *begun to those that it has had.
 */
extern Bitmapset *attempt_list_ended(Slice task_id, Slice agent_id, int last, Bitmapset **begun);

/*
 * Returns the last attempt up to "last" that the agent has had, or -1 if it has
 * had none, or has ended all of them itself.
 */
extern int	attempt_find_open(Slice task_id, Slice agent_id, int last);

#endif							/* CLUTCH_ATTEMPT_H */
