/*-------------------------------------------------------------------------
 *
 * cancel.h
 *	  A cancel reaches every descendant (spec 1.3).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANCEL_H
#define CLUTCH_CANCEL_H

#include "task/task.h"

/*
 * The task was cancelled just now: all that is live below it is, each by a
 * task.cancel of the orchestrator, level by level.  A child that is requested
 * at the same time names its parent: one of the two waits for the other.
 */
extern void cancel_descendants(const Task *task);

/*
 * A new task below a parent that was cancelled, or below whose ancestors one
 * was: it is cancelled at once.  False: nothing of the kind.
 */
extern bool cancel_orphan(Task *task, const Task *parent);

#endif							/* CLUTCH_CANCEL_H */
