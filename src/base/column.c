/*-------------------------------------------------------------------------
 *
 * column.c
 *	  The columns of a row, as the two arrays from which a tuple is formed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

Slice
column_text(const Datum *values, const bool *nulls, int attno)
{
	if (nulls[attno - 1])
		return SLICE_NONE;
	return slice_of_text(PG_DETOAST_DATUM_PACKED(values[attno - 1]));
}

SliceList
column_texts(const Datum *values, const bool *nulls, int attno)
{
	if (nulls[attno - 1])
		return (SliceList) {0, NULL};
	return column_texts_of(values[attno - 1]);
}

int64
column_int8(const Datum *values, const bool *nulls, int attno)
{
	return nulls[attno - 1] ? 0 : DatumGetInt64(values[attno - 1]);
}

void
column_put_text(Datum *values, bool *nulls, int attno, Slice value)
{
	nulls[attno - 1] = !slice_present(value);
	if (slice_present(value))
		values[attno - 1] = PointerGetDatum(slice_to_text(value));
}

Size
column_text_bytes(Slice value)
{
	return slice_present(value) ? INTALIGN(VARHDRSZ + value.len) : 0;
}

char *
column_put_text_at(Datum *values, bool *nulls, int attno, Slice value, char *at)
{
	nulls[attno - 1] = !slice_present(value);
	if (slice_present(value))
	{
		SET_VARSIZE(at, VARHDRSZ + value.len);
		memcpy(VARDATA(at), value.s, value.len);
		values[attno - 1] = PointerGetDatum(at);
	}
	return at + column_text_bytes(value);
}

void
column_put_texts(Datum *values, bool *nulls, int attno, SliceList value)
{
	nulls[attno - 1] = value.n == 0;
	if (value.n > 0)
		values[attno - 1] = column_of_texts(value);
}

void
column_put_int4(Datum *values, bool *nulls, int attno, int32 value)
{
	nulls[attno - 1] = value == 0;
	values[attno - 1] = Int32GetDatum(value);
}

void
column_put_int8(Datum *values, bool *nulls, int attno, int64 value)
{
	nulls[attno - 1] = value == 0;
	values[attno - 1] = Int64GetDatum(value);
}

Datum
column_of_bytes(const void *bytes, int n)
{
	return PointerGetDatum(slice_to_text((Slice) {bytes, n}));
}

SliceList
column_texts_of(Datum array)
{
	SliceList	list = {0, NULL};
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int			i;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &n);
	list.items = palloc(sizeof(Slice) * n);
	for (i = 0; i < n; i++)
	{
		if (!nulls[i])
			list.items[list.n++] = slice_of_text(PG_DETOAST_DATUM_PACKED(elements[i]));
	}
	return list;
}

Datum
column_of_texts(SliceList list)
{
	Datum	   *elements = palloc(sizeof(Datum) * list.n);
	int			i;

	for (i = 0; i < list.n; i++)
		elements[i] = PointerGetDatum(slice_to_text(list.items[i]));
	return PointerGetDatum(construct_array(elements, list.n, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

Datum
column_of_list(const List *list)
{
	SliceList	texts = {0, palloc(sizeof(Slice) * list_length(list))};
	ListCell   *cell;

	foreach(cell, list)
		texts.items[texts.n++] = *(Slice *) lfirst(cell);
	return column_of_texts(texts);
}
