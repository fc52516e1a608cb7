/*-------------------------------------------------------------------------
 *
 * candidates.c
 *	  Candidates for pruning: which events of the log may be removed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/crypto.h"
#include "base/hash64.h"
#include "base/order.h"
#include "base/rows.h"
#include "common/pg_prng.h"
#include "flow/expiry.h"
#include "flow/postponed.h"
#include "miscadmin.h"
#include "retention/candidates.h"
#include "settings.h"
#include "store/audit.h"
#include "task/task.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/*
 * The log is read in the order of seq.  received_at rises in that order, too,
 * except for transactions that stay open, a clock that was set back, and
 * imported runs, and so do the IDs of transactions.  So after this many events
 * in a row that are young, or that a subscription has not handled, we assume
 * that we have reached the end of what may be removed.
 */
#define YOUNG_END		1000

/* what was found out about a run */
typedef enum RunVerdict
{
	RUN_STAYS,
	RUN_GOES,
	RUN_IS_MESSAGES				/* it has no tasks */
} RunVerdict;

typedef struct RunEntry
{
	uint64		hash;			/* key: hash of the run_id */
	Slice		run_id;
	RunVerdict	verdict;
} RunEntry;

typedef struct Search
{
	TimestampTz before;
	int			max_events;
	int64		left;			/* how many events may still be examined */
	Horizon		horizon;
	List	   *subjects;		/* subjects of postponed consequences */
	HTAB	   *runs;			/* what was found out about them */
	Candidates *found;
	int			room;			/* allocated length of found->seqs */
	MemoryContext context;		/* holds the results */
	int			young;			/* number of young or unread events in a row */
	bool		is_full;
} Search;

/* Where this backend's last search stopped; the next one continues there. */
static int64 next_seq = 0;
static Oid	next_relation = InvalidOid;

/* --------------------------------------------------------------- one event */

/* Does the state of the database depend on the event, whatever its run is? */
static bool
candidates_event_is_kept(const RowScan *scan)
{
	MessageType type = message_type_parse(rows_text(scan, Anum_event_type));

	return message_type_is_agent(type) ||
		audit_is(rows_text(scan, Anum_event_run_id), rows_text(scan, Anum_event_from_agent),
				 SLICE_NONE, NULL);
}

static bool
candidates_event_is_old(const Search *search, const RowScan *scan)
{
	return rows_timestamp(scan, Anum_event_received_at) < search->before;
}

static bool
candidates_event_was_read(const Search *search, const RowScan *scan)
{
	if (clutch_prune_unread ||
		bookmark_covers(&search->horizon, rows_int4(scan, Anum_event_epoch),
						rows_xid8(scan, Anum_event_xid)))
		return true;
	search->found->unread_by = search->horizon.name;
	return false;
}

/*
 * May the event be removed?  A message to which somebody may still reply may
 * not, either.
 */
static bool
candidates_event_may_go(const Search *search, const RowScan *scan)
{
	return candidates_event_was_read(search, scan) && !expiry_is_open(scan);
}

static void
candidates_add(Search *search, int64 seq)
{
	Candidates *found = search->found;

	array_make_room(found->seqs, found->n, search->room);
	found->seqs[found->n++] = seq;
}

static CandidateUnit *
candidates_begin_unit(Search *search, Slice run_id)
{
	CandidateUnit *unit = palloc0(sizeof(CandidateUnit));

	unit->run_id = run_id;
	unit->first = search->found->n;
	return unit;
}

/* ----------------------------------------------------------------- one run */

/*
 * Adds the events of the run to the unit.  Returns false if one of them must
 * stay.  The newest one is usually the last in the table, so it is looked at
 * first.
 */
