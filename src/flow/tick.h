/*-------------------------------------------------------------------------
 *
 * tick.h
 *	  What has to happen although no agent asks for it: lost agents, due tasks,
 *	  schedules, and tasks that wait.
 *
 * Called by the worker, by a client, or by pg_cron.  Two ticks at once are
 * harmless: what one has locked the other passes over.  What a tick causes for
 * other tasks is on the agenda afterwards.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TICK_H
#define CLUTCH_TICK_H

#include "flow/agenda.h"
#include "flow/due.h"

typedef struct TickReport
{
	DueReport	due;
	int			lost;			/* agents */
	int			sent;			/* schedules */
	int			expired;		/* messages that nobody replied to */
	int			routed;			/* tasks that waited, and due ones */
	int64		sealed;			/* events, by tick_seal */
} TickReport;

/* Each kind of work at most n times.  Never waits for a lock. */
extern TickReport tick_all(int n);

/*
 * Adds events to the tree over the log (ledger/seal.h), fewer if the tick has moved
 * tasks, whose locks are held meanwhile.  The worker does so in a transaction of its
 * own.
 */
extern void tick_seal(TickReport *report);

/* Was there so much work that there may be more? */
extern bool tick_is_full(const TickReport *report, int n);

/*
 * When something is due next, as far as can be told, after a tick that has
 * found no more to do, or DT_NOEND if nothing is open.  If something is due
 * already, because another transaction has locked it, that is soon.
 */
extern TimestampTz tick_next(void);

/* CONSEQUENCE_TICK; always true */
extern bool tick_settle(const Consequence *consequence);

#endif							/* CLUTCH_TICK_H */
