/*-------------------------------------------------------------------------
 *
 * ready.h
 *	  What an agent can claim, in claim order, and nothing else.
 *
 * A row is there exactly while its task is assigned and not claimed.  It is
 * put and removed by who holds the task's lock, which is the only lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_READY_H
#define CLUTCH_READY_H

#include "nodes/pg_list.h"
#include "task/task.h"

extern void ready_put(Task *task);
extern void ready_remove(Task *task);

/*
 * Up to n tasks for the agent in claim order (queue.h), none below the level,
 * each locked and out of the queue, which who saves it says by a queue_no of 0;
 * those that somebody else is claiming or changing are passed over, never
 * waited for.
 */
extern List *ready_take(Slice agent_id, int n, int least_level);

#endif							/* CLUTCH_READY_H */
