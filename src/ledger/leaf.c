/*-------------------------------------------------------------------------
 *
 * leaf.c
 *	  Leaves of the tree over the log, made from events.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "ledger/leaf.h"
#include "protocol/canonical.h"

void
leaf_write(StringInfo bytes, int64 seq, TimestampTz received_at, Jsonb *envelope)
{
	ProblemList *inexact = problem_list();

	appendStringInfo(bytes, "clutch-event-v1\n" INT64_FORMAT "\n%s\n", seq, clock_rfc3339(received_at));
	canonical_append(bytes, envelope, CANONICAL_EXACT, NULL, inexact);
	if (inexact->n == 0)
		return;
	resetStringInfo(bytes);
	appendStringInfo(bytes, "clutch-event-v1-exact\n" INT64_FORMAT "\n%s\n", seq, clock_rfc3339(received_at));
	(void) JsonbToCString(bytes, &envelope->root, VARSIZE(envelope));
}

MerkleHash
leaf_hash(int64 seq, TimestampTz received_at, Jsonb *envelope)
{
	StringInfoData bytes;
	MerkleHash	hash;

	initStringInfo(&bytes);
	leaf_write(&bytes, seq, received_at, envelope);
	hash = merkle_leaf(bytes.data, bytes.len);
	pfree(bytes.data);
	return hash;
}

Slice
leaf_hex(const MerkleHash *hash)
{
	return crypto_encode_hex(hash->bytes, CRYPTO_HASH_BYTES);
}
