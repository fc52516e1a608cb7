/*-------------------------------------------------------------------------
 *
 * rows_in_place.c
 *	  Changing numbers of a row in place, that is, not transactionally.
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

/*
 * The columns have fixed length and are not null, so the row keeps its length.
 */
static HeapTuple
rows_with_numbers(HeapTuple tuple, TupleDesc desc, const int *columns, const Datum *numbers, int n)
{
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc0(sizeof(bool) * desc->natts);
	bool	   *replaces = palloc0(sizeof(bool) * desc->natts);
	int			i;

	for (i = 0; i < n; i++)
	{
		values[columns[i] - 1] = numbers[i];
		replaces[columns[i] - 1] = true;
	}
	return heap_modify_tuple(tuple, desc, values, nulls, replaces);
}

/*
 * a row that is being changed in place; its page is locked between begin and
 * finish
 */
typedef struct RowInPlace
{
	Relation	rel;
	Relation	index;
	HeapTuple	tuple;			/* invalid if there is no such row */
	void	   *state;
} RowInPlace;

/*
 * This follows what PostgreSQL does with the horizons in pg_class and
 * pg_database.  The scan key has the collation "C", like the columns of our
 * keys.  Since there is no snapshot, the newest version of the row is found.
 */
static void
rows_begin_in_place(RowInPlace *row, StateTable table, StateIndex index, Slice key)
{
	ScanKeyData scan_key;

	rows_require_writable();
	row->rel = rows_open(table, RowExclusiveLock);
	row->index = rows_open_index(index, AccessShareLock);
	ScanKeyInit(&scan_key, 1, BTEqualStrategyNumber, F_TEXTEQ,
				PointerGetDatum(slice_to_text(key)));
	systable_inplace_update_begin(row->rel, RelationGetRelid(row->index), true, NULL, 1, &scan_key,
								  &row->tuple, &row->state);
}

static void
rows_finish_in_place(RowInPlace *row, const int *columns, const Datum *numbers, int n)
{
	if (HeapTupleIsValid(row->tuple))
		systable_inplace_update_finish(row->state, rows_with_numbers(row->tuple, RelationGetDescr(row->rel),
																	 columns, numbers, n));
	index_close(row->index, NoLock);
	table_close(row->rel, NoLock);
}

void
rows_set_in_place(StateTable table, StateIndex index, Slice key, const int *columns,
				  const int32 *numbers, int n)
{
	Datum	   *values = palloc(sizeof(Datum) * n);
	RowInPlace	row;
	int			i;

	for (i = 0; i < n; i++)
		values[i] = Int32GetDatum(numbers[i]);
	rows_begin_in_place(&row, table, index, key);
	rows_finish_in_place(&row, columns, values, n);
}

void
rows_count_in_place(StateTable table, StateIndex index, Slice key, int column)
{
	RowInPlace	row;
	Datum		number = (Datum) 0;
	bool		isnull;

	rows_begin_in_place(&row, table, index, key);
	if (HeapTupleIsValid(row.tuple))
		number = Int64GetDatum(DatumGetInt64(heap_getattr(row.tuple, column, RelationGetDescr(row.rel), &isnull)) + 1);
	rows_finish_in_place(&row, &column, &number, 1);
}
