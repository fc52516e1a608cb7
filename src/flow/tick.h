/*-------------------------------------------------------------------------
 *
 * tick.h
 *	  Ticks: work that must be done although no agent asks for it: lost agents,
 *	  due tasks, schedules, and waiting tasks.
 *
 * A tick is called by the worker, by a client, or by pg_cron.  Two ticks at
 * the same time are harmless, because each skips what the other has locked.
 * What a tick causes for other tasks is on the agenda afterwards.
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
	int			lost;			/* agents declared lost */
	int			sent;			/* scheduled envelopes sent */
	int			expired;		/* messages to which nobody replied */
	int			routed;			/* waiting and due tasks that were given to
								 * agents */
	int64		sealed;			/* events, by tick_seal */
} TickReport;

/* Does each kind of work at most n times.  Never waits for a lock. */
extern TickReport tick_all(int n);

/*
 * Adds events to the tree over the log (ledger/seal.h).  Adds fewer if the
 * tick has moved tasks, whose locks are held meanwhile.  The worker does this
 * in a transaction of its own.
 */
extern void tick_seal(TickReport *report);

/* Was there so much work that there may be more? */
extern bool tick_is_full(const TickReport *report, int n);

/*
 * Returns when the next thing is due, as far as can be told, or DT_NOEND if
 * nothing is pending.  To be called after a tick that has found no more to do.
 * If something is already due because another transaction has locked it, that
 * time is soon.
 */
extern TimestampTz tick_next(void);

/*
 * Counts events for the metrics, as a tick does, and returns whether there are
 * more.
 */
extern bool tick_count_events(void);

/* Handles CONSEQUENCE_TICK.  Always returns true. */
extern bool tick_settle(const Consequence *consequence);

#endif							/* CLUTCH_TICK_H */
