/*-------------------------------------------------------------------------
 *
 * replay.h
 *	  The tasks of a log that is being read again, in memory while they live.
 *
 * A task is usually over soon after it was requested, so its row is written
 * once, when it is over.  At most REPLAY_MOST tasks are kept; beyond that,
 * REPLAY_BATCH are written at a time: first those that are over, then those that
 * were kept first, which are read again when they are needed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REPLAY_H
#define CLUTCH_REPLAY_H

#include "task/task.h"

#define REPLAY_MOST		10000
#define REPLAY_BATCH	1000

extern void replay_begin(void);

/* The task, or NULL; valid until replay_keep or replay_end is called. */
extern Task *replay_find(Slice task_id);

/* keeps a copy of the task as it is now */
extern void replay_keep(Task *task);

/* writes everything that is kept; returns how many tasks there were */
extern int64 replay_end(void);

#endif							/* CLUTCH_REPLAY_H */
