/*-------------------------------------------------------------------------
 *
 * lift.h
 *	  Priority inheritance (spec 003, 8.2): a task is at least as urgent as the
 *	  most urgent task that waits for it.
 *
 * A task waits for those that it names in meta.clutch.after, and a parent
 * waits for its joined children, or for all of them while it is suspended
 * until they are over.  Lifting a task is an event with the move "lifted"; the
 * task stays lifted after the waiting has ended.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LIFT_H
#define CLUTCH_LIFT_H

#include "flow/agenda.h"
#include "task/task.h"

/*
 * Adds a consequence for each task that this one waits for and that is less
 * urgent.
 */
extern void lift_awaited(const Task *task);

/* The same for the children of a suspended task only. */
extern void lift_children(const Task *task);

/* The same for a new child.  The parent must not be over. */
extern void lift_child(const Task *child, const Task *parent);

/*
 * Makes a new task that others have named before it was requested as urgent as
 * they are.
 */
extern void lift_for_waiters(Task *task);

/*
 * Does all of this for a task that was revived: while it was over, nothing was
 * lifted for it, and it was not lifted for those that have begun to wait for it.
 */
extern void lift_revived(Task *task);

/*
 * Handles CONSEQUENCE_LIFT.  Returns false if the task is busy, so that it
 * must be tried again later.
 */
extern bool lift_settle(const Consequence *consequence);

#endif							/* CLUTCH_LIFT_H */
