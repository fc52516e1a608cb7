/*-------------------------------------------------------------------------
 *
 * sight.h
 *	  What the current role may read (docs/roles.md).
 *
 * Operators, and readers without scopes, see everything.  Every other role sees
 *
 *	- the runs in which one of its agents takes part (flow/right);
 *	- the runs of the scopes that it was granted, as the role of an agent or as a
 *	  reader, unless their visibility is parent-only or private;
 *	- public runs.
 *
 * Of a run that is parent-only, those who take part see the tasks that their agents
 * requested, have or had, and whatever lies below these.  See store/visibility.
 *
 * Functions ask here, and so do the row-level policies of sql/install/grants.sql,
 * through clutch.sees (api/visible).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SIGHT_H
#define CLUTCH_SIGHT_H

#include "task/task.h"

/*
 * For the time of one statement: what is found out about a run is remembered.
 * Everything is palloc'd in the context in which it was begun.
 */
typedef struct Sight
{
	MemoryContext context;
	bool		everything;
	bool		is_known;		/* the role has been granted something */
	SliceList	agents;			/* for which it speaks */
	SliceList	scopes;			/* that it was granted; "*" is every scope */
	struct runtable_hash *runs; /* runs that were looked at one by one; NULL: none yet */
	int			nlooked;		/* how many they are */
	struct RunList *list;		/* all runs of which something is seen; NULL: not listed */
} Sight;

extern void sight_begin(Sight *sight);

/* The same for the role in whose name an event is sent, which may be another one. */
extern void sight_begin_of_sender(Sight *sight);

/* What a role that speaks for this agent, and was granted nothing else, would see. */
extern void sight_begin_of_agent(Sight *sight, Slice agent_id);

/* Does the role, which does not see everything, speak for the agent? */
extern bool sight_has_agent(const Sight *sight, Slice agent_id);

/* Is the task one that the role may read? */
extern bool sight_has_task(Sight *sight, const Task *task);

/*
 * Raises 42501 unless the agent may cancel or retry the task (task/verdict), which the
 * caller has not named, but its run; the error names it only if the role may read it.
 */
extern void sight_check_may_steer(const Task *task, Slice agent_id);

/* Is the current row of a scan of clutch.events? */
extern bool sight_has_event(Sight *sight, const RowScan *event);

/* Is the event of the log that has this seq?  One that is not in the log is not. */
extern bool sight_has_seq(Sight *sight, int64 seq);

/* Does a row that belongs to this run, and to this task unless that is absent? */
extern bool sight_has_row(Sight *sight, Slice run_id, Slice task_id);

/*
 * The runs of which the role may see something, if it does not see everything, in order
 * of bytes and each once, as text[].  There may be some of which it sees nothing.
 */
extern Datum sight_array_of_runs(const Sight *sight);

/* How many there were when they were last listed for the current role; -1: unknown. */
extern int	sight_count_listed_runs(void);

/* The tasks of one run that the role sees, if it is parent-only. */
extern List *sight_list_tasks_of_run(const Sight *sight, Slice run_id);

typedef enum SightOfRun
{
	SIGHT_NONE,
	SIGHT_TASKS,				/* some of its tasks: sight_list_tasks_of_run */
	SIGHT_RUN
} SightOfRun;

extern SightOfRun sight_of_run(Sight *sight, Slice run_id);

#endif							/* CLUTCH_SIGHT_H */