static bool
candidates_add_events_of_run(Search *search, CandidateUnit *unit)
{
	Candidates *found = search->found;
	bool		goes = true;
	RowScan		scan;

	found->n = unit->first;
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_RUN_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, unit->run_id);
	rows_start(&scan);
	while (goes && rows_previous(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		goes = candidates_event_is_old(search, &scan) && candidates_event_may_go(search, &scan);
		if (!goes || candidates_event_is_kept(&scan))
			continue;
		candidates_add(search, rows_int8(&scan, Anum_event_seq));
	}
	rows_end(&scan);
	unit->n = found->n - unit->first;
	qsort(&found->seqs[unit->first], unit->n, sizeof(int64), order_int64);
	return goes;
}

/*
 * Locks the tasks of the run.  Returns false if one of them is not over, or
 * cannot be locked.
 */
static bool
candidates_lock_tasks(Search *search, CandidateUnit *unit)
{
	ListCell   *cell;

	foreach(cell, task_list_of_run(unit->run_id))
	{
		bool		busy;
		Task	   *task = task_lock_now(*(Slice *) lfirst(cell), &busy);

		CHECK_FOR_INTERRUPTS();
		if (task == NULL || !task_status_is_over(task->status) ||
			slice_list_has(search->subjects, task->task_id))
			return false;
		unit->tasks = lappend(unit->tasks, task);
	}
	return true;
}

/*
 * Adds a run.  Whoever reports on a task has it locked until the event is
 * committed, so the events are read again after we have locked the tasks.
 */
static bool
candidates_add_run(Search *search, Slice run_id)
{
	CandidateUnit *unit = candidates_begin_unit(search, slice_copy(run_id));
	Candidates *found = search->found;

	if (!candidates_add_events_of_run(search, unit))
		return false;
	if (unit->first > 0 && found->n > search->max_events)
	{
		search->is_full = true;
		return false;
	}
	if (!candidates_lock_tasks(search, unit) || !candidates_add_events_of_run(search, unit))
		return false;
	found->units = lappend(found->units, unit);
	return true;
}

static RunVerdict
candidates_judge_run(Search *search, Slice run_id)
{
	MemoryContext old = MemoryContextSwitchTo(search->context);
	int			n = search->found->n;
	RunVerdict	verdict = RUN_STAYS;
	bool		has_tasks;

	if (task_run_is_over(run_id, &has_tasks))
		verdict = !has_tasks ? RUN_IS_MESSAGES :
			candidates_add_run(search, run_id) ? RUN_GOES : RUN_STAYS;
	if (verdict == RUN_STAYS)
		search->found->n = n;
	MemoryContextSwitchTo(old);
	return verdict;
}

/* The same, but judges each run only once. */
static RunVerdict
candidates_run_verdict(Search *search, Slice run_id)
{
	uint64		hash = crypto_name_hash(run_id);
	bool		found;
	RunEntry   *entry = hash_search(search->runs, &hash, HASH_ENTER, &found);

	/* nobody can choose the ID of a run so that it has the hash of another one, but it may happen to */
	if (found && !slice_equal(entry->run_id, run_id))
		return candidates_judge_run(search, run_id);
	if (!found)
	{
		MemoryContext old = MemoryContextSwitchTo(search->context);

		entry->run_id = slice_copy(run_id);
		MemoryContextSwitchTo(old);
		entry->verdict = RUN_STAYS;
		entry->verdict = candidates_judge_run(search, run_id);
	}
	return entry->verdict;
}

/* --------------------------------------------------------------- searching */

static void
candidates_add_message(Search *search, const RowScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(search->context);
	CandidateUnit *unit = candidates_begin_unit(search, SLICE_NONE);

	unit->n = 1;
	candidates_add(search, rows_int8(scan, Anum_event_seq));
	search->found->units = lappend(search->found->units, unit);
	MemoryContextSwitchTo(old);
}

static void
candidates_examine(Search *search, const RowScan *scan)
{
	bool		is_kept = candidates_event_is_kept(scan);

	if (!candidates_event_is_old(search, scan) ||
		(!is_kept && !candidates_event_was_read(search, scan)))
	{
		search->young++;
		return;
	}
	search->young = 0;
	if (is_kept)
		return;
	if (candidates_run_verdict(search, rows_text(scan, Anum_event_run_id)) == RUN_IS_MESSAGES &&
		candidates_event_may_go(search, scan))
		candidates_add_message(search, scan);
}

