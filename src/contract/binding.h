/*-------------------------------------------------------------------------
 *
 * binding.h
 *	  Bindings: which workflow a run is bound to, and which step of it each of
 *	  its tasks does: clutch.run_workflow and clutch.workflow_task.
 *
 * The first request of a run binds it permanently to one version of a
 * workflow.  From then on, every task of the run has a row, though its step
 * may still be unknown.
 *
 * The tasks of a run are rebuilt from the log.  The version is not in the log,
 * so a rebuild keeps the row of run_workflow if there is one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BINDING_H
#define CLUTCH_BINDING_H

#include "base/rows.h"
#include "base/text.h"

typedef struct RunBinding
{
	Slice		workflow;
	int			version;
} RunBinding;

typedef struct TaskBinding
{
	ItemPointerData tid;
	Slice		task_id;
	Slice		run_id;
	Slice		step;			/* absent if not known */
	int64		met_seq;		/* of the event that completed the step, or 0
								 * if none */
	int			attempt;		/* the attempt in which the faults were made */
	int			faults;
} TaskBinding;

/* Returns false if the run is not bound.  The binding is palloc'd. */
extern bool binding_of_run(Slice run_id, RunBinding *binding);

/*
 * The same for a request whose task will belong to the workflow.  Waits for
 * another transaction that has bound the run and may be rolled back.
 */
extern bool binding_await_run(Slice run_id, RunBinding *binding);

/*
 * Returns the runs that are bound to the version, including those bound by
 * open transactions, as a List of Slice *.  Reads the bindings of all runs.
 */
extern List *binding_list_runs(Slice workflow, int version);

/* Binds the run.  Returns false if another transaction has just done so. */
extern bool binding_set(Slice run_id, const RunBinding *binding);

/* Returns false if the task has no row.  The binding is palloc'd. */
extern bool binding_of_task(Slice task_id, TaskBinding *task);
extern void binding_add_task(Slice task_id, Slice run_id, Slice step);
extern void binding_save_task(TaskBinding *task);

/*
 * Has a task of the run completed the step?  In a run that does its steps for
 * each of many things, many tasks do the same step, so this is one look at the
 * index.
 */
extern bool binding_step_is_met(Slice run_id, Slice step);

/* Returns the IDs of the tasks of a run that do the step, as a List of Slice *. */
extern List *binding_list_step(Slice run_id, Slice step);

/*
 * Counts a fault of an attempt, and returns how many that attempt has made.
 * The row is changed in place, so that the count is kept even though a refusal
 * makes this transaction roll back.  The caller must have locked the task, so
 * nobody else is counting.
 */
extern int	binding_count_fault(TaskBinding *task, int attempt);

/* Forget the run, or the task, which is being pruned. */
extern void binding_forget_run(Slice run_id);
extern void binding_forget_task(Slice task_id);

#endif							/* CLUTCH_BINDING_H */
