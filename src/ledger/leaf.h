/*-------------------------------------------------------------------------
 *
 * leaf.h
 *	  Leaves of the tree over the log, made from events.
 *
 * A leaf is a UTF-8 text of four lines, the last of which does not end with a
 * line break:
 *
 *		clutch-event-v1
 *		4711									seq, in decimal
 *		2026-02-01T13:20:11.123456Z				received_at, in UTC
 *		{"from":{"agent_id":"agent:a"},...}		the envelope, by RFC 8785
 *
 * If the envelope has a number that a double cannot hold, such as
 * 12345678901234567890, the first line is clutch-event-v1-exact and the last
 * one the text of the jsonb, with all digits: otherwise, somebody could change
 * those that a double loses.
 *
 * docs/proofs.md describes the same for those who verify.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LEAF_H
#define CLUTCH_LEAF_H

#include "datatype/timestamp.h"
#include "ledger/merkle.h"
#include "lib/stringinfo.h"
#include "utils/jsonb.h"

/* Appends the bytes to the string, which must be empty. */
extern void leaf_write(StringInfo bytes, int64 seq, TimestampTz received_at, Jsonb *envelope);

extern MerkleHash leaf_hash(int64 seq, TimestampTz received_at, Jsonb *envelope);

/* Returns a hash in hexadecimal, as in audit events, palloc'd. */
extern Slice leaf_hex(const MerkleHash *hash);

#endif							/* CLUTCH_LEAF_H */
