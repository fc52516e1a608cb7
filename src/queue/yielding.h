/*-------------------------------------------------------------------------
 *
 * yielding.h
 *	  Finding the ready task that yields its slot to a more urgent one.
 *
 * A ready task holds a slot although nobody has begun it.  If all agents that
 * fit a more urgent task are full, that task takes the place of a ready one:
 * at the agent that fits it best, the least urgent task, and among those the
 * one that would be claimed last. (docs/reference.md, "Priorities".)
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_YIELDING_H
#define CLUTCH_YIELDING_H

#include "routing/choice.h"
#include "task/task.h"

/*
 * Would a task of that priority find one, among the agents that the choice
 * rejected only because they are full?  This only looks.
 */
extern bool yielding_is_any(const Choice *choice, int priority);

/*
 * Returns the task that yields, locked, or NULL if there is none that is not
 * locked by another transaction.
 */
extern Task *yielding_lock(const Choice *choice, int priority);

#endif							/* CLUTCH_YIELDING_H */
