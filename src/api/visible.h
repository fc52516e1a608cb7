/*-------------------------------------------------------------------------
 *
 * visible.h
 *	  Which tasks a role may read.
 *
 * A reader, that is, a role that may read the log, reads all of them.  The role of
 * an agent reads those that the agent requested, has or had.  Functions ask here;
 * for the views, sql/install/grants.sql says the same in row-level policies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VISIBLE_H
#define CLUTCH_VISIBLE_H

#include "task/task.h"

/* May the current role read the whole log? */
extern bool visible_everything(void);

extern bool visible_task(const Task *task);

/* raises 42501, code NOT_YOUR_TASK, unless the role may read the task */
extern void visible_require_task(const Task *task);

#endif							/* CLUTCH_VISIBLE_H */
