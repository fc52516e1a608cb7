/*-------------------------------------------------------------------------
 *
 * candidates.h
 *	  Candidates for pruning: which events of the log may be removed.
 *
 * A run that has tasks is removed as a whole, when all of its tasks are over,
 * its newest event is old enough, and none of its consequences is postponed.
 * In a run without tasks, each event is judged by itself, so a conversation
 * that goes on in one run for years is pruned, too.
 *
 * Events from which the current state is derived stay: agent.* events, and the
 * audit events about what was pruned before.  What a subscription has not
 * handled stays as well, unless clutch.prune_unread is on.
 *
 * This never waits: a run with a locked task is skipped.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANDIDATES_H
#define CLUTCH_CANDIDATES_H

#include "feed/bookmark.h"
#include "nodes/pg_list.h"

/*
 * What is removed or kept together: the events of a run that has tasks, or one
 * message.
 */
typedef struct CandidateUnit
{
	Slice		run_id;			/* absent for a message, which has no state */
	int			first;			/* index of its first event in Candidates.seqs, */
	int			n;				/* and the number of its events */
	List	   *tasks;			/* of Task *, locked */
} CandidateUnit;

typedef struct Candidates
{
	int64	   *seqs;			/* in ascending order within a unit */
	int			n;
	List	   *units;			/* of CandidateUnit * */
	Slice		unread_by;		/* a subscription for which events were kept,
								 * or absent */
	bool		is_partial;		/* the search ended because it had examined
								 * max_examined events */
} Candidates;

/*
 * Returns events that were received before that time, about max_events at
 * most; the last run may have more.  Returns none only if there are none at
 * all.  The tasks of the runs are locked.
 *
 * If max_examined is not 0, the search also ends after it has examined so many
 * events, or at the end of the log, and the next one continues there.
 */
extern Candidates *candidates_find(TimestampTz before, int max_events, int max_examined);

/*
 * Makes this backend's next search begin at a random place behind its last one.
 * Returns false if that has reached the end.  For a caller that could remove
 * nothing of what was found: if its session is short, it will never get far
 * beyond that.
 */
extern bool candidates_jump(TimestampTz before);

#endif							/* CLUTCH_CANDIDATES_H */
