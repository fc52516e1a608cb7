/*-------------------------------------------------------------------------
 *
 * checkpoint.c
 *	  Checkpoints: the heads of the tree over the log, clutch.checkpoint.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/query.h"
#include "catalog/pg_type.h"
#include "ledger/checkpoint.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/xid8.h"

/* columns of clutch.checkpoint */
enum
{
	Anum_checkpoint_size = 1,
	Anum_checkpoint_root,
	Anum_checkpoint_members,
	Anum_checkpoint_epoch,
	Anum_checkpoint_xid,
	Anum_checkpoint_sealed_at,
	Anum_checkpoint_origin,
	Natts_checkpoint = Anum_checkpoint_origin
};

ROWS_CHECK_COLUMNS(Natts_checkpoint, CHECKPOINT);

/* ------------------------------------------------------------------ members */

/* Returns how many events the checkpoint has added. */
static int64
checkpoint_count(const Checkpoint *checkpoint)
{
	int64		n = 0;
	int			i;

	for (i = 0; i < checkpoint->nmembers; i++)
		n += checkpoint->members[i].to - checkpoint->members[i].from;
	return n;
}

/*
 * int8range is always stored as [from,to).  A bound may be infinite if
 * somebody has written it.
 */
static SeqRange
checkpoint_range(const RangeBound *lower, const RangeBound *upper)
{
	return (SeqRange) {
		lower->infinite ? 0 : DatumGetInt64(lower->val),
			upper->infinite ? 0 : DatumGetInt64(upper->val)
	};
}

static void
checkpoint_read_members(const RowScan *scan, Checkpoint *checkpoint)
{
	TypeCacheEntry *type = lookup_type_cache(INT8MULTIRANGEOID, TYPECACHE_MULTIRANGE_INFO);
	bool		isnull;
	MultirangeType *members = DatumGetMultirangeTypeP(rows_datum(scan, Anum_checkpoint_members, &isnull));
	int			i;

	checkpoint->nmembers = members->rangeCount;
	checkpoint->members = palloc(sizeof(SeqRange) * Max(members->rangeCount, 1));
	for (i = 0; i < checkpoint->nmembers; i++)
	{
		RangeBound	lower;
		RangeBound	upper;

		multirange_get_bounds(type->rngtype, members, i, &lower, &upper);
		checkpoint->members[i] = checkpoint_range(&lower, &upper);
	}
}

/* --------------------------------------------------------------------- rows */

static void
checkpoint_read(const RowScan *scan, Checkpoint *checkpoint)
{
	checkpoint->size = rows_int8(scan, Anum_checkpoint_size);
	/* a root of zeros, see rows_bytes, never matches */
	rows_bytes(scan, Anum_checkpoint_root, checkpoint->root.bytes, CRYPTO_HASH_BYTES);
	checkpoint_read_members(scan, checkpoint);
	checkpoint->epoch = rows_int4(scan, Anum_checkpoint_epoch);
	checkpoint->xid = rows_xid8(scan, Anum_checkpoint_xid);
	checkpoint->sealed_at = rows_timestamp(scan, Anum_checkpoint_sealed_at);
	checkpoint->origin = rows_text_copy(scan, Anum_checkpoint_origin);
}

static void
checkpoint_begin_scan(RowScan *scan, RowSnapshot which)
{
	rows_begin(scan, TABLE_CHECKPOINT, INDEX_CHECKPOINT, which, AccessShareLock);
}

Checkpoint
checkpoint_newest(RowSnapshot which)
{
	Checkpoint	checkpoint = {0};
	RowScan		scan;

	checkpoint_begin_scan(&scan, which);
	rows_start(&scan);
	if (rows_previous(&scan))
		checkpoint_read(&scan, &checkpoint);
	rows_end(&scan);
	return checkpoint;
}

bool
checkpoint_find(int64 size, RowSnapshot which, Checkpoint *checkpoint)
{
	bool		found;
	RowScan		scan;

	checkpoint_begin_scan(&scan, which);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, size);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
		checkpoint_read(&scan, checkpoint);
	rows_end(&scan);
	return found;
}

void
checkpoint_visit_all(void (*visit) (const Checkpoint *checkpoint, void *arg), void *arg)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch checkpoint",
											   ALLOCSET_DEFAULT_SIZES);
	RowScan		scan;

	checkpoint_begin_scan(&scan, ROWS_ACTIVE);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		MemoryContext old = MemoryContextSwitchTo(each);
		Checkpoint	checkpoint;

		checkpoint_read(&scan, &checkpoint);
		visit(&checkpoint, arg);
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
}

/* ------------------------------------------------------------------ writing */

static Datum
checkpoint_array_of(const int64 *seqs, int n)
{
	Datum	   *elements = palloc(sizeof(Datum) * n);
	int			i;

	for (i = 0; i < n; i++)
		elements[i] = Int64GetDatum(seqs[i]);
	return PointerGetDatum(construct_array(elements, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* This uses SQL, because the index on the members is not a btree. */
void
checkpoint_insert(const Checkpoint *checkpoint, const int64 *seqs, int n)
{
	static QueryPlan insert = {
		"INSERT INTO clutch.checkpoint (size, root, members, epoch, xid, sealed_at, origin) "
		"SELECT $1, $2, pg_catalog.range_agg(pg_catalog.int8range(s.seq, s.seq, '[]')), $4, $5, $6, $7 "
		"FROM pg_catalog.unnest($3) AS s(seq)",
		7, {INT8OID, BYTEAOID, INT8ARRAYOID, INT4OID, XID8OID, TIMESTAMPTZOID, TEXTOID}
	};
	Datum		arguments[] = {
		Int64GetDatum(checkpoint->size),
		column_of_bytes(checkpoint->root.bytes, CRYPTO_HASH_BYTES),
		checkpoint_array_of(seqs, n),
		Int32GetDatum(checkpoint->epoch),
		FullTransactionIdGetDatum(FullTransactionIdFromU64(checkpoint->xid)),
		TimestampTzGetDatum(checkpoint->sealed_at),
		PointerGetDatum(slice_to_text(checkpoint->origin)),
	};

	(void) query_execute(&insert, arguments);
}

/* ---------------------------------------------------------------- searching */

bool
checkpoint_locate(int64 seq, int64 *leaf_index)
{
	static QueryPlan find = {
		"SELECT c.size FROM clutch.checkpoint c WHERE c.members OPERATOR(pg_catalog.@>) $1 "
		"ORDER BY c.size LIMIT 1",
		1, {INT8OID}
	};
	Datum		argument = Int64GetDatum(seq);
	Checkpoint	checkpoint;
	int64		size = 0;
	int			i;

	if (!query_find_int8(&find, &argument, &size) || !checkpoint_find(size, ROWS_ACTIVE, &checkpoint))
		return false;
	*leaf_index = size - checkpoint_count(&checkpoint);
	for (i = 0; i < checkpoint.nmembers && checkpoint.members[i].to <= seq; i++)
		*leaf_index += checkpoint.members[i].to - checkpoint.members[i].from;
	/* it is in a range without end, which somebody has written */
	if (i == checkpoint.nmembers)
		return false;
	*leaf_index += seq - checkpoint.members[i].from;
	return true;
}

StringInfo
checkpoint_note(const Checkpoint *checkpoint)
{
	StringInfo	note = makeStringInfo();

	appendStringInfo(note, "%.*s\n" INT64_FORMAT "\n%s\n", checkpoint->origin.len, checkpoint->origin.s,
					 checkpoint->size, crypto_encode_base64(checkpoint->root.bytes, CRYPTO_HASH_BYTES));
	return note;
}
