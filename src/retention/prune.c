/*-------------------------------------------------------------------------
 *
 * prune.c
 *	  Removing the old part of the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/order.h"
#include "base/savepoint.h"
#include "base/wait.h"
#include "common/pg_prng.h"
#include "contract/binding.h"
#include "flow/budget.h"
#include "ledger/excuse.h"
#include "miscadmin.h"
#include "registry/breaker.h"
#include "retention/candidates.h"
#include "retention/prune.h"
#include "settings.h"
#include "store/artifact.h"
#include "store/audit.h"
#include "store/erasure.h"
#include "store/participant.h"
#include "store/scope.h"
#include "store/visibility.h"
#include "store/spending.h"
#include "task/edge.h"
#include "task/output.h"
#include "task/task.h"
#include "utils/timestamp.h"

/* maximum number of runs that are named in an audit event */
#define MOST_NAMED		1000

/*
 * After so many runs or messages for which a delete has waited in vain, a
 * search ends, because perhaps the whole table is locked that refers to them.
 * Events that are locked themselves cost no time.
 */
#define MOST_WAITS		10

/* ------------------------------------------------------------------- state */

/* The run stays then, like one that is locked. */
pg_noreturn static void
prune_refuse_run(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("another transaction has written into a run that was to be removed")));
}

/*
 * Adds what the run has cost to the totals.  Whoever has requested another task
 * since the tasks were locked may report on it what is not to be removed, and
 * combine that with what is.
 */
static void
prune_spending(Slice run_id)
{
	bool		has_tasks;

	if (!spending_fold(run_id))
		prune_refuse_run();
	(void) task_run_is_over(run_id, &has_tasks);
	if (has_tasks)
		prune_refuse_run();
}

static void
prune_state(const CandidateUnit *unit)
{
	ListCell   *cell;

	foreach(cell, unit->tasks)
	{
		Task	   *task = lfirst(cell);

		CHECK_FOR_INTERRUPTS();
		edge_forget(task->task_id);
		output_forget(task->task_id);
		binding_forget_task(task->task_id);
		task_forget(task);
	}
	if (!slice_present(unit->run_id))
		return;
	prune_spending(unit->run_id);
	budget_forget(unit->run_id);
	binding_forget_run(unit->run_id);
	scope_forget(unit->run_id);
	visibility_forget(unit->run_id);
}

/* ------------------------------------------------------------------- units */

typedef struct Pruning
{
	const Candidates *found;
	List	   *units;			/* units to be removed together */
	List	   *removed;		/* units that have been removed */
	int64	   *seqs;			/* their events, */
	int			n;				/* and how many there are; in ascending order
								 * when all are removed */
	int			referenced;
	int			locked;
	int			waited;			/* how many of the locked ones took time */
	bool		one_by_one;
} Pruning;

/* Returns the seqs of the units, in ascending order. */
static int64 *
prune_list_seqs(const Pruning *pruning, List *units, int *n)
{
	int64	   *seqs = palloc(sizeof(int64) * pruning->found->n);
	ListCell   *cell;

	*n = 0;
	foreach(cell, units)
	{
		const CandidateUnit *unit = lfirst(cell);

		memcpy(&seqs[*n], &pruning->found->seqs[unit->first], sizeof(int64) * unit->n);
		*n += unit->n;
	}
	qsort(seqs, *n, sizeof(int64), order_int64);
	return seqs;
}

/* Returns who takes part in which run because of the events. */
static List *
prune_list_departures(const int64 *seqs, int n)
{
	List	   *departures = NIL;
	int			i;

	for (i = 0; i < n; i++)
	{
		RowScan		scan;

		CHECK_FOR_INTERRUPTS();
		rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_LATEST, AccessShareLock);
		rows_key_int8(&scan, 1, BTEqualStrategyNumber, seqs[i]);
		rows_start(&scan);
		if (rows_next(&scan))
			departures = participant_list_of_event(departures, &scan);
		rows_end(&scan);
	}
	return departures;
}

/*
 * Locks the events.  Does not wait for a transaction that has locked one of
 * them, for example because it has written a row that refers to it.
 */
static void
prune_lock_events(const int64 *seqs, int n)
{
	for (int i = 0; i < n; i++)
	{
		bool		is_locked;
		RowScan		scan;

		CHECK_FOR_INTERRUPTS();
		rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_LATEST, RowExclusiveLock);
		rows_key_int8(&scan, 1, BTEqualStrategyNumber, seqs[i]);
		rows_start(&scan);
		is_locked = rows_next(&scan) && rows_lock(&scan, ROW_LOCK_END, false) == ROW_LOCKED;
		rows_end(&scan);
		if (!is_locked)
			wait_refuse("an event");
	}
}

static void
prune_remove_units(void *arg)
{
	Pruning    *pruning = arg;
	int			n;
	int64	   *seqs = prune_list_seqs(pruning, pruning->units, &n);
	List	   *departures = prune_list_departures(seqs, n);
	ListCell   *cell;

	if (pruning->one_by_one)
		prune_lock_events(seqs, n);
	erasure_delete(seqs, n);
	if (!participant_forget_events(departures))
		prune_refuse_run();
	artifact_use_forget(seqs, n);
	foreach(cell, pruning->units)
		prune_state(lfirst(cell));
}

/* Does a user's foreign key refer to an event? */
static bool
prune_is_referenced(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_FOREIGN_KEY_VIOLATION ||
		error->sqlerrcode == ERRCODE_RESTRICT_VIOLATION;
}

