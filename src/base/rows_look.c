/*-------------------------------------------------------------------------
 *
 * rows_look.c
 *	  Scans of which a single call returns what is wanted.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/nbtree.h"
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

/* Compares the first column of an entry of a btree page with a text, in the order of collation "C". */
static int
rows_compare_entry(Relation index, Page page, OffsetNumber number, Slice text)
{
	IndexTuple	entry = (IndexTuple) PageGetItem(page, PageGetItemId(page, number));
	bool		isnull;
	Datum		first = index_getattr(entry, 1, RelationGetDescr(index), &isnull);

	return slice_compare(slice_of_text(PG_DETOAST_DATUM_PACKED(first)), text);
}

/* An entry before it shows that the text belongs to this page. */
static bool
rows_last_page_lacks(Relation index, Page page, Slice text)
{
	OffsetNumber first = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber low = first;
	OffsetNumber high = PageGetMaxOffsetNumber(page) + 1;
	OffsetNumber end = high;

	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (rows_compare_entry(index, page, middle, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first && (low == end || rows_compare_entry(index, page, low, text) != 0);
}

bool
rows_end_lacks(StateIndex index_id, LOCKMODE lock, Slice text)
{
	Relation	index = rows_open_index(index_id, lock);
	Buffer		last = bt_last_page_compat(index);
	bool		lacks = true;

	if (BufferIsValid(last))
	{
		lacks = rows_last_page_lacks(index, BufferGetPage(last), text);
		UnlockReleaseBuffer(last);
	}
	index_close(index, NoLock);
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
