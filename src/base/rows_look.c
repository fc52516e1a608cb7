/*-------------------------------------------------------------------------
 *
 * rows_look.c
 *	  Scans of which a single call returns what is wanted.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/rows.h"
#include "common/pg_prng.h"
#include "miscadmin.h"

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
