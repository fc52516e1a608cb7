/*-------------------------------------------------------------------------
 *
 * sight.h
 *	  Sight: what the current role may read (docs/roles.md).
 *
 * Operators, and readers without scopes, see everything.  Every other role
 * sees
 *
 *	- the runs in which one of its agents takes part (flow/right);
 *	- the runs of the scopes that it was granted, as the role of an agent or as
 *	  a reader, unless their visibility is parent-only or private;
 *	- public runs.
 *
 * In a run that is parent-only, participants see only the tasks that their
 * agents requested, have or had, and everything below these.  See
 * store/visibility.
 *
 * SQL functions use this, and so do the row-level security policies in
 * sql/install/grants.sql, through clutch.sees (api/visible).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SIGHT_H
#define CLUTCH_SIGHT_H

#include "base/text_map.h"
#include "task/task.h"

/*
 * What has been found out during one statement.  Everything is palloc'd in the
 * context in which sight_begin was called.
 */
typedef struct Sight
{
	MemoryContext context;
	bool		everything;
	bool		is_known;		/* the role has been granted something */
	SliceList	agents;			/* the agents for which it speaks */
	SliceList	scopes;			/* the scopes that it was granted; "*" means
								 * all scopes */
	struct runtable_hash *runs; /* the runs that were looked at one by one, or
								 * NULL if none yet */
	int			nlooked;		/* what these looks have cost; see sight.c */
	struct RunList *list;		/* all runs of which the role sees something,
								 * or NULL if they have not been listed */
	TextMap    *tasks;			/* whether some tasks are below one of its
								 * agents', or NULL if none are known */
} Sight;

/* Begins with the current role. */
extern void sight_begin(Sight *sight);

/*
 * The same for the role in whose name an event is sent, which may be a
 * different one.
 */
extern void sight_begin_of_sender(Sight *sight);

/* Begins with what a role that speaks for this agent, and was granted nothing else, would see. */
extern void sight_begin_of_agent(Sight *sight, Slice agent_id);

/*
 * Does the role speak for the agent?  The role must not be one that sees
 * everything.
 */
extern bool sight_has_agent(const Sight *sight, Slice agent_id);

/* May the role read the task? */
extern bool sight_has_task(Sight *sight, const Task *task);

/*
 * Raises 42501 unless the agent may cancel or retry the task (task/verdict).
 * The caller has named the run and not the task, so the error names the task
 * only if the role may read it.
 */
extern void sight_check_may_steer(const Task *task, Slice agent_id);

/* May the role read the current row of a scan of clutch.events? */
extern bool sight_has_event(Sight *sight, const RowScan *event);

/*
 * May the role read the event of the log that has this seq?  Returns false if
 * there is none.
 */
extern bool sight_has_seq(Sight *sight, int64 seq);

/*
 * May the role read a row that belongs to this run and, unless it is absent,
 * to this task?
 */
extern bool sight_has_row(Sight *sight, Slice run_id, Slice task_id);

/*
 * Returns the runs of which the role may see something, each once and in byte
 * order, as text[].  The role must not be one that sees everything.  The array
 * may contain runs of which it sees nothing after all.
 */
extern Datum sight_array_of_runs(const Sight *sight);

/*
 * Returns how many runs were last listed for the current role, or -1 if that
 * is not known.
 */
extern int	sight_count_listed_runs(void);

/* Returns the tasks of one parent-only run that the role sees. */
extern List *sight_list_tasks_of_run(Sight *sight, Slice run_id);

typedef enum SightOfRun
{
	SIGHT_NONE,
	SIGHT_TASKS,				/* some of its tasks; see
								 * sight_list_tasks_of_run */
	SIGHT_RUN
} SightOfRun;

extern SightOfRun sight_of_run(Sight *sight, Slice run_id);

#endif							/* CLUTCH_SIGHT_H */
