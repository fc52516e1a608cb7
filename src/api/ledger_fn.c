/*-------------------------------------------------------------------------
 *
 * ledger_fn.c
 *	  Sealing the log, proofs, and their verification.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "api/visible.h"
#include "base/column.h"
#include "base/document.h"
#include "base/owner.h"
#include "base/rows.h"
#include "catalog/pg_type.h"
#include "flow/restored.h"
#include "funcapi.h"
#include "ledger/checkpoint.h"
#include "ledger/leaf.h"
#include "ledger/seal.h"
#include "ledger/tree.h"
#include "ledger/verification.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "settings.h"
#include "store/event.h"
#include "trust/principal.h"
#include "utils/array.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_seal);
PG_FUNCTION_INFO_V1(clutch_prove);
PG_FUNCTION_INFO_V1(clutch_consistency);
PG_FUNCTION_INFO_V1(clutch_verify_log);
PG_FUNCTION_INFO_V1(clutch_add_checkpoint_signature);

/* -------------------------------------------------------------------- seal */

#define SEAL_MOST	100000000

Datum
clutch_seal(PG_FUNCTION_ARGS)
{
	int64		most = argument_int8(fcinfo, 0, "max_events");
	int64		sealed = 0;
	OwnerCaller caller;

	if (most < 1 || most > SEAL_MOST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("max_events", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"max_events\" must be between 1 and %d, not " INT64_FORMAT, SEAL_MOST, most)));
	principal_require_operator("seal the log");
	(void) restored_epoch();
	/*
	 * the tables belong to the owner of the extension, whichever operator
	 * calls
	 */
	caller = owner_begin();
	while (sealed < most)
	{
		int64		n = seal_batch((int) Min(SEAL_STEP, most - sealed));

		if (n == 0)
			break;
		sealed += n;
	}
	owner_end(caller);
	PG_RETURN_INT64(sealed);
}

/* ------------------------------------------------------------------- values */

static Datum
hash_datum(const MerkleHash *hash)
{
	return column_of_bytes(hash->bytes, CRYPTO_HASH_BYTES);
}

static Datum
path_datum(const MerklePath *path)
{
	Datum		elements[MERKLE_LONGEST_PATH];
	int			i;

	for (i = 0; i < path->n; i++)
		elements[i] = hash_datum(&path->hashes[i]);
	return PointerGetDatum(construct_array(elements, path->n, BYTEAOID, -1, false, TYPALIGN_INT));
}

static Datum
row_datum(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	return HeapTupleGetDatum(heap_form_tuple(result_row_type(fcinfo), values, nulls));
}

/* -------------------------------------------------------------------- prove */

/*
 * Raises the same error whether the event does not exist or the role may not
 * read it.
 */
static void
refuse_unknown_event(int64 seq)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errproblem("seq", "EVENT_NOT_FOUND"),
			 errmsg("event " INT64_FORMAT " does not exist", seq),
			 errhint("Pass the seq of a row of clutch.events.")));
}

static void
refuse_unsealed_event(int64 seq)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errproblem("seq", "NOT_SEALED"),
			 errmsg("event " INT64_FORMAT " has not been sealed yet", seq),
			 clutch_seal_interval > 0 ?
			 errhint("It is sealed within %d s after all transactions that were running when it was committed are over, if the worker runs or something calls clutch.tick(); an operator can run SELECT clutch.seal().",
					 clutch_seal_interval) :
			 errhint("An operator runs SELECT clutch.seal() when all transactions that were running when it was committed are over; nothing else seals, because clutch.seal_interval is 0.")));
}

/*
 * Puts the leaf of an event.  Of an event that was pruned or redacted, only
 * the hash is known.
 */
static bool
put_leaf(int64 seq, const MerkleHash *hash, Datum *leaf)
{
	Jsonb	   *envelope;
	TimestampTz received_at;
	StringInfoData bytes;
	MerkleHash	is;

	envelope = event_read_received(seq, ROWS_ACTIVE, &received_at, NULL);
	if (envelope == NULL)
		return false;
	initStringInfo(&bytes);
	leaf_write(&bytes, seq, received_at, envelope);
	is = merkle_leaf(bytes.data, bytes.len);
	*leaf = column_of_bytes(bytes.data, bytes.len);
	return merkle_equal(&is, hash);
}

/*
 * Finds an event in the tree, as the owner, because the role of an agent may
 * not read the checkpoints themselves.
 */
static bool
locate_as_owner(int64 seq, int64 *index)
{
	OwnerCaller caller = owner_begin();
	bool		found = checkpoint_locate(seq, index);

	owner_end(caller);
	return found;
}

Datum
clutch_prove(PG_FUNCTION_ARGS)
{
	int64		seq = argument_int8(fcinfo, 0, "seq");
	bool		readable = visible_event(seq);
	Checkpoint	newest = checkpoint_newest(ROWS_ACTIVE);
	Datum		values[6];
	bool		nulls[6] = {0};
	MerklePath	path;
	MerkleHash	leaf;
	int64		index;

	if (!readable)
		refuse_unknown_event(seq);
	if (!locate_as_owner(seq, &index))
	{
		if (event_read(seq, ROWS_ACTIVE) == NULL)
			refuse_unknown_event(seq);
		refuse_unsealed_event(seq);
	}
	merkle_inclusion(index, newest.size, tree_subtree, &path);
	leaf = tree_subtree(0, index);
	values[0] = Int64GetDatum(index);
	values[1] = Int64GetDatum(newest.size);
	values[2] = hash_datum(&newest.root);
	values[3] = hash_datum(&leaf);
	values[4] = path_datum(&path);
	nulls[5] = !put_leaf(seq, &leaf, &values[5]);
	PG_RETURN_DATUM(row_datum(fcinfo, values, nulls));
}

