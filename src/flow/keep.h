/*-------------------------------------------------------------------------
 *
 * keep.h
 *	  Storing the output of a named step once, whoever repeats the step.
 *
 * An agent stores it by a task.progress with meta.clutch.step.  After a worker
 * has died, the next attempt finds what is stored and does not do these steps
 * again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_KEEP_H
#define CLUTCH_KEEP_H

#include "store/event.h"
#include "task/task.h"

/*
 * Takes in a task.progress that stores a step.  The task is locked.  If the
 * step is stored already, nothing changes.  Raises STEP_DIFFERS if it was
 * stored with a different output.
 */
extern void keep_step(const Task *task, const Envelope *progress, int64 seq);

/* The same for an event of the log, which was judged before. */
extern void keep_replay(const Envelope *progress, int64 seq);

/*
 * Implements clutch.step: returns what is stored under that name; if nothing
 * is, stores and returns the output.  If the output is null, only returns what
 * is stored.  Raises NOT_HELD if the agent no longer has this attempt.
 */
extern Jsonb *keep_send(Slice agent_id, Slice task_id, Slice name, Jsonb *output, int attempt);

#endif							/* CLUTCH_KEEP_H */