static bool
prune_is_locked(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Has another prune removed some of the events meanwhile?  One by one, the
 * events are locked first, so then the snapshot of the caller is too old.
 */
static bool
prune_is_overtaken(const Pruning *pruning, const ErrorData *error)
{
	return !pruning->one_by_one && error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE;
}

/*
 * Returns the error if users' rows refer to one of the units, or another
 * transaction keeps or has removed it, in which case all of them stay;
 * otherwise NULL.
 */
static ErrorData *
prune_try_units(Pruning *pruning, List *units)
{
	ErrorData  *error;

	pruning->units = units;
	error = savepoint_run(prune_remove_units, pruning);
	if (error != NULL && !prune_is_referenced(error) && !prune_is_locked(error) && !prune_is_overtaken(pruning, error))
		ReThrowError(error);
	return error;
}

/*
 * Begins with any of the units, because others may follow those that end this,
 * and a session that calls once would always meet the same ones first.
 */
static void
prune_remove_one_by_one(Pruning *pruning)
{
	List	   *all = pruning->found->units;
	int			n = list_length(all);
	int			first = (int) pg_prng_uint64_range(&pg_global_prng_state, 0, n - 1);

	pruning->one_by_one = true;
	for (int i = 0; i < n && pruning->waited < MOST_WAITS; i++)
	{
		void	   *unit = list_nth(all, (first + i) % n);
		ErrorData  *error = prune_try_units(pruning, list_make1(unit));

		if (error == NULL)
		{
			pruning->removed = lappend(pruning->removed, unit);
			continue;
		}
		pruning->locked += prune_is_locked(error);
		pruning->waited += wait_has_timed_out(error);
		pruning->referenced += prune_is_referenced(error);
	}
}

static void
prune_remove_all(Pruning *pruning)
{
	List	   *all = pruning->found->units;

	if (prune_try_units(pruning, all) == NULL)
		pruning->removed = all;
	else
		prune_remove_one_by_one(pruning);
}

/* ------------------------------------------------------------------- audit */

static void
prune_put_runs(DocumentBuilder *b, List *units)
{
	int			named = 0;
	int			runs = 0;
	ListCell   *cell;

	document_open_array(b, "run_ids");
	foreach(cell, units)
	{
		const CandidateUnit *unit = lfirst(cell);

		if (slice_present(unit->run_id) && runs++ < MOST_NAMED)
			document_add_text(b, unit->run_id);
	}
	document_close_array(b);
	named = Min(runs, MOST_NAMED);
	document_put_int(b, "runs", runs);
	if (named < runs)
		document_put_int(b, "runs_named", named);
}

static void
prune_append_audit(const Pruning *pruning, TimestampTz before)
{
	DocumentBuilder b;
	int			tasks = 0;
	ListCell   *cell;

	foreach(cell, pruning->removed)
		tasks += list_length(((const CandidateUnit *) lfirst(cell))->tasks);
	audit_begin(&b);
	document_put_timestamp(&b, "before", before);
	document_put_int(&b, "events", pruning->n);
	document_put_int(&b, "first_seq", pruning->seqs[0]);
	document_put_int(&b, "last_seq", pruning->seqs[pruning->n - 1]);
	document_put_int(&b, "tasks", tasks);
	excuse_put_pruned(&b, pruning->seqs, pruning->n);
	prune_put_runs(&b, pruning->removed);
	(void) audit_append(AUDIT_PRUNED, document_end(&b));
}

/* --------------------------------------------------------------- the story */

/*
 * Returns the latest time before which events may be removed.  Only the log
 * shows that a signed envelope has been handed in before.  Its signature
 * authenticates its sender until clutch.signature_skew after its ts, which may
 * itself be that far ahead of the time when it was received.
 */
static TimestampTz
prune_latest(TimestampTz before)
{
	if (!rows_table_was_used(TABLE_AGENT_KEY))
		return before;
	return Min(before, clock_now() - 2 * clutch_signature_skew * USECS_PER_SEC);
}

/* Removes what is found, adds it to the report, and returns how many events there were. */
static int
prune_found(TimestampTz before, int max_events, int max_examined, PruneReport *report)
{
	Pruning		pruning = {candidates_find(before, max_events, max_examined)};

	report->is_partial = pruning.found->is_partial;
	if (slice_present(pruning.found->unread_by))
		report->unread_by = pruning.found->unread_by;
	if (pruning.found->n == 0)
		return 0;
	prune_remove_all(&pruning);
	pruning.seqs = prune_list_seqs(&pruning, pruning.removed, &pruning.n);
	report->events += pruning.n;
	report->referenced += pruning.referenced;
	report->locked += pruning.locked;
	if (pruning.n > 0)
	{
		breaker_forget(pruning.seqs, pruning.n);
		prune_append_audit(&pruning, before);
	}
	return pruning.found->n;
}

/*
 * If users' rows refer to all that is found, or all of it is locked, another
 * part of the log is tried as well, since otherwise a session that calls once
 * would always find the same.
 */
PruneReport
prune_batch(TimestampTz asked_before, int max_events, int max_examined)
{
	TimestampTz before = prune_latest(asked_before);
	PruneReport report = {0};

	savepoint_defer_no_deletes();
	if (prune_found(before, max_events, max_examined, &report) > 0 && report.events == 0 && candidates_jump(before))
		(void) prune_found(before, max_events, max_examined, &report);
	return report;
}
