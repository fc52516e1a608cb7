/*-------------------------------------------------------------------------
 *
 * task_place.h
 *	  Where the rows of tasks are, as this backend remembers it.
 *
 * A session usually has seen a task before: a worker reports on the tasks that it has
 * claimed.  To go to the row costs less than half of finding it by its index.  A place
 * is only a hint.  Whatever row is there now, it counts only if the snapshot sees it
 * and it is the row of the task; otherwise the index is asked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_PLACE_H
#define CLUTCH_TASK_PLACE_H

#include "base/rows.h"

/*
 * Goes to the row of the task, if the snapshot of the scan sees one.  The scan has
 * begun on INDEX_TASK, without keys, and ends after this row.
 */
extern bool task_place_find(RowScan *scan, Slice task_id);

/* The row of a new task has been inserted there. */
extern void task_place_note(Slice task_id, ItemPointerData place);

#endif							/* CLUTCH_TASK_PLACE_H */
