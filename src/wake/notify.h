/*-------------------------------------------------------------------------
 *
 * notify.h
 *	  Waking listeners and the worker: the only Async_Notify.
 *
 * A notification is a hint to look, never the data: its payload is {}.  One
 * hint per transaction and channel, at most clutch.notify_channels channels
 * a transaction besides 'all'.  clutch.notify says who sends it: the worker of
 * the database, after the transaction; the transaction, at commit; nobody.
 *
 * Channels: "clutch" for all; "clutch_agent_<16 hex digits>" and the like for
 * one agent, thread, run or task.  Ids may be longer than the 63 bytes of a
 * channel, so the digits are a hash; a collision wakes somebody too many.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_NOTIFY_H
#define CLUTCH_NOTIFY_H

#include "store/event.h"
#include "wake/mailbox.h"

typedef enum Audience
{
	AUDIENCE_ALL,
	AUDIENCE_AGENT,
	AUDIENCE_THREAD,
	AUDIENCE_RUN,
	AUDIENCE_TASK
} Audience;

/* false: no such kind */
extern bool audience_parse(Slice name, Audience *audience);

/* palloc'd */
extern char *notify_channel(Audience audience, Slice id);

/* everybody whom an event of the log concerns */
extern void notify_event(const Event *event);

/* an agent for which something waits, though no event is addressed to it */
extern void notify_agent(Slice agent_id);

/*
 * Something is to be done at that time, if this transaction commits: the
 * worker, if there is one, comes by.
 */
extern void notify_due(TimestampTz at);

/* the worker: what others left for it, with the current transaction */
extern void notify_hints(const Hint *these, int n);

#endif							/* CLUTCH_NOTIFY_H */
