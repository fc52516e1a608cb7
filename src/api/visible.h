/*-------------------------------------------------------------------------
 *
 * visible.h
 *	  Which events and tasks a role may read, for the functions that return
 *	  them.
 *
 * The rules are those of flow/sight.  For tables and views,
 * sql/install/grants.sql expresses the same in row-level security policies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VISIBLE_H
#define CLUTCH_VISIBLE_H

#include "task/task.h"

/* May the current role read the whole log? */
extern bool visible_everything(void);

extern bool visible_task(const Task *task);

/* May the current role read all of the run? */
extern bool visible_run(Slice run_id);

/*
 * Returns the task that the argument "task_id" names, as the statement sees
 * it.  Raises TASK_NOT_FOUND if there is no such task, or if the role may not
 * read it.
 */
extern Task *visible_look_task(Slice task_id);

/*
 * Raises 42501 unless the role speaks for the agent that an argument names,
 * and then AGENT_NOT_FOUND unless the agent is registered.  In this order,
 * because a role must not learn which other agents exist.
 */
extern void visible_require_own_agent(Slice agent_id, const char *argument);

/*
 * May the current role read the event?  If it is not in the log, only roles
 * that read the whole log may.
 */
extern bool visible_event(int64 seq);

#endif							/* CLUTCH_VISIBLE_H */
