/*-------------------------------------------------------------------------
 *
 * due.h
 *	  Tasks whose time has come: expired leases, passed deadlines, questions
 *	  that nobody answered, retries, not_before, and ready tasks that their
 *	  agents do not claim.
 *
 * Done by tick, and in small shares by claims.  Nothing waits: a task that
 * another transaction has locked stays due.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DUE_H
#define CLUTCH_DUE_H

#include "flow/agenda.h"

typedef struct DueReport
{
	int			expired;		/* leases */
	int			timed_out;		/* deadlines, runtimes and questions */
	int			woken;			/* their time has come */
	int			routed;			/* of these, given to an agent */
	int			unclaimed;		/* ready tasks that are offered to other agents now */
} DueReport;

/* Returns how many tasks have moved. */
extern int	due_moved(const DueReport *report);

/*
 * May the current statement work on due tasks, and hold them until it ends?  Not if its
 * transaction goes on, and not for a role that is no operator: what a statement does
 * after it has called us may last as long as its author likes.  Such a caller leaves
 * the work to the agenda.
 */
extern bool due_may_move_now(void);

/*
 * Works on at most n due tasks.  A task that cannot be moved, because something
 * raises an error, is reported as a WARNING, to whoever speaks for its requester and otherwise
 * to the log of the server, and tried again in a minute.
 */
extern DueReport due_work(int n);

/* CONSEQUENCE_TIMERS; always true */
extern bool due_settle(const Consequence *consequence);

#endif							/* CLUTCH_DUE_H */
