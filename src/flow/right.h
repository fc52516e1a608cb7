/*-------------------------------------------------------------------------
 *
 * right.h
 *	  Rights: who may write into a run, and so name its tasks (P8).
 *
 * A run belongs to those who take part in it.  An agent may write into a run
 * if
 *
 *	- the run has no event yet: the first event founds it;
 *	- it takes part in the run: it has sent an event of it, was addressed, by
 *	  name or as a member of a group, or has or had a task of it;
 *	- clutch.grant_agent has given it the scope of the run, unless the
 *	  visibility of the run is parent-only or private;
 *	- it is the orchestrator, or the role is an operator's.
 *
 * The runs of the registry and of the audit belong to no agent.  Into the
 * first, every agent may write about itself.  Into the second, only operators
 * may write, and not as the orchestrator, in whose name the database records
 * the audit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RIGHT_H
#define CLUTCH_RIGHT_H

#include "store/event.h"
#include "task/task.h"

/*
 * Raises 42501, code NOT_A_PARTICIPANT, unless the sender of the event may
 * write into its run.  Waits for a transaction that is about to found the run.
 * From now on the sender takes part in the run, because its event will be in
 * the log.
 */
extern void right_require_sender(const Envelope *envelope);

/* Does the run show its participants only their own tasks? */
extern bool right_is_parent_only(Slice run_id);

/*
 * May the agent, which takes part in the run of the task, know of the task?
 * In a run that is parent-only, it must have requested, have or have had the
 * task or one above it, or be the orchestrator.
 */
extern bool right_sees_task(Slice agent_id, const Task *task);

/*
 * Raises TASK_NOT_FOUND unless the sender of a request may know of a task of
 * its run that the request names as its parent, or waits for.
 */
extern void right_require_to_name(const Envelope *request, const Task *task, const char *place);

/* Makes the recipients of an admitted event take part in its run. */
extern void right_add_recipients(const Event *event);

/*
 * May the agent, for which the current role speaks, know of the run and write
 * into it?
 */
extern bool right_has(Slice agent_id, Slice run_id);

/*
 * The same as right_require_sender, but for the argument "run_id" of a function,
 * and for reading: an open run counts as no run.
 */
extern void right_require(Slice agent_id, Slice run_id);

/*
 * Returns the task that a role names in the argument "task_id", in the name of
 * an agent.  Raises NOT_YOUR_AGENT at "/from/agent_id" unless the role speaks
 * for the agent, and TASK_NOT_FOUND if there is no such task, or if the agent
 * may not know of it.
 */
extern Task *right_look_task(Slice agent_id, Slice task_id);

/* Does one of the agents take part in the run, as a reading statement sees it? */
extern bool right_take_part(const SliceList *agents, Slice run_id);

/*
 * Returns the runs in which one of the agents takes part, each once and in
 * byte order, as a List of Slice *.
 */
extern List *right_list_runs(const SliceList *agents);

#endif							/* CLUTCH_RIGHT_H */
