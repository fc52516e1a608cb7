/*-------------------------------------------------------------------------
 *
 * replay.h
 *	  The tasks of a log that is being read again, in memory while they live.
 *
 * A task is usually over soon after it was requested, so its row is written
 * once, when it is over.  At most REPLAY_MOST tasks are kept; beyond that, the
 * one that was kept first is written and read again when it is needed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REPLAY_H
#define CLUTCH_REPLAY_H

#include "task/task.h"

#define REPLAY_MOST		10000

extern void replay_begin(void);

/* The task, or NULL; valid until replay_keep or replay_end is called. */
extern Task *replay_find(Slice task_id);

/* keeps a copy of the task as it is now, or writes its row if it is over */
extern void replay_keep(Task *task);

/* writes everything that is kept; returns how many tasks there were */
extern int64 replay_end(void);

#endif							/* CLUTCH_REPLAY_H */
