/*-------------------------------------------------------------------------
 *
 * participant_forget.c
 *	  Who no longer takes part in runs, because their events are pruned.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/column.h"
#include "base/guard.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "storage/sinval.h"
#include "store/event.h"
#include "store/participant.h"
#include "store/participant_part.h"
#include "utils/inval.h"

typedef struct Departure
{
	Slice		run_id;
	Slice		name;
} Departure;

static List *
participant_add_departure(List *departures, Slice run_id, Slice name)
{
	Departure  *departure = palloc(sizeof(Departure));

	departure->run_id = slice_copy(run_id);
	departure->name = slice_copy(name);
	return lappend(departures, departure);
}

List *
participant_list_of_event(List *departures, const RowScan *event)
{
	Slice		run_id = rows_text(event, Anum_event_run_id);
	bool		isnull;
	SliceList	to = column_texts_of(rows_datum(event, Anum_event_to_agents, &isnull));
	int			i;

	departures = participant_add_departure(departures, run_id, rows_text(event, Anum_event_from_agent));
	for (i = 0; i < to.n; i++)
		departures = participant_add_departure(departures, run_id, to.items[i]);
	return departures;
}

static int
participant_compare_departures(const ListCell *a, const ListCell *b)
{
	const Departure *x = lfirst(a);
	const Departure *y = lfirst(b);
	int			by_run = slice_compare(x->run_id, y->run_id);

	return by_run != 0 ? by_run : slice_compare(x->name, y->name);
}

/* Makes all backends look into the table again after we have committed. */
static void
participant_announce(void)
{
	participant_forget_all();
	CacheInvalidateRelcacheByRelid(rows_table_oid(TABLE_PARTICIPANT));
}

/*
 * The same at once.  Whoever addresses somebody while our transaction is open
 * must find that the row is being removed, and write it again.
 */
static void
participant_announce_now(void)
{
	SharedInvalidationMessage message = {.rc = {SHAREDINVALRELCACHE_ID, MyDatabaseId, rows_table_oid(TABLE_PARTICIPANT)}};

	SendSharedInvalidMessages(&message, 1);
}

/* Is the run not in the log?  *founder is set to an open transaction that decides whether it is, if any. */
static bool
participant_run_is_gone(Slice run_id, TransactionId *founder)
{
	RunState	state = participant_run_state(run_id, founder);

	if (state != RUN_IS_DOUBTFUL)
		*founder = InvalidTransactionId;
	return state == RUN_IS_OPEN;
}

/*
 * Goes to the next row that no other open transaction is inserting.  Such a
 * transaction is founding the run, and other senders do not wait for it.
 */
static bool
participant_next_settled(RowScan *scan)
{
	while (rows_next(scan))
		if (!rows_is_being_inserted(scan))
			return true;
	return false;
}

/*
 * Deletes all rows of a run if it is not in the log, and returns whether it has
 * deleted any.  Rows of a transaction that is founding the run are left alone, and
 * with spares_ours, also those that our transaction has written.  If another
 * transaction is deleting a row, *founder is set to it, because it may be about to
 * found the run, and if it rolls back, the row is there again.
 */
