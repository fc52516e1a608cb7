/*-------------------------------------------------------------------------
 *
 * checkpoint_signature.c
 *	  Signatures on the heads of the tree, which are made outside the database.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/guard.h"
#include "ledger/checkpoint.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* columns of clutch.checkpoint_signature */
enum
{
	Anum_checkpoint_signature_size = 1,
	Anum_checkpoint_signature_signer,
	Anum_checkpoint_signature_public_key,
	Anum_checkpoint_signature_signature,
	Anum_checkpoint_signature_added_at,
	Natts_checkpoint_signature = Anum_checkpoint_signature_added_at
};

ROWS_CHECK_COLUMNS(Natts_checkpoint_signature, CHECKPOINT_SIGNATURE);

bool
checkpoint_signature_is_valid(const CheckpointSignature *signature, const Checkpoint *checkpoint)
{
	StringInfo	note = checkpoint_note(checkpoint);

	return crypto_public_key_is_sound(signature->public_key) &&
		crypto_signature_fits(signature->signature, note->data, note->len, signature->public_key);
}

bool
checkpoint_signature_insert(const CheckpointSignature *signature)
{
	Datum		values[Natts_checkpoint_signature];
	bool		nulls[Natts_checkpoint_signature] = {0};
	RowScan		scan;

	guard_keep(guard_key(GUARD_SIGNATURE, signature->signer, SLICE_NONE, signature->size));
	rows_begin(&scan, TABLE_CHECKPOINT_SIGNATURE, INDEX_CHECKPOINT_SIGNATURE, ROWS_LATEST, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, signature->size);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, signature->signer);
	if (rows_look(&scan, NULL))
		return false;
	values[Anum_checkpoint_signature_size - 1] = Int64GetDatum(signature->size);
	column_put_text(values, nulls, Anum_checkpoint_signature_signer, signature->signer);
	values[Anum_checkpoint_signature_public_key - 1] =
		column_of_bytes(signature->public_key, CRYPTO_PUBLIC_KEY_BYTES);
	values[Anum_checkpoint_signature_signature - 1] =
		column_of_bytes(signature->signature, CRYPTO_SIGNATURE_BYTES);
	values[Anum_checkpoint_signature_added_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	(void) rows_insert(TABLE_CHECKPOINT_SIGNATURE, values, nulls);
	return true;
}

void
checkpoint_signature_visit_all(void (*visit) (const CheckpointSignature *signature, void *arg), void *arg)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_CHECKPOINT_SIGNATURE, INDEX_CHECKPOINT_SIGNATURE, ROWS_ACTIVE, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CheckpointSignature signature = {
			.size = rows_int8(&scan, Anum_checkpoint_signature_size),
			.signer = rows_text_copy(&scan, Anum_checkpoint_signature_signer),
		};

		/* a signature of zeros, see rows_bytes, is never valid */
		rows_bytes(&scan, Anum_checkpoint_signature_public_key, signature.public_key, CRYPTO_PUBLIC_KEY_BYTES);
		rows_bytes(&scan, Anum_checkpoint_signature_signature, signature.signature, CRYPTO_SIGNATURE_BYTES);
		visit(&signature, arg);
	}
	rows_end(&scan);
}
