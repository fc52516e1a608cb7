/*-------------------------------------------------------------------------
 *
 * candidates.h
 *	  Which events of the log may be pruned.
 *
 * The unit is a run that has tasks: it goes as a whole, when all its tasks are
 * over, its newest event is old enough, and no consequence of it has been put
 * off.  In a run without tasks each event is judged by itself, so a
 * conversation that goes on in one run for years is pruned, too.
 *
 * What the state of the database is made of stays: agent.* events, and the
 * audit of what was pruned before.  What a subscription has not handled stays
 * as well, unless clutch.prune_unread is on.
 *
 * Nothing waits: a run of which a task is locked is passed over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANDIDATES_H
#define CLUTCH_CANDIDATES_H

#include "feed/bookmark.h"
#include "nodes/pg_list.h"

/* what goes or stays together: the events of a run that has tasks, or one message */
typedef struct CandidateUnit
{
	Slice		run_id;			/* absent if a message, which has no state */
	int			first;			/* its events begin there in Candidates.seqs, */
	int			n;				/* and are so many */
	List	   *tasks;			/* of Task *, locked */
} CandidateUnit;

typedef struct Candidates
{
	int64	   *seqs;			/* ascending within a unit */
	int			n;
	List	   *units;			/* of CandidateUnit * */
	Slice		unread_by;		/* a subscription for which events were kept, or absent */
} Candidates;

/*
 * Events received before that time, about so many at most: the last run may
 * have more.  None is returned only if there is none at all.  The tasks of the
 * runs are locked.
 */
extern Candidates *candidates_find(TimestampTz before, int max_events);

#endif							/* CLUTCH_CANDIDATES_H */
