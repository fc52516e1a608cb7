/*-------------------------------------------------------------------------
 *
 * keep.h
 *	  The output of a named step is kept once, whoever repeats the step.
 *
 * An agent keeps it by a task.progress with meta.clutch.step.  A worker that
 * died is followed by another attempt, which finds what is kept, and does not do
 * these steps again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_KEEP_H
#define CLUTCH_KEEP_H

#include "store/event.h"
#include "task/task.h"

/*
 * A task.progress that keeps a step, at the door; the task is locked.  If the
 * step is kept already, nothing changes.  Raises STEP_DIFFERS if it was kept with
 * another output.
 */
extern void keep_step(const Task *task, const Envelope *progress, int64 seq);

/* the same for an event of the log, which was judged before */
extern void keep_replay(const Envelope *progress, int64 seq);

/*
 * clutch.step: returns what is kept under that name, which is the output from
 * now on if nothing was.  An output of null stands for what is kept.  Raises
 * NOT_HELD if the agent does not have this attempt any more.
 */
extern Jsonb *keep_send(Slice agent_id, Slice task_id, Slice name, Jsonb *output, int attempt);

#endif							/* CLUTCH_KEEP_H */
