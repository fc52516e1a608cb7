/*-------------------------------------------------------------------------
 *
 * expiry.h
 *	  Messages to which nobody replies in time (spec 003 5.1).
 *
 * A message that is neither about a task nor about an agent may have a
 * lifetime (meta.clutch.ttl_ms or deadline).  If nobody has replied to it by
 * then, by a message in the same run that names it in reply_to, its sender is
 * told: by a tool.error for a tool.call, and otherwise by a chat.system that
 * the orchestrator sends as a reply.  Nobody is expected to reply to a topic
 * or a broadcast.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EXPIRY_H
#define CLUTCH_EXPIRY_H

#include "base/rows.h"
#include "protocol/envelope.h"

/*
 * Notes a message in the log that must be replied to, or that is itself a
 * reply.  In a rebuild, this is called for each message again.
 */
extern void expiry_note(const Envelope *message, int64 seq);

/* Tells the senders of at most n messages.  Returns how many.  Never waits. */
extern int	expiry_work(int n);

/*
 * Must the message in the current row of a scan of the log still be replied
 * to?
 */
extern bool expiry_is_open(const RowScan *message);

/* Returns when the first of them is due, or DT_NOEND if there is none. */
extern TimestampTz expiry_next(void);

#endif							/* CLUTCH_EXPIRY_H */
