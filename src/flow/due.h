/*-------------------------------------------------------------------------
 *
 * due.h
 *	  Due tasks: expired leases, passed deadlines, questions that nobody
 *	  answered, retries, not_before, and ready tasks that their agents do not
 *	  claim.
 *
 * They are handled by ticks and, in small shares, by claims.  This never
 * waits: a task that another transaction has locked stays due.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DUE_H
#define CLUTCH_DUE_H

#include "flow/agenda.h"

typedef struct DueReport
{
	int			expired;		/* leases that expired */
	int			timed_out;		/* deadlines, runtimes and questions that ran
								 * out */
	int			woken;			/* held tasks that were woken */
	int			routed;			/* of these, how many were given to an agent */
	int			unclaimed;		/* ready tasks that are now offered to other
								 * agents */
	int			unsent;			/* leases that begin anew, because the call has
								 * not been sent */
} DueReport;

/* Returns how many tasks have moved. */
extern int	due_moved(const DueReport *report);

/*
 * May the current statement work on due tasks, and lock them until it ends?
 * Not if its transaction continues after it, and not for a role that is not an
 * operator, because what a statement does after it has called us may last as
 * long as its author likes.  Such a caller leaves the work to the agenda.
 */
extern bool due_may_move_now(void);

/*
 * Works on at most n due tasks.  A task that cannot be moved, because
 * something raises an error, is tried again in a minute.  The error is
 * reported as a WARNING to a caller who speaks for the task's requester, and
 * otherwise to the server log.
 */
extern DueReport due_work(int n);

/* Handles CONSEQUENCE_TIMERS.  Always returns true. */
extern bool due_settle(const Consequence *consequence);

#endif							/* CLUTCH_DUE_H */
