/*-------------------------------------------------------------------------
 *
 * visible.h
 *	  Which events and tasks a role may read, for functions that return them.
 *
 * The rule is that of flow/sight.  For the tables and views,
 * sql/install/grants.sql says the same in row-level policies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VISIBLE_H
#define CLUTCH_VISIBLE_H

#include "task/task.h"

/* May the current role read the whole log? */
extern bool visible_everything(void);

extern bool visible_task(const Task *task);

/* all of the run */
extern bool visible_run(Slice run_id);

/*
 * The task that the argument "task_id" names, as the statement sees it.  Raises
 * TASK_NOT_FOUND if there is no such task, and also if the role may not read it.
 */
extern Task *visible_look_task(Slice task_id);

/*
 * Raises 42501 unless the role speaks for the agent that an argument names, and then
 * AGENT_NOT_FOUND unless the agent is registered: others are not to know.
 */
extern void visible_require_own_agent(Slice agent_id, const char *argument);

/* May the current role read the event?  One that is not in the log: if it reads the whole log. */
extern bool visible_event(int64 seq);

#endif							/* CLUTCH_VISIBLE_H */
