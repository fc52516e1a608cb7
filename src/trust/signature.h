/*-------------------------------------------------------------------------
 *
 * signature.h
 *	  Signatures of envelopes (spec 6: security.auth).
 *
 * A signature authenticates the agent that the envelope names as its sender,
 * whichever role inserts it (P8).  It is an Ed25519 signature over three
 * lines:
 *
 *		clutch/0.1 envelope
 *		the setting clutch.audience
 *		the canonical envelope (RFC 8785), without security.auth.sig
 *
 * the first two of which end with a line feed.  Everything else in the
 * envelope is signed, including "ts", "attempt" and "trace".  So a signature
 * for one run, recipient, database or purpose is of no use for another.
 *
 * The same envelope cannot be admitted twice while it is in the log
 * (store/dedup).  It may be pruned later.  So that it cannot be sent again
 * then, a signature authenticates its sender only while "ts" differs from the
 * current time by at most clutch.signature_skew; an event is not pruned before
 * that time has passed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SIGNATURE_H
#define CLUTCH_SIGNATURE_H

#include "lib/stringinfo.h"
#include "protocol/envelope.h"

/*
 * Appends the bytes that are signed.  A number that could be replaced by
 * another one with the same canonical form is a fault.
 */
extern void signature_append_bytes(StringInfo out, Jsonb *document, ProblemList *list);

/* when an envelope was received */
typedef struct SignatureTime
{
	TimestampTz time;
	bool		is_now;			/* it is being received */
} SignatureTime;

/*
 * Adds a fault unless the envelope, which must have is_signed set, has a
 * signature of its sender by a key that was valid at that time.
 */
extern void signature_check(const Envelope *envelope, SignatureTime at, ProblemList *list);

/* Is "ts" within clutch.signature_skew of that time? */
extern bool signature_is_fresh(const Envelope *envelope, TimestampTz at);

/*
 * Must this agent sign what has this bit in clutch.signed_types?  The setting
 * clutch.require_signature decides; operators need not sign.
 */
extern bool signature_is_required(Slice agent_id, uint32 bit);

#endif							/* CLUTCH_SIGNATURE_H */
