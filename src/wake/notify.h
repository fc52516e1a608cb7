/*-------------------------------------------------------------------------
 *
 * notify.h
 *	  Waking listeners and the worker.  Only this file calls Async_Notify and
 *	  Async_Listen.
 *
 * A notification is a hint to look for news, and never carries the news
 * itself: its payload is {}.  A transaction sends one hint per channel.  In
 * addition to the channels for all and for gateways, it notifies at most
 * clutch.notify_channels channels.  clutch.notify decides who sends them: the
 * worker of the database after the transaction, the transaction itself at
 * commit, or nobody.  The worker leaves out channels that have no listeners.
 *
 * The channel for all is "clutch", and the one for gateways, which is
 * notified of calls in the outbox, is "clutch_outbox".  The channel of an
 * agent is "clutch_agent_<16 hexadecimal digits>", and those of threads, runs
 * and tasks are similar.  IDs may be longer than the 63 bytes allowed for the
 * name of a channel, so the digits are a hash of the ID.  A collision wakes a
 * listener unnecessarily.
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
	AUDIENCE_TASK,
	AUDIENCE_OUTBOX
} Audience;

/* Returns false if there is no such kind of channel. */
extern bool audience_parse(Slice name, Audience *audience);

/* Does the audience have a single channel, without an ID? */
extern bool audience_is_one(Audience audience);

/* Returns the name of a channel, palloc'd. */
extern char *notify_channel(Audience audience, Slice id);

/* Wakes everyone whom an event of the log concerns. */
extern void notify_event(const Event *event);

/*
 * Wakes an agent for which something is waiting although no event is addressed
 * to it.
 */
extern void notify_agent(Slice agent_id);

/* Wakes gateways, because a call in the outbox is due. */
extern void notify_outbox(void);

/* Executes LISTEN for the channel. */
extern void notify_listen(const char *channel);

/*
 * Counts sessions that execute LISTEN.  To be called while the library is
 * preloaded.
 */
extern void notify_watch(void);

/* Makes the worker look at that time, if the current transaction commits. */
extern void notify_due(TimestampTz at);

/*
 * Sends, in the current transaction, the hints that others left for the
 * worker.
 */
extern void notify_hints(const Hint *left, int n);

#endif							/* CLUTCH_NOTIFY_H */
