/*-------------------------------------------------------------------------
 *
 * waiting_vain.h
 *	  A cache of how many tasks of a kind have been tried in vain.
 *
 * Tasks of the same kind may still differ: a card may limit what a run may
 * cost, and an offered task is not given again to agents that have had it.  So
 * one agent's tries may be in vain for any number of tasks at the start of a
 * queue, while another agent would get all of them, and the place must stay
 * before them.  To try them again in each look would be expensive.  Therefore
 * a look leaves out what the last ones with the same purpose have tried, for a
 * time that is proportional to what trying has cost.
 *
 * This only saves time: a session that has just begun finds the same tasks,
 * except behind more of them than a look may leave out (LeftOut in queue.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAITING_VAIN_H
#define CLUTCH_WAITING_VAIN_H

#include "queue/queue.h"

/* In these functions, "purpose" stands for the agent and what is tried. */

/* Leaves out what has just been tried in vain.  The queue was opened just now. */
extern void waiting_vain_skip(uint64 purpose, Queue *queue);

/* Notes what was tried in vain.  To be called before queue_close. */
extern void waiting_vain_note(uint64 purpose, const Queue *queue);

/*
 * To be called when a row has returned to a queue with a number that it had
 * before (waiting_kind.h).
 */
extern void waiting_vain_note_return(int64 kind, int urgency, int64 queue_no);

#endif							/* CLUTCH_WAITING_VAIN_H */
