/*-------------------------------------------------------------------------
 *
 * rows_in_place.c
 *	  Changing numbers of a row in place, outside of the transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "base/rows.h"
#include "base/rows_part.h"
#include "compat.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* The columns are of fixed length and not null, so the row stays as long as it is. */
static HeapTuple
rows_with_numbers(HeapTuple tuple, TupleDesc desc, const int *columns, const int32 *numbers, int n)
{
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc0(sizeof(bool) * desc->natts);
	bool	   *replaces = palloc0(sizeof(bool) * desc->natts);
	int			i;

	for (i = 0; i < n; i++)
	{
		values[columns[i] - 1] = Int32GetDatum(numbers[i]);
		replaces[columns[i] - 1] = true;
	}
	return heap_modify_tuple(tuple, desc, values, nulls, replaces);
}

/*
 * What PostgreSQL does with the horizons of pg_class and pg_database.  The scan
 * key has the collation "C", as the columns of our keys have.  Without a snapshot, the
 * newest version of the row is found.
 */
void
rows_set_in_place(StateTable table, StateIndex index, Slice key, const int *columns,
			   const int32 *numbers, int n)
{
	Relation	rel = rows_open(table, RowExclusiveLock);
	Relation	index_rel = rows_open_index(index, AccessShareLock);
	HeapTuple	tuple;
	void	   *state;
	ScanKeyData scan_key;

	rows_require_writable();
	ScanKeyInit(&scan_key, 1, BTEqualStrategyNumber, F_TEXTEQ,
				PointerGetDatum(slice_to_text(key)));
	systable_inplace_update_begin(rel, RelationGetRelid(index_rel), true, NULL, 1, &scan_key,
								  &tuple, &state);
	if (HeapTupleIsValid(tuple))
		systable_inplace_update_finish(state, rows_with_numbers(tuple, RelationGetDescr(rel),
															   columns, numbers, n));
	index_close(index_rel, NoLock);
	table_close(rel, NoLock);
}
