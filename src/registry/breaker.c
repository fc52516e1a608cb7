/*-------------------------------------------------------------------------
 *
 * breaker.c
 *	  Circuit breakers of agents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/order.h"
#include "base/rows.h"
#include "base/stale.h"
#include "miscadmin.h"
#include "registry/agent_row.h"
#include "registry/breaker.h"
#include "registry/roster_part.h"
#include "settings.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* columns of clutch.agent_failure */
enum
{
	Anum_agent_failure_agent_id = 1,
	Anum_agent_failure_seq,
	Anum_agent_failure_at,
	Anum_agent_failure_failed,
	Anum_agent_failure_timed_out,
	Natts_agent_failure = Anum_agent_failure_timed_out
};
ROWS_CHECK_COLUMNS(Natts_agent_failure, AGENT_FAILURE);

/* three consecutive timeouts make an agent unavailable (spec 003 9) */
#define MOST_TIMEOUTS	3

/*
 * Two concurrent transactions may open a breaker together, or one of them may
 * close what the other one opens, and neither of them can announce that.
 * Therefore cached breakers expire after this time.
 */
#define MOST_AGE		USECS_PER_SEC

static const char *const state_names[] = {"closed", "open", "half_open"};

/* the rows of one agent, added up in the order of seq */
typedef struct FailureCount
{
	int			failures;
	int			successes;		/* after the last failure */
	int			older_successes;	/* before the last failure */
	int			timeouts;		/* how many of the last ones in a row were
								 * timeouts */
	TimestampTz last_failure;
} FailureCount;

/* ---------------------------------------------------------------- counting */

static void
breaker_add_row(const RowScan *scan, FailureCount *count)
{
	if (rows_bool(scan, Anum_agent_failure_failed))
	{
		count->failures++;
		count->older_successes += count->successes;
		count->successes = 0;
		count->timeouts = rows_bool(scan, Anum_agent_failure_timed_out) ? count->timeouts + 1 : 0;
		count->last_failure = rows_timestamp(scan, Anum_agent_failure_at);
	}
	else
	{
		count->successes++;
		count->timeouts = 0;
	}
}

/*
 * Deletes the oldest failures and successes, so many of each, among those
 * before an event.  Rows that another transaction is deleting are left to it.
 */
static void
breaker_delete_oldest(Slice agent_id, int64 before, int failures, int successes)
{
	RowScan		scan;

	if (failures == 0 && successes == 0)
		return;
	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int8(&scan, 2, BTLessStrategyNumber, before);
	rows_start(&scan);
	while ((failures > 0 || successes > 0) && rows_next(&scan))
	{
		int		   *left = rows_bool(&scan, Anum_agent_failure_failed) ? &failures : &successes;
		ItemPointerData tid;

		if (*left == 0 || rows_lock(&scan, ROW_LOCK_END, false) != ROW_LOCKED)
			continue;
		tid = rows_tid(&scan);
		rows_delete(TABLE_AGENT_FAILURE, &tid);
		(*left)--;
	}
	rows_end(&scan);
}

static void
breaker_insert(Slice agent_id, int64 seq, TimestampTz at, BreakerOutcome outcome)
{
	Datum		values[Natts_agent_failure];
	bool		nulls[Natts_agent_failure] = {0};

	values[Anum_agent_failure_agent_id - 1] = PointerGetDatum(slice_to_text(agent_id));
	values[Anum_agent_failure_seq - 1] = Int64GetDatum(seq);
	values[Anum_agent_failure_at - 1] = TimestampTzGetDatum(at);
	values[Anum_agent_failure_failed - 1] = BoolGetDatum(outcome != BREAKER_DONE);
	values[Anum_agent_failure_timed_out - 1] = BoolGetDatum(outcome == BREAKER_TIMED_OUT);
	(void) rows_insert(TABLE_AGENT_FAILURE, values, nulls);
}

static FailureCount
breaker_failures_of(Slice agent_id)
{
	FailureCount count = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	while (rows_next(&scan))
		breaker_add_row(&scan, &count);
	rows_end(&scan);
	return count;
}

static void
breaker_count_failure(Slice agent_id, const FailureCount *count, int64 seq, TimestampTz at,
					  BreakerOutcome outcome)
{
	int			successes = count->older_successes + count->successes;

	/*
	 * More rows would say nothing new.  Among the successes, only the last one
	 * matters from now on, because it separates the timeouts before it from
	 * those after it.
	 */
	breaker_delete_oldest(agent_id, seq,
						  count->failures > Max(clutch_breaker_failures, MOST_TIMEOUTS) ? 1 : 0,
						  Max(successes - 1, 0));
	breaker_insert(agent_id, seq, at, outcome);
	/* it opens, or opens again */
	if (clutch_breaker_failures > 0 && count->failures + 1 >= clutch_breaker_failures)
		stale_announce(STALE_FAILURES);
}

static void
breaker_count_success(Slice agent_id, const FailureCount *count, int64 seq, TimestampTz at)
{
	bool		is_closed = count->failures < clutch_breaker_failures ||
		clutch_breaker_failures == 0;

	if (!is_closed && count->successes + 1 < clutch_breaker_probes)
		breaker_insert(agent_id, seq, at, BREAKER_DONE);
	else
		breaker_delete_oldest(agent_id, seq, PG_INT32_MAX, PG_INT32_MAX);
	if (!is_closed)
		stale_announce(STALE_FAILURES);
}

void
breaker_count(Slice agent_id, int64 seq, TimestampTz at, BreakerOutcome outcome)
{
	FailureCount count;

	if (!slice_present(agent_id))
		return;
	count = breaker_failures_of(agent_id);
	if (outcome != BREAKER_DONE)
		breaker_count_failure(agent_id, &count, seq, at, outcome);
	else if (count.failures > 0)
		breaker_count_success(agent_id, &count, seq, at);
}

