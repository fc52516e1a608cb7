/*-------------------------------------------------------------------------
 *
 * rows_part.h
 *	  What the files rows*.c share with one another, and with no other file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROWS_PART_H
#define CLUTCH_ROWS_PART_H

#include "base/rows.h"
#include "compat.h"

/* --- rows_catalog.c --- */

/* number of columns that clutch fills */
extern int	rows_columns(StateTable table);

/* The table is locked. */
extern bool rows_has_block(Relation rel, BlockNumber block);

/* The caller closes the index with NoLock. */
extern Relation rows_open_index(StateIndex index, LOCKMODE lock);
extern Relation rows_open_index_by_oid(Oid relid, LOCKMODE lock);

/* --- rows_index.c --- */

/*
 * Inserts the index entries of a row of the table, which is open and locked
 * for writing.  values and nulls are those of the row.
 */
extern void rows_insert_entries(StateTable table, Relation rel, Datum *values, bool *nulls,
								ItemPointer tid, NewEntries which);

/*
 * Is the table known to have no pages, so that no scan can find a row?  Costs
 * next to nothing for a table that has some.
 */
extern bool rows_table_is_void(StateTable table, Relation rel);

/*
 * The same for a table that is not open.  false: open it and ask.  It is void as
 * of this moment; that a lock would keep it as it is means nothing, because a lock
 * keeps nobody from inserting the first row.
 */
extern bool rows_table_stays_void(StateTable table);

#endif							/* CLUTCH_ROWS_PART_H */
