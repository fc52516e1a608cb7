/*-------------------------------------------------------------------------
 *
 * yielding.h
 *	  Which ready task yields its slot to a more urgent one.
 *
 * A task that is ready, and that nobody has begun, holds a slot.  If all agents
 * that fit a more urgent task are full, it takes the place of such a task: at the
 * agent that fits it best, the least urgent one, and of those the one that would
 * be claimed last.  (docs/reference.md, "Priorities".)
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
 * The task that yields, locked, or NULL if there is none that no other
 * transaction has locked.
 */
extern Task *yielding_lock(const Choice *choice, int priority);

#endif							/* CLUTCH_YIELDING_H */
