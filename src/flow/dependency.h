/*-------------------------------------------------------------------------
 *
 * dependency.h
 *	  Tasks that wait for the end of others (meta.clutch.after).
 *
 * Such a task is held, waiting_for "sibling", until all that it names are
 * completed; it fails with the first of them that ends otherwise.  They are
 * of the same run; one that nobody requested so far is waited for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DEPENDENCY_H
#define CLUTCH_DEPENDENCY_H

#include "flow/ending.h"
#include "nodes/pg_list.h"
#include "task/task.h"

typedef enum DependencyState
{
	DEPENDENCY_MET,				/* or there is none */
	DEPENDENCY_OPEN,
	DEPENDENCY_FAILED
} DependencyState;

/*
 * A new task, whose row is written: its edges, and how they stand.  Raises
 * for another run, and for a cycle.  Open: the task is held, to be saved.
 * Nobody waits for us to end what it names: an end that does not see our edge
 * is found when the task is looked at again, after we have committed.
 */
extern DependencyState dependency_begin(Task *task, const Envelope *request);

/*
 * A held task whose time has come.  Open: it is held on, to be saved, and
 * looked at again soon if one that it waits for is being changed.
 */
extern DependencyState dependency_look_again(Task *task);

/* a task that begins again: held as long as one of them is not completed */
extern bool dependency_hold(Task *task);

/* a task is over: what waited for it is routed, or fails */
extern void dependency_settle(const EndedTask *ended);

/* ids of the tasks it waits for; a List of Slice * */
extern List *dependency_list(Slice task_id);
/* and of those that wait for it */
extern List *dependency_list_waiters(Slice task_id);

#endif							/* CLUTCH_DEPENDENCY_H */