static bool
participant_delete_gone(Slice run_id, bool spares_ours, TransactionId *founder)
{
	TransactionId deleter = InvalidTransactionId;
	bool		is_gone = false;
	RowScan		scan;

	*founder = InvalidTransactionId;
	rows_begin(&scan, TABLE_PARTICIPANT, INDEX_PARTICIPANT_RUN, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (participant_next_settled(&scan) && (is_gone || participant_run_is_gone(run_id, founder)))
	{
		ItemPointerData tid = rows_tid(&scan);

		if (spares_ours && rows_is_ours(&scan))
			continue;
		if (rows_is_being_deleted(&scan))
			deleter = rows_in_doubt(&scan);
		else if (rows_delete_if_free(TABLE_PARTICIPANT, &tid))
			is_gone = true;
	}
	rows_end(&scan);
	if (TransactionIdIsValid(deleter))
		*founder = deleter;
	return is_gone;
}

/*
 * Removes the rows of runs that are not in the log any more, and returns these
 * runs as a List of Slice *.  If other events of a run remain, so do those who
 * took part in it because of what was pruned.
 */
static List *
participant_settle_departures(List *departures)
{
	const Departure *last = NULL;
	RunState	state = RUN_IS_OPEN;
	List	   *gone = NIL;
	ListCell   *cell;

	foreach(cell, departures)
	{
		Departure  *departure = lfirst(cell);
		bool		same_run = last != NULL && slice_equal(last->run_id, departure->run_id);
		TransactionId founder;

		CHECK_FOR_INTERRUPTS();
		if (same_run && slice_equal(last->name, departure->name))
			continue;
		if (!same_run)
			state = participant_run_state(departure->run_id, &founder);
		if (state != RUN_IS_OPEN)
			participant_add(departure->name, departure->run_id);
		else if (!same_run)
		{
			(void) participant_delete_gone(departure->run_id, false, &founder);
			gone = lappend(gone, &departure->run_id);
		}
		last = departure;
	}
	return gone;
}

/*
 * A run that has left the log is open again, and becomes another run if
 * somebody founds it.  Nobody takes part in that one because of what was pruned
 * earlier, either.
 *
 * Others may send events of the run meanwhile.  Until they are told that rows
 * have been removed, they may rely on what they remember, and what they have
 * written with an event since we looked for events may have been deleted.  So we
 * look for events once more after that.
 */
bool
participant_forget_events(List *departures)
{
	List	   *gone;
	ListCell   *cell;

	participant_announce();
	list_sort(departures, participant_compare_departures);
	gone = participant_settle_departures(departures);
	participant_announce_now();
	foreach(cell, gone)
	{
		TransactionId sender;

		if (participant_run_state(*(const Slice *) lfirst(cell), &sender) != RUN_IS_OPEN)
			return false;
	}
	return true;
}

/* Are there rows of a run that is not in the log?  *founder is set as in participant_run_is_gone. */
static bool
participant_run_has_left(Slice run_id, TransactionId *founder)
{
	bool		has_left;
	RowScan		scan;

	*founder = InvalidTransactionId;
	rows_begin(&scan, TABLE_PARTICIPANT, INDEX_PARTICIPANT_RUN, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	has_left = participant_next_settled(&scan) && participant_run_is_gone(run_id, founder);
	rows_end(&scan);
	return has_left;
}

/*
 * A row of ours belongs to a message that is not in the log yet: a user's
 * BEFORE trigger may send one itself.
 *
 * Two founders must not delete the rows at the same time: each would find some
 * that the other one has deleted, and wait for its end.
 */
bool
participant_forget_earlier(Slice run_id, TransactionId *founder)
{
	uint64		guard;

	if (!participant_run_has_left(run_id, founder))
		return !TransactionIdIsValid(*founder);
	guard = guard_key(GUARD_DEPARTURE, run_id, SLICE_NONE, 0);
	guard_take(guard);
	if (participant_delete_gone(run_id, true, founder))
		participant_announce();
	guard_release(guard);
	return !TransactionIdIsValid(*founder);
}

void
participant_forget_gone_runs(void)
{
	Slice		last = SLICE_OF("");
	TransactionId founder;
	RowScan		scan;

	participant_announce();
	rows_begin(&scan, TABLE_PARTICIPANT, INDEX_PARTICIPANT_RUN, ROWS_LATEST, AccessShareLock);
	for (;;)
	{
		scan.nkeys = 0;
		rows_key_text(&scan, 1, BTGreaterStrategyNumber, last);
		rows_restart(&scan);
		CHECK_FOR_INTERRUPTS();
		if (!rows_next(&scan))
			break;
		last = rows_text_copy(&scan, Anum_participant_run_id);
		(void) participant_delete_gone(last, false, &founder);
	}
	rows_end(&scan);
}
