/*-------------------------------------------------------------------------
 *
 * budget.h
 *	  Budgets of runs (meta.clutch.budget of their requests).
 *
 * The budget is checked before a task is routed, against all tasks of the run:
 * what has been spent (store/spending.h), how many tasks there are, and how
 * deep the task is.  Running work is not stopped; its cost counts when it is
 * reported.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BUDGET_H
#define CLUTCH_BUDGET_H

#include "task/task.h"

/*
 * Sets the budget from a request.  The first request of a run that names one
 * sets it.  Raises BUDGET_EXISTS if the run has a different one.
 */
extern void budget_set(const Envelope *request, int64 seq);

/*
 * Returns NULL if the task may be routed, or otherwise what is used up, in
 * words, palloc'd.  *by_run, unless by_run is NULL, is set to whether that is
 * so for every task of the run.
 */
extern char *budget_exceeded(const Task *task, bool *by_run);

/* Forgets the budget of a run that is being pruned. */
extern void budget_forget(Slice run_id);

#endif							/* CLUTCH_BUDGET_H */
