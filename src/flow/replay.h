/*-------------------------------------------------------------------------
 *
 * replay.h
 *	  A cache of the live tasks while the log is being read again.
 *
 * A task is usually over soon after it was requested, so its row is written
 * only once, when it is over.  At most REPLAY_MOST tasks are cached; beyond
 * that, REPLAY_BATCH of them are written at a time: first those that are over,
 * and then the oldest ones, which are read again when they are needed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REPLAY_H
#define CLUTCH_REPLAY_H

#include "task/task.h"

#define REPLAY_MOST		10000
#define REPLAY_BATCH	1000

/*
 * Begins.  If others may request tasks at the same time, as they may during an
 * import, this is checked when a task is written, which raises KL004 then.
 */
extern void replay_begin(bool others_request);

/*
 * Returns the task, valid until replay_keep or replay_end is called, or NULL.
 */
extern Task *replay_find(Slice task_id);

/* Caches a copy of the task as it is now. */
extern void replay_keep(Task *task);

/* Writes everything that is cached.  Returns how many tasks there were. */
extern int64 replay_end(void);

#endif							/* CLUTCH_REPLAY_H */