/* Has the search found or examined enough? */
static bool
candidates_search_is_over(Search *search)
{
	search->found->is_partial = --search->left <= 0;
	return search->found->is_partial || search->is_full || search->found->n >= search->max_events;
}

/*
 * Examines the events from one seq up to, but not including, another.  Returns
 * the seq at which it stopped because it has enough, or 0 at the end.
 */
static int64
candidates_search_range(Search *search, int64 from, int64 to)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch prune event",
											   ALLOCSET_DEFAULT_SIZES);
	int64		stopped_at = 0;
	RowScan		scan;

	search->young = 0;
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_LATEST, AccessShareLock);
	rows_key_int8(&scan, 1, BTGreaterEqualStrategyNumber, from);
	rows_key_int8(&scan, 1, BTLessStrategyNumber, to);
	rows_start(&scan);
	while (stopped_at == 0 && search->young < YOUNG_END && rows_next(&scan))
	{
		MemoryContext old = MemoryContextSwitchTo(each);

		CHECK_FOR_INTERRUPTS();
		candidates_examine(search, &scan);
		if (candidates_search_is_over(search))
			stopped_at = rows_int8(&scan, Anum_event_seq);
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
	return stopped_at;
}

static void
candidates_search_begin(Search *search)
{
	search->runs = hash64_create("clutch prune runs", sizeof(RunEntry), 256, CurrentMemoryContext);
	search->context = CurrentMemoryContext;
	search->room = 1024;
	search->found = palloc0(sizeof(Candidates));
	search->found->seqs = palloc(sizeof(int64) * search->room);
	search->horizon = bookmark_horizon();
	search->subjects = postponed_list_subjects();
}

Candidates *
candidates_find(TimestampTz before, int max_events, int max_examined)
{
	bool		is_limited = max_examined > 0;
	Search		search = {
		.before = before,
		.max_events = max_events,
		.left = is_limited ? max_examined : PG_INT64_MAX
	};
	int64		from;

	if (next_relation != rows_table_oid(TABLE_EVENTS))
		next_seq = 0;
	next_relation = rows_table_oid(TABLE_EVENTS);
	from = next_seq;
	candidates_search_begin(&search);
	next_seq = candidates_search_range(&search, from, PG_INT64_MAX);
	/*
	 * at the end of the log, continue before the place where we started,
	 * because tasks there may be over now.  If the search is limited, the next
	 * one does, because otherwise nobody could tell when all has been examined.
	 */
	if (next_seq == 0 && from > 0 && !is_limited)
		next_seq = candidates_search_range(&search, 0, from);
	hash_destroy(search.runs);
	return search.found;
}

/* Was the first event from this seq on received before that time?  Returns false if there is none. */
static bool
candidates_is_old_at(int64 seq, TimestampTz before)
{
	bool		is_old;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_LATEST, AccessShareLock);
	rows_key_int8(&scan, 1, BTGreaterEqualStrategyNumber, seq);
	rows_start(&scan);
	is_old = rows_next(&scan) && rows_timestamp(&scan, Anum_event_received_at) < before;
	rows_end(&scan);
	return is_old;
}

/* Returns a seq at about which the young events begin. */
static int64
candidates_first_young(TimestampTz before)
{
	int64		old = 0;
	int64		young = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	if (rows_previous(&scan))
		young = rows_int8(&scan, Anum_event_seq) + 1;
	rows_end(&scan);
	while (young - old > 1)
	{
		int64		middle = old + (young - old) / 2;

		if (candidates_is_old_at(middle, before))
			old = middle;
		else
			young = middle;
	}
	return young;
}

bool
candidates_jump(TimestampTz before)
{
	int64		young = next_seq == 0 ? 0 : candidates_first_young(before);

	if (young <= next_seq)
		return false;
	next_seq = (int64) pg_prng_uint64_range(&pg_global_prng_state, next_seq, young - 1);
	return true;
}
