/*-------------------------------------------------------------------------
 *
 * column.h
 *	  The columns of a row, as the two arrays a tuple is formed from.
 *
 * attno is 1-based, as in the catalog; values and nulls are as long as the
 * row.  What has no value is NULL in the table and absent, empty or 0 in C.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COLUMN_H
#define CLUTCH_COLUMN_H

#include "base/text.h"

/* the Slices point into the values (a list's into a detoasted copy) */
extern Slice column_text(const Datum *values, const bool *nulls, int attno);
extern SliceList column_texts(const Datum *values, const bool *nulls, int attno);
extern int64 column_int8(const Datum *values, const bool *nulls, int attno);

extern void column_put_text(Datum *values, bool *nulls, int attno, Slice value);
/* an empty list is NULL */
extern void column_put_texts(Datum *values, bool *nulls, int attno, SliceList value);
extern void column_put_int8(Datum *values, bool *nulls, int attno, int64 value);

/* text[]; elements that are NULL are left out.  Slices point into the array. */
extern SliceList column_texts_of(Datum array);
extern Datum column_of_texts(SliceList list);

#endif							/* CLUTCH_COLUMN_H */
