/*-------------------------------------------------------------------------
 *
 * notify.h
 *	  Waking listeners and the worker.  Only this file calls Async_Notify.
 *
 * A notification is a hint to look for news, and never carries the news: its
 * payload is {}.  A transaction sends one hint per channel, and besides the
 * channels of all and of gateways it notifies at most clutch.notify_channels channels.
 * clutch.notify decides who sends them: the worker of the database after the
 * transaction, the transaction itself at commit, or nobody.
 *
 * The channel of all is "clutch", and that of gateways, which is notified of calls in the
 * outbox, is "clutch_outbox".  That of an agent is
 * "clutch_agent_<16 hexadecimal digits>", and those of a thread, run or task
 * look alike.  Ids may be longer than the 63 bytes that a channel's name may
 * have, so the digits are a hash of the id.  A collision wakes a listener
 * without need.
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

/* Does its channel have no id? */
extern bool audience_is_one(Audience audience);

/* Returns the name of a channel, palloc'd. */
extern char *notify_channel(Audience audience, Slice id);

/* Wakes everyone whom an event of the log concerns. */
extern void notify_event(const Event *event);

/* Wakes an agent for which something waits without an event addressed to it. */
extern void notify_agent(Slice agent_id);

/* Wakes gateways: a call of the outbox is due. */
extern void notify_outbox(void);

/* Has the worker look at that time, if the current transaction commits. */
extern void notify_due(TimestampTz at);

/* Sends, in the current transaction, the hints that others left for the worker. */
extern void notify_hints(const Hint *left, int n);

#endif							/* CLUTCH_NOTIFY_H */
