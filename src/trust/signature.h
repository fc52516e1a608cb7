/*-------------------------------------------------------------------------
 *
 * signature.h
 *	  Envelopes that are signed (spec 6: security.auth).
 *
 * A signature speaks for the agent that the envelope names as its sender,
 * whichever role inserts it (P8).  It is an Ed25519 signature of three lines:
 *
 *		clutch/0.1 envelope
 *		the setting clutch.audience
 *		the canonical envelope (RFC 8785), without security.auth.sig
 *
 * the first two of which end with a line feed.  Everything else in the envelope is
 * signed, "ts", "attempt" and "trace" included.  So what was signed for one
 * run, recipient, database or purpose is of no use for another.
 *
 * The same envelope cannot be admitted twice while the log has it (store/dedup).
 * It may be pruned later.  So that it cannot come back then, a signature speaks for
 * its sender only while "ts" is not further from now than clutch.signature_skew;
 * until then an event is not pruned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SIGNATURE_H
#define CLUTCH_SIGNATURE_H

#include "lib/stringinfo.h"
#include "protocol/envelope.h"

/*
 * Appends what is signed.  A number that others could replace by another one
 * with the same canonical form is a fault.
 */
extern void signature_append_bytes(StringInfo out, Jsonb *document, ProblemList *list);

/* when an envelope was received */
typedef struct SignatureTime
{
	TimestampTz time;
	bool		is_now;			/* it is being received */
} SignatureTime;

/*
 * Adds a fault unless the envelope, which is_signed, has a signature of its sender
 * by a key that was valid at that time.
 */
extern void signature_check(const Envelope *envelope, SignatureTime at, ProblemList *list);

/* Is "ts" within clutch.signature_skew of that time? */
extern bool signature_is_fresh(const Envelope *envelope, TimestampTz at);

/*
 * Must this agent sign what clutch.signed_types has under that bit?  The setting
 * clutch.require_signature decides, and operators need not sign.
 */
extern bool signature_is_required(Slice agent_id, uint32 bit);

#endif							/* CLUTCH_SIGNATURE_H */
