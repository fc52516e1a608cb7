/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  Hashes of the tree over the log, clutch.tree_hash.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "fmgr.h"
#include "ledger/tree.h"

/* columns of clutch.tree_hash */
enum
{
	Anum_tree_hash_height = 1,
	Anum_tree_hash_first_index,
	Anum_tree_hash_hashes,
	Natts_tree_hash = Anum_tree_hash_hashes
};

ROWS_CHECK_COLUMNS(Natts_tree_hash, TREE_HASH);

#define TREE_LEVELS		(63 / TREE_STEP + 1)

/* the last tile of one height, which is not complete */
typedef struct TreeLevel
{
	int64		n;				/* total number of hashes of this height */
	int			written;		/* how many hashes of the tile are in the table */
	MerkleHash	tile[TREE_TILE];
} TreeLevel;

struct TreeWriter
{
	TreeLevel	levels[TREE_LEVELS];
};

/* ------------------------------------------------------------------ reading */

static int64
tree_tile_begin(int64 index)
{
	return index - index % TREE_TILE;
}

/* Copies those of the wanted hashes that a row has.  Returns how many. */
static int
tree_copy(const RowScan *scan, int64 index, int n, MerkleHash *hashes)
{
	bool		isnull;
	bytea	   *row = DatumGetByteaPP(rows_datum(scan, Anum_tree_hash_hashes, &isnull));
	int64		first = rows_int8(scan, Anum_tree_hash_first_index);
	int64		from = Max(first, index);
	int64		to = Min(first + (int64) (VARSIZE_ANY_EXHDR(row) / CRYPTO_HASH_BYTES), index + n);

	if (from >= to)
		return 0;
	memcpy(&hashes[from - index], VARDATA_ANY(row) + (from - first) * CRYPTO_HASH_BYTES,
		   (to - from) * CRYPTO_HASH_BYTES);
	return (int) (to - from);
}

bool
tree_read(RowSnapshot which, int height, int64 index, int n, MerkleHash *hashes)
{
	int			copied = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_TREE_HASH, INDEX_TREE_HASH, which, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, height);
	rows_key_int8(&scan, 2, BTGreaterEqualStrategyNumber, tree_tile_begin(index));
	rows_key_int8(&scan, 2, BTLessStrategyNumber, index + n);
	rows_start(&scan);
	while (rows_next(&scan))
		copied += tree_copy(&scan, index, n, hashes);
	rows_end(&scan);
	return copied == n;
}

MerkleHash
tree_subtree(int height, int64 index)
{
	int			kept = height - height % TREE_STEP;
	int			n = 1 << (height - kept);
	MerkleHash	hashes[TREE_TILE];
	int			i;

	if (!tree_read(ROWS_LATEST, kept, index * n, n, hashes))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("clutch.tree_hash has no hash of the subtree of height %d at " INT64_FORMAT,
						kept, index * n),
				 errhint("Somebody has written to the table. SELECT * FROM clutch.verify_log() reports what is wrong; restore a backup.")));
	for (; n > 1; n /= 2)
		for (i = 0; i < n / 2; i++)
			hashes[i] = merkle_parent(&hashes[2 * i], &hashes[2 * i + 1]);
	return hashes[0];
}

/* ------------------------------------------------------------------ writing */

TreeWriter *
tree_begin(int64 size)
{
	TreeWriter *writer = palloc(sizeof(TreeWriter));
	int			i;

	for (i = 0; i < TREE_LEVELS; i++)
	{
		TreeLevel  *level = &writer->levels[i];

		level->n = size >> (i * TREE_STEP);
		level->written = (int) (level->n % TREE_TILE);
		if (level->written > 0 &&
			!tree_read(ROWS_LATEST, i * TREE_STEP, level->n - level->written, level->written, level->tile))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("clutch.tree_hash lacks hashes of the tree of size " INT64_FORMAT, size),
					 errhint("Somebody has written to the table. SELECT * FROM clutch.verify_log() reports what is wrong; restore a backup.")));
	}
	return writer;
}

static void
tree_write(int height, int64 index, const MerkleHash *hashes, int n)
{
	Datum		values[Natts_tree_hash];
	bool		nulls[Natts_tree_hash] = {0};
	bytea	   *row = palloc(VARHDRSZ + n * CRYPTO_HASH_BYTES);

	SET_VARSIZE(row, VARHDRSZ + n * CRYPTO_HASH_BYTES);
	memcpy(VARDATA(row), hashes, n * CRYPTO_HASH_BYTES);
	values[Anum_tree_hash_height - 1] = Int32GetDatum(height);
	values[Anum_tree_hash_first_index - 1] = Int64GetDatum(index);
	values[Anum_tree_hash_hashes - 1] = PointerGetDatum(row);
	(void) rows_insert(TABLE_TREE_HASH, values, nulls);
	pfree(row);
}

/* Writes the hashes of the tile that are not in the table yet. */
static void
tree_flush(TreeLevel *level, int number)
{
	int			have = (int) ((level->n - 1) % TREE_TILE) + 1;

	if (level->n == 0 || have == level->written)
		return;
	tree_write(number * TREE_STEP, level->n - have + level->written, &level->tile[level->written],
			   have - level->written);
	level->written = have;
}

static MerkleHash
tree_hash_tile(const TreeLevel *level)
{
	MerkleStack stack = {0};
	int			i;

	for (i = 0; i < TREE_TILE; i++)
		merkle_stack_add(&stack, &level->tile[i], NULL, NULL);
	return merkle_stack_root(&stack);
}

/* The hash of a complete tile is a hash of the next height. */
void
tree_add(TreeWriter *writer, const MerkleHash *leaf)
{
	MerkleHash	hash = *leaf;
	int			i;

	for (i = 0; i < TREE_LEVELS; i++)
	{
		TreeLevel  *level = &writer->levels[i];

		level->tile[level->n++ % TREE_TILE] = hash;
		if (level->n % TREE_TILE != 0)
			break;
		tree_flush(level, i);
		hash = tree_hash_tile(level);
		level->written = 0;
	}
}

void
tree_end(TreeWriter *writer)
{
	int			i;

	for (i = 0; i < TREE_LEVELS; i++)
		if (writer->levels[i].n % TREE_TILE != 0)
			tree_flush(&writer->levels[i], i);
	pfree(writer);
}
