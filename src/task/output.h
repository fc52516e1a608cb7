/*-------------------------------------------------------------------------
 *
 * output.h
 *	  Outputs of the named steps of a task: rows of clutch.step.
 *
 * A row says which event of the log stored the output of a step; the output
 * itself is in that event.  The row stays when the task is over, because the
 * task may be retried.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTPUT_H
#define CLUTCH_OUTPUT_H

#include "base/rows.h"
#include "utils/jsonb.h"

/* Returns the seq of the event that stored the step, or 0. */
extern int64 output_find(Slice task_id, Slice name);

/*
 * Inserts a row.  The step must not have one yet, and the task must be locked.
 */
extern void output_insert(Slice task_id, Slice name, int64 seq);

/* Returns the seqs of the events that stored the steps of a task, in order. */
extern int64 *output_list(Slice task_id, int *n);

/* Deletes the rows of a task that is being pruned. */
extern void output_forget(Slice task_id);

/* Are the outputs equal, as jsonb compares them? */
extern bool output_equal(Jsonb *a, Jsonb *b);

/*
 * Returns the output that such an event stored, palloc'd, or a jsonb null if
 * there is no such event.
 */
extern Jsonb *output_read(Jsonb *event);

#endif							/* CLUTCH_OUTPUT_H */
