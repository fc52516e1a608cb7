/*-------------------------------------------------------------------------
 *
 * budget.h
 *	  What a run may cost (meta.clutch.budget of its requests).
 *
 * The budget is looked at before a task is routed, over all tasks of the run:
 * what has been spent (store/spending.h), how many tasks there are, and how deep
 * the task stands.  Work that is running is not stopped; its cost counts when it
 * is reported.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BUDGET_H
#define CLUTCH_BUDGET_H

#include "task/task.h"

/*
 * The first request of a run that names a budget sets it.  Raises BUDGET_EXISTS
 * if the run has another one.
 */
extern void budget_set(const Envelope *request, int64 seq);

/*
 * Returns NULL if the task may be routed; otherwise what is used up, in words,
 * palloc'd
 */
extern char *budget_exceeded(const Task *task);

/* The run is being pruned. */
extern void budget_forget(Slice run_id);

#endif							/* CLUTCH_BUDGET_H */
