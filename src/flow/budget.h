/*-------------------------------------------------------------------------
 *
 * budget.h
 *	  What a run may cost (meta.clutch.budget of its requests).
 *
 * Looked at before each routing, over all tasks of the run: what was spent
 * (store/spending.h), how many tasks there are, how deep this one stands.
 * Work that runs is not stopped: its cost is counted when it is reported.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BUDGET_H
#define CLUTCH_BUDGET_H

#include "task/task.h"

/*
 * The first request that names a budget sets it for the run.  Raises
 * BUDGET_EXISTS for another one than the run has.
 */
extern void budget_set(const Envelope *request, int64 seq);

/* NULL: the task may be routed; else what is used up, in words, palloc'd */
extern char *budget_exceeded(const Task *task);

#endif							/* CLUTCH_BUDGET_H */