bool
breaker_times_out(Slice agent_id)
{
	return clutch_breaker_failures > 0 && breaker_failures_of(agent_id).timeouts >= MOST_TIMEOUTS;
}

/*
 * This reads the whole table, which has a few rows for each agent that has
 * failed lately.
 */
void
breaker_forget(const int64 *seqs, int n)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, RowExclusiveLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int64		seq = rows_int8(&scan, Anum_agent_failure_seq);
		ItemPointerData tid = rows_tid(&scan);

		CHECK_FOR_INTERRUPTS();
		if (bsearch(&seq, seqs, n, sizeof(int64), order_int64) != NULL)
			(void) rows_delete_if_free(TABLE_AGENT_FAILURE, &tid);
	}
	rows_end(&scan);
}

/* ----------------------------------------------------------------- judging */

const char *
breaker_state_name(BreakerState state)
{
	return state_names[state];
}

void
breaker_judge(Breaker *breaker, TimestampTz now)
{
	breaker->open_until = TimestampTzPlusMilliseconds(breaker->last_failure,
													  (int64) clutch_breaker_reset * 1000);
	if (clutch_breaker_failures == 0 || breaker->failures < clutch_breaker_failures)
		breaker->state = BREAKER_CLOSED;
	else
		breaker->state = now < breaker->open_until ? BREAKER_OPEN : BREAKER_HALF_OPEN;
}

/* ------------------------------------------------------------- remembering */

static void
breaker_keep(Roster *roster, Slice agent_id, const FailureCount *count, int *room)
{
	int			ordinal = roster_find(roster, agent_id);

	if (ordinal < 0 || count->failures < clutch_breaker_failures)
		return;
	array_make_room(roster->breakers, roster->nbreakers, *room);
	roster->breakers[roster->nbreakers++] =
		(RosterBreaker) {ordinal, count->failures, count->last_failure};
}

/* Reads all agents that have failed lately, in the order of agent_id. */
static void
breaker_read_all(Roster *roster)
{
	Slice		agent_id = SLICE_NONE;
	FailureCount count = {0};
	int			room = 0;
	RowScan		scan;

	roster->breakers = NULL;
	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!slice_equal(agent_id, rows_text(&scan, Anum_agent_failure_agent_id)))
		{
			if (slice_present(agent_id))
				breaker_keep(roster, agent_id, &count, &room);
			memset(&count, 0, sizeof(count));
			agent_id = rows_text_copy(&scan, Anum_agent_failure_agent_id);
		}
		breaker_add_row(&scan, &count);
	}
	if (slice_present(agent_id))
		breaker_keep(roster, agent_id, &count, &room);
	rows_end(&scan);
}

/*
 * Reads the breakers into the roster unless they are cached.  A change that
 * arrives meanwhile is counted after built_at was taken.  After an error there
 * is no list, so that it is read again.  The clock of a test may go backwards.
 */
static void
breaker_provide(Roster *roster, TimestampTz now)
{
	uint64		changes;
	MemoryContext old;

	AcceptInvalidationMessages();
	changes = stale_count(STALE_FAILURES);
	if (roster->breakers_context != NULL && roster->breakers_built_at == changes &&
		roster->breakers_threshold == clutch_breaker_failures &&
		!clock_is_over(roster->breakers_read_at, MOST_AGE, now))
		return;
	stale_if_rolled_back(STALE_FAILURES);
	if (roster->breakers_context != NULL)
		MemoryContextDelete(roster->breakers_context);
	roster->breakers_context = NULL;
	roster->nbreakers = 0;
	if (clutch_breaker_failures > 0)
	{
		MemoryContext context = AllocSetContextCreate(roster->context, "clutch breakers",
													  ALLOCSET_SMALL_SIZES);

		old = MemoryContextSwitchTo(context);
		breaker_read_all(roster);
		MemoryContextSwitchTo(old);
		roster->breakers_context = context;
	}
	roster->breakers_built_at = changes;
	roster->breakers_threshold = clutch_breaker_failures;
	roster->breakers_read_at = now;
}

static Breaker
breaker_of(const RosterBreaker *kept, TimestampTz now)
{
	Breaker		breaker = {
		.ordinal = kept->ordinal,
		.failures = kept->failures,
		.last_failure = kept->last_failure
	};

	breaker_judge(&breaker, now);
	return breaker;
}

int
breaker_list(Roster *roster, TimestampTz now, Breaker **breakers)
{
	int			i;

	breaker_provide(roster, now);
	*breakers = NULL;
	if (roster->nbreakers == 0)
		return 0;
	*breakers = palloc(sizeof(Breaker) * roster->nbreakers);
	for (i = 0; i < roster->nbreakers; i++)
		(*breakers)[i] = breaker_of(&roster->breakers[i], now);
	return roster->nbreakers;
}

int
breaker_limit(Slice agent_id, TimestampTz now, int max_concurrency)
{
	Roster	   *roster = roster_get();
	int			ordinal;
	int			i;

	breaker_provide(roster, now);
	if (roster->nbreakers == 0)
		return max_concurrency;
	ordinal = roster_find(roster, agent_id);
	for (i = 0; i < roster->nbreakers; i++)
	{
		if (roster->breakers[i].ordinal != ordinal)
			continue;
		if (breaker_of(&roster->breakers[i], now).state == BREAKER_OPEN)
			return 0;
		return Min(max_concurrency, clutch_breaker_probes);
	}
	return max_concurrency;
}
