/*-------------------------------------------------------------------------
 *
 * dependency.h
 *	  Dependencies: tasks that wait for the end of others (meta.clutch.after,
 *	  or children that do their work).
 *
 * Such a task is held until all tasks that it names are completed; it fails as
 * soon as one of them ends in another way.  They belong to the same run, and
 * may be requested later than the task that waits for them.
 *
 * A task that a rule has shared out among its children (flow/emission.h) waits
 * in the same way, and is completed when they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DEPENDENCY_H
#define CLUTCH_DEPENDENCY_H

#include "flow/agenda.h"
#include "task/task.h"

typedef enum DependencyState
{
	DEPENDENCY_MET,				/* all are completed, or there are none */
	DEPENDENCY_OPEN,
	DEPENDENCY_FAILED
} DependencyState;

/*
 * Writes the edges of a new task, whose row has been written, and says how the
 * awaited tasks stand.  If they are open, the task is held, and must be saved.
 * Raises an error for a task of another run, and for a cycle.
 */
extern DependencyState dependency_begin(Task *task, const Envelope *request);

/*
 * Returns how the awaited tasks stand now.  *in_doubt is set if an open
 * transaction is changing one of them.
 */
extern DependencyState dependency_state(const Task *task, bool *in_doubt);

/*
 * Holds a task that begins again if it waits for others, or was shared out.
 * How these stand is checked when the transaction commits.  Returns whether
 * the task is held.
 */
extern bool dependency_hold(Task *task);

/* The same for a task that is known to wait for others. */
extern void dependency_wait_again(Task *task);

/* Fails a task because of one that it waited for. */
extern void dependency_fail(Task *task);

/*
 * Handles CONSEQUENCE_DEPENDENT.  Returns false if a task is busy, so that it
 * must be tried again later.
 */
extern bool dependency_settle(const Consequence *consequence);

#endif							/* CLUTCH_DEPENDENCY_H */
