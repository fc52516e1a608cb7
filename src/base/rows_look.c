/*-------------------------------------------------------------------------
 *
 * rows_look.c
 *	  Scans of which a single call returns what is wanted.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/nbtree.h"
#include "access/table.h"
#include "access/transam.h"
#include "base/rows.h"
#include "base/rows_part.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/rel.h"

bool
rows_look(RowScan *scan, TransactionId *creator)
{
	bool		found;

	rows_start(scan);
	found = rows_next(scan);
	if (creator != NULL)
		*creator = found && scan->which == ROWS_DIRTY ? scan->dirty.xmin : InvalidTransactionId;
	rows_end(scan);
	return found;
}

/*
 * Compares the first column of an entry of a btree page with a text, in the
 * order of collation "C".
 */
static int
rows_compare_entry(Relation index, Page page, OffsetNumber number, Slice text)
{
	IndexTuple	entry = (IndexTuple) PageGetItem(page, PageGetItemId(page, number));
	bool		isnull;
	Datum		first = index_getattr(entry, 1, RelationGetDescr(index), &isnull);

	return slice_compare(slice_of_text(PG_DETOAST_DATUM_PACKED(first)), text);
}

/*
 * Does the text belong to this page, and is it not there?  It belongs there if
 * it stands between two entries, or between the last one and the high key.
 */
static bool
rows_leaf_lacks(Relation index, Page page, Slice text)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber first = P_FIRSTDATAKEY(opaque);
	OffsetNumber end = PageGetMaxOffsetNumber(page) + 1;
	OffsetNumber low = first;
	OffsetNumber high = end;

	if (!P_ISLEAF(opaque) || P_IGNORE(opaque))
		return false;
	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (rows_compare_entry(index, page, middle, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return false;
	if (low < end)
		return rows_compare_entry(index, page, low, text) != 0;
	return P_RIGHTMOST(opaque) || rows_compare_entry(index, page, P_HIKEY, text) > 0;
}

/*
 * Descends to the leaf of a text, as an insertion does.  Returns InvalidBuffer
 * if the index is empty.
 */
static Buffer
rows_descend(Relation rel, Relation index, Slice text)
{
	BTScanInsert key = _bt_mkscankey(index, NULL);
	Buffer		leaf;

	key->keysz = 1;
	key->scankeys[0].sk_flags &= ~SK_ISNULL;
	key->scankeys[0].sk_argument = PointerGetDatum(slice_to_text(text));
	_bt_freestack(bt_search_compat(index, rel, key, &leaf));
	return leaf;
}

/*
 * Looks at the leaf of the previous text first, which is usually the leaf of this
 * text as well.  Its block may contain another page by now, but what
 * rows_leaf_lacks finds is true of any page of the index.
 */
bool
rows_lacks_text(StateTable table, StateIndex index_id, LOCKMODE lock, Slice text)
{
	static struct
	{
		Oid			file;		/* the index had this file ... */
		BlockNumber block;		/* ... in which the leaf was this block */
	}			leaves[NUM_STATE_INDEXES];
	Relation	rel = rows_open(table, lock);
	Relation	index = rows_open_index(index_id, lock);
	bool		lacks = false;
	Buffer		leaf = InvalidBuffer;

	if (leaves[index_id].file == relation_file_compat(index) && rows_has_block(index, leaves[index_id].block))
	{
		leaf = _bt_getbuf(index, leaves[index_id].block, BT_READ);
		lacks = rows_leaf_lacks(index, BufferGetPage(leaf), text);
		if (!lacks)
			_bt_relbuf(index, leaf);
	}
	if (!lacks)
	{
		leaf = rows_descend(rel, index, text);
		lacks = !BufferIsValid(leaf) || rows_leaf_lacks(index, BufferGetPage(leaf), text);
	}
	if (BufferIsValid(leaf))
	{
		leaves[index_id].file = relation_file_compat(index);
		leaves[index_id].block = BufferGetBlockNumber(leaf);
		_bt_relbuf(index, leaf);
	}
	index_close(index, NoLock);
	table_close(rel, NoLock);
	return lacks;
}

TimestampTz
rows_look_timestamp(RowScan *scan, int attno)
{
	TimestampTz found;

	rows_start(scan);
	found = rows_next(scan) ? rows_timestamp(scan, attno) : DT_NOEND;
	rows_end(scan);
	return found;
}

int64
rows_look_anywhere(StateTable table, StateIndex index, int attno)
{
	int64		first = 0;
	int64		last = 0;
	RowScan		scan;

	rows_begin(&scan, table, index, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	if (rows_next(&scan))
		first = rows_int8(&scan, attno);
	rows_end(&scan);
	rows_begin(&scan, table, index, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	if (rows_previous(&scan))
		last = rows_int8(&scan, attno);
	rows_end(&scan);
	return last <= first ? 0 : (int64) pg_prng_uint64_range(&pg_global_prng_state, first, last);
}

List *
rows_list_texts(RowScan *scan, int attno)
{
	List	   *list = NIL;

	rows_start(scan);
	while (rows_next(scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!rows_is_null(scan, attno))
			list = slice_list_add(list, rows_text(scan, attno));
	}
	rows_end(scan);
	return list;
}

List *
rows_list_different_texts(StateTable table, StateIndex index, int attno)
{
	List	   *list = NIL;
	RowScan		scan;

	rows_begin(&scan, table, index, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTGreaterStrategyNumber, SLICE_OF(""));
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		list = slice_list_add(list, rows_text(&scan, attno));
		scan.nkeys = 0;
		rows_key_text(&scan, 1, BTGreaterStrategyNumber, *(Slice *) llast(list));
		rows_restart(&scan);
	}
	rows_end(&scan);
	return list;
}
