/*-------------------------------------------------------------------------
 *
 * column.h
 *	  The columns of a row, as the two arrays from which a tuple is formed.
 *
 * attno counts from 1, as in the catalog; values and nulls have an element for
 * each column.  NULL in the table is an absent Slice, an empty list or 0 in C.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COLUMN_H
#define CLUTCH_COLUMN_H

#include "base/text.h"

/*
 * The Slices point into the values, and those of a list into a detoasted copy.
 */
extern Slice column_text(const Datum *values, const bool *nulls, int attno);
extern SliceList column_texts(const Datum *values, const bool *nulls, int attno);
extern int64 column_int8(const Datum *values, const bool *nulls, int attno);

extern void column_put_text(Datum *values, bool *nulls, int attno, Slice value);
/* An empty list is stored as NULL. */
extern void column_put_texts(Datum *values, bool *nulls, int attno, SliceList value);
extern void column_put_int4(Datum *values, bool *nulls, int attno, int32 value);
extern void column_put_int8(Datum *values, bool *nulls, int attno, int64 value);

/*
 * The same as column_put_text, but the text is written to memory provided by
 * the caller, which must be aligned for an int and have at least
 * column_text_bytes(value) bytes.  Returns the end of these bytes, where the
 * next text may begin.
 */
extern Size column_text_bytes(Slice value);
extern char *column_put_text_at(Datum *values, bool *nulls, int attno, Slice value, char *at);

/* Returns a bytea. */
extern Datum column_of_bytes(const void *bytes, int n);

/*
 * Convert from and to text[].  NULL elements are left out, and the Slices
 * point into the array.
 */
extern SliceList column_texts_of(Datum array);
extern Datum column_of_texts(SliceList list);
/* The same for a List of Slice *. */
extern Datum column_of_list(const List *list);

#endif							/* CLUTCH_COLUMN_H */
