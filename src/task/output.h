/*-------------------------------------------------------------------------
 *
 * output.h
 *	  The outputs of the named steps of a task: rows of clutch.step.
 *
 * A row says which event of the log kept the output of a step; the output itself
 * is in that event.  It stays when the task is over, since the task may be
 * revived.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTPUT_H
#define CLUTCH_OUTPUT_H

#include "base/rows.h"
#include "utils/jsonb.h"

/* seq of the event that kept the step, or 0 */
extern int64 output_find(Slice task_id, Slice name);

/* the step must not be kept yet, and the task must be locked */
extern void output_insert(Slice task_id, Slice name, int64 seq);

/* seqs of the events that kept the steps of a task, in their order */
extern int64 *output_list(Slice task_id, RowSnapshot which, int *n);

/* deletes the rows of a task that is being pruned */
extern void output_forget(Slice task_id);

/* the same output, as jsonb compares it */
extern bool output_equal(Jsonb *a, Jsonb *b);

/*
 * Returns what such an event kept; palloc'd, null if there is no such event.
 */
extern Jsonb *output_read(Jsonb *event);

#endif							/* CLUTCH_OUTPUT_H */
