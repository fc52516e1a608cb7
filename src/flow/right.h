/*-------------------------------------------------------------------------
 *
 * right.h
 *	  Who may write into a run, and so name its tasks (P8).
 *
 * A run belongs to those who take part in it.  An agent may write into a run if
 *
 *	- the run has no event yet: the first event founds it;
 *	- it takes part in the run: it has sent an event of it, was addressed, by name
 *	  or as a member of a group, or has or had a task of it;
 *	- clutch.grant_agent has given it the scope of the run, unless the visibility of
 *	  the run is parent-only or private;
 *	- it is the orchestrator, or the role is an operator's.
 *
 * The runs of the registry and of the audit belong to no agent: into the first,
 * every agent may write what it says of itself, into the second only operators, and
 * these not as the orchestrator, in whose name the database keeps the audit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RIGHT_H
#define CLUTCH_RIGHT_H

#include "store/event.h"
#include "task/task.h"

/*
 * Raises 42501, code NOT_A_PARTICIPANT, unless the sender of the event may write
 * into its run.  Waits for a transaction that is about to found the run.  From now
 * on the sender takes part in the run, because its event will be in the log.
 */
extern void right_require_sender(const Envelope *envelope);

/* Does the run show each of those who take part in it only their own tasks? */
extern bool right_is_parent_only(Slice run_id);

/*
 * May the agent, which takes part in the run of the task, know of the task?  In a run
 * that is parent-only, it has to have requested, have or have had the task or one above it.
 */
extern bool right_sees_task(Slice agent_id, const Task *task);

/* The event is admitted: those to whom it is addressed take part in its run. */
extern void right_add_recipients(const Event *event);

/* May the agent, for which the current role speaks, know of the run and write into it? */
extern bool right_has(Slice agent_id, Slice run_id);

/* The same as right_require_sender, but nothing is written: an open run is no run. */
extern void right_require(Slice agent_id, Slice run_id, const char *place);

/*
 * The task that a role names as the argument "task_id", in the name of an agent.
 * Raises NOT_YOUR_AGENT at "/from/agent_id" unless the role speaks for it, and
 * TASK_NOT_FOUND if there is no such task, or if the agent may not know of it.
 */
extern Task *right_look_task(Slice agent_id, Slice task_id);

/* Does the agent take part in the run, as a statement that reads sees it? */
extern bool right_takes_part(Slice agent_id, Slice run_id, RowSnapshot which);

/*
 * The runs in which one of the agents takes part: a List of Slice *, each once, in
 * the order of bytes.
 */
extern List *right_list_runs(const SliceList *agents, RowSnapshot which);

#endif							/* CLUTCH_RIGHT_H */
