/*-------------------------------------------------------------------------
 *
 * waiting_vain.h
 *	  A cache of how many tasks of a kind have been tried in vain.
 *
 * Tasks of the same kind may still differ: a card may limit what a run may
 * cost, and an offered task is not given again to agents that have had it.  So
 * one agent's tries may be in vain for any number of tasks at the start of a
 * queue, while the next one would be given, and while another agent would get
 * all of them.  A look tries only so many in vain.  The next one with the same
 * purpose goes on where that one gave up, and begins again after a time that
 * is proportional to the number of tries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAITING_VAIN_H
#define CLUTCH_WAITING_VAIN_H

#include "queue/queue.h"

/* In these functions, "purpose" stands for the agent and what is tried. */

/* Leaves out what has just been tried in vain.  The queue was opened just now. */
extern void waiting_vain_skip(uint64 purpose, Queue *queue);

/*
 * Notes what was tried in vain.  To be called before queue_close.  gave_up
 * says that the look has ended because there was too much of that.
 */
extern void waiting_vain_note(uint64 purpose, const Queue *queue, bool gave_up);

#endif							/* CLUTCH_WAITING_VAIN_H */