/* -------------------------------------------------------------- consistency */

Datum
clutch_consistency(PG_FUNCTION_ARGS)
{
	int64		first = argument_int8(fcinfo, 0, "first_size");
	int64		second = argument_int8(fcinfo, 1, "second_size");
	int64		size = checkpoint_newest(ROWS_ACTIVE).size;
	Datum		values[3];
	bool		nulls[3] = {0};
	MerklePath	path;
	MerkleHash	first_root;
	MerkleHash	second_root;

	if (first < 1 || first > second)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("first_size", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"first_size\" must be between 1 and the second size, not " INT64_FORMAT, first)));
	if (second > size)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("second_size", "NUMBER_OUT_OF_RANGE"),
				 errmsg("the tree over the log has only " INT64_FORMAT " leaves, not " INT64_FORMAT, size, second),
				 errhint("If a checkpoint of that size was exported, the log has been truncated since, or this is an older copy of the database.")));
	merkle_consistency(first, second, tree_subtree, &path);
	first_root = merkle_root(first, tree_subtree);
	second_root = merkle_root(second, tree_subtree);
	values[0] = hash_datum(&first_root);
	values[1] = hash_datum(&second_root);
	values[2] = path_datum(&path);
	PG_RETURN_DATUM(row_datum(fcinfo, values, nulls));
}

/* --------------------------------------------------------------- verify_log */

static void
put_finding(const char *code, const char *detail, const char *hint, void *arg)
{
	Datum		values[3];
	bool		nulls[3] = {0};

	values[0] = CStringGetTextDatum(code);
	values[1] = CStringGetTextDatum(detail);
	values[2] = CStringGetTextDatum(hint);
	result_put_row((FunctionCallInfo) arg, values, nulls);
}

Datum
clutch_verify_log(PG_FUNCTION_ARGS)
{
	result_begin_rows(fcinfo);
	verification_run(put_finding, fcinfo);
	return (Datum) 0;
}

/* --------------------------------------------------------------- signatures */

/* Copies a bytea argument of a fixed length. */
static void
argument_copy_bytes(FunctionCallInfo fcinfo, int n, const char *name, uint8 *bytes, int length)
{
	bytea	   *value = argument_is_null(fcinfo, n) ? NULL : PG_GETARG_BYTEA_PP(n);

	if (value == NULL || VARSIZE_ANY_EXHDR(value) != length)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(name, "WRONG_VALUE"),
				 errmsg("argument \"%s\" must have %d bytes", name, length),
				 errhint("Keys and signatures of Ed25519 are passed as bytes, without a header.")));
	memcpy(bytes, VARDATA_ANY(value), length);
}

/*
 * Returns the name of a signer.  One that could not be parsed in the line of a
 * note is refused.
 */
static Slice
argument_signer(FunctionCallInfo fcinfo, int n)
{
	Slice		signer = argument_text(fcinfo, n, "signer");
	int			i;

	for (i = 0; i < signer.len && signer.len <= MAX_ID_BYTES; i++)
		if ((unsigned char) signer.s[i] <= ' ' || signer.s[i] == '+' || signer.s[i] == 0x7f)
			break;
	if (signer.len == 0 || i < signer.len)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("signer", "WRONG_VALUE"),
				 errmsg("argument \"signer\" must be a name without spaces and plus signs"),
				 errhint("It is the name of the key, such as \"example.com/auditor\".")));
	return signer;
}

Datum
clutch_add_checkpoint_signature(PG_FUNCTION_ARGS)
{
	CheckpointSignature signature = {
		.size = argument_int8(fcinfo, 0, "size"),
		.signer = argument_signer(fcinfo, 1),
	};
	Checkpoint	checkpoint;

	argument_copy_bytes(fcinfo, 2, "public_key", signature.public_key, CRYPTO_PUBLIC_KEY_BYTES);
	argument_copy_bytes(fcinfo, 3, "signature", signature.signature, CRYPTO_SIGNATURE_BYTES);
	if (!checkpoint_find(signature.size, ROWS_LATEST, &checkpoint))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errproblem("size", "CHECKPOINT_NOT_FOUND"),
				 errmsg("there is no checkpoint of size " INT64_FORMAT, signature.size),
				 errhint("Pass the size of a row of clutch.checkpoints.")));
	if (!checkpoint_signature_is_valid(&signature, &checkpoint))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_SIGNATURE_REFUSED),
				 errproblem("signature", "SIGNATURE_INVALID"),
				 errmsg("this is not a signature of \"%.*s\" on the checkpoint of size " INT64_FORMAT,
						signature.signer.len, signature.signer.s, signature.size),
				 errhint("Sign the first three lines of the note, each with its line break.")));
	PG_RETURN_BOOL(checkpoint_signature_insert(&signature));
}
