/*-------------------------------------------------------------------------
 *
 * task_place.h
 *	  A cache, in each backend, of where the rows of tasks are.
 *
 * A session has usually seen a task before, because workers report on the
 * tasks that they have claimed.  Going to the row directly costs less than
 * half of finding it through the index.  A place is only a hint: the row that
 * is there now counts only if the snapshot sees it and it is the row of the
 * task.  Otherwise the index is used.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_PLACE_H
#define CLUTCH_TASK_PLACE_H

#include "base/rows.h"

/*
 * Goes to the row of the task, if it is cached and the snapshot of the scan
 * sees it.  The scan must have begun on INDEX_TASK without keys; it ends after
 * this row.
 */
extern bool task_place_find(RowScan *scan, Slice task_id);

/* Notes where the row of a new task has been inserted. */
extern void task_place_note(Slice task_id, ItemPointerData place);

#endif							/* CLUTCH_TASK_PLACE_H */
