/*-------------------------------------------------------------------------
 *
 * lift.h
 *	  Priority inheritance (spec 003 8.2): what a more urgent task waits for
 *	  is as urgent.
 *
 * A task waits for those it names in meta.clutch.after, and a parent for its
 * children that say join.  The lift is an event, the move "lifted".  A task
 * that somebody else is changing this moment is not lifted: it runs already,
 * or is just being claimed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LIFT_H
#define CLUTCH_LIFT_H

#include "task/task.h"

/* the tasks that this one waits for, and those that they wait for */
extern void lift_what_it_waits_for(const Task *task);

/* a new task that others have named before it was requested: as urgent as they are */
extern void lift_for_who_waits(const Task *task);

#endif							/* CLUTCH_LIFT_H */
