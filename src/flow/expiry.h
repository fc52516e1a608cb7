/*-------------------------------------------------------------------------
 *
 * expiry.h
 *	  Messages that nobody replies to in time (spec 003 5.1).
 *
 * A message that is neither about a task nor about an agent may say how long it
 * lives (meta.clutch.ttl_ms or deadline).  If nobody has replied to it by then,
 * that is, sent a message in the same run that names it in reply_to, its sender
 * is told: by a tool.error for a tool.call, otherwise by a chat.system of the
 * orchestrator, which replies to it.  Nobody is expected to reply to a topic or a
 * broadcast.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EXPIRY_H
#define CLUTCH_EXPIRY_H

#include "base/rows.h"
#include "protocol/envelope.h"

/*
 * What a message in the log means: it is to be replied to, or is itself a reply.
 * Also called for each of them in a rebuild.
 */
extern void expiry_note(const Envelope *message, int64 seq);

/* Tells the senders of at most n messages; returns how many.  Never waits. */
extern int	expiry_work(int n);

/* Is the message in the current row of a scan of the log still to be replied to? */
extern bool expiry_is_open(const RowScan *message);

/* when the first of them is due, or DT_NOEND if there is none */
extern TimestampTz expiry_next(void);

#endif							/* CLUTCH_EXPIRY_H */
