/*-------------------------------------------------------------------------
 *
 * lift.h
 *	  Priority inheritance (spec 003, 8.2): a task is at least as urgent as the
 *	  most urgent task that waits for it.
 *
 * A task waits for those it names in meta.clutch.after, and a parent waits for
 * its children that say join, or for all of them while it is suspended until they
 * are over.  The lift is an event, the move "lifted"; it outlasts the waiting.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LIFT_H
#define CLUTCH_LIFT_H

#include "flow/agenda.h"
#include "task/task.h"

/* adds a consequence for each task that this one waits for and that is less urgent */
extern void lift_awaited(const Task *task);

/* the same for its children alone: the task is suspended */
extern void lift_children(const Task *task);

/* the same for a child that is new; parent is not over */
extern void lift_child(const Task *child, const Task *parent);

/* A new task that others have named before it was requested is as urgent as they are. */
extern void lift_for_waiters(Task *task);

/* CONSEQUENCE_LIFT; false: the task is busy, so this is to be tried later */
extern bool lift_settle(const Consequence *consequence);

#endif							/* CLUTCH_LIFT_H */
