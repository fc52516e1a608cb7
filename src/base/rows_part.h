/*-------------------------------------------------------------------------
 *
 * rows_part.h
 *	  Private declarations of rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROWS_PART_H
#define CLUTCH_ROWS_PART_H

#include "base/rows.h"
#include "compat.h"

/* --- rows_catalog.c --- */

/* Returns the number of columns that clutch fills. */
extern int	rows_columns(StateTable table);

/* The table must be locked. */
extern bool rows_has_block(Relation rel, BlockNumber block);

/* The caller must close the index with NoLock. */
extern Relation rows_open_index(StateIndex index, LOCKMODE lock);
extern Relation rows_open_index_by_oid(Oid relid, LOCKMODE lock);

/* --- rows_index.c --- */

/*
 * Inserts the index entries of a row of the table, which must be open and
 * locked for writing.  values and nulls are those of the row.
 */
extern void rows_insert_entries(StateTable table, Relation rel, Datum *values, bool *nulls,
								ItemPointer tid, NewEntries which);

/*
 * Is the table known to have no pages, so that no scan can find a row?  Costs
 * almost nothing for a table that has some.
 */
extern bool rows_table_is_void(StateTable table, Relation rel);

/*
 * The same for a table that is not open; false means that it must be opened to
 * find out.  The table is void as of this moment.  Locking it would make no
 * difference, because a lock keeps nobody from inserting the first row.
 */
extern bool rows_table_stays_void(StateTable table);

#endif							/* CLUTCH_ROWS_PART_H */
