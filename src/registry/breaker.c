/*-------------------------------------------------------------------------
 *
 * breaker.c
 *	  The circuit breaker of an agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "base/transaction.h"
#include "miscadmin.h"
#include "registry/breaker.h"
#include "settings.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* columns of clutch.agent_failure */
enum
{
	Anum_agent_id = 1,
	Anum_seq,
	Anum_at,
	Anum_failed,
	Anum_timed_out,
	Natts_agent_failure = Anum_timed_out
};

/* three consecutive timeouts make an agent unavailable (spec 003 9) */
#define MOST_TIMEOUTS	3

static const char *const state_names[] = {"closed", "open", "half_open"};

/* the rows of one agent, added up in the order of seq */
typedef struct Count
{
	int			failures;
	int			successes;		/* after the last failure */
	int			older_successes;	/* before it */
	int			timeouts;		/* the last so many */
	TimestampTz last_failure;
} Count;

/* ------------------------------------------------------------- remembering */

/*
 * Two transactions that are open at the same time may open a breaker together,
 * or one of them close what the other opens, and neither of them can say so.
 * So nothing is remembered for longer than this.
 */
#define MOST_AGE		(1000 * INT64CONST(1000))

/* the breakers that were not closed when this backend looked last */
static struct
{
	MemoryContext context;		/* NULL: never looked */
	uint64		built_at;		/* count of changes before the reading */
	TimestampTz read_at;
	Oid			relid;
	int			threshold;
	int			n;
	Breaker    *breakers;		/* by agent_id; state is not kept */
}			known;

static uint64 changes = 0;
static Oid	watched = InvalidOid;
static bool wrote_or_read = false;	/* in the transaction at hand */

/* may be called at any moment: counts, and nothing else */
static void
failures_changed(Datum arg, Oid relid)
{
	if (relid == InvalidOid || relid == watched)
		changes++;
}

/* what was read may have been our own, and the invalidation never comes */
static void
rolled_back(void)
{
	if (wrote_or_read)
		changes++;
}

static void
transaction_ended(void)
{
	wrote_or_read = false;
}

static void
watch(void)
{
	static TransactionWatch transaction = {rolled_back, transaction_ended};

	if (!transaction.watching)
		CacheRegisterRelcacheCallback(failures_changed, (Datum) 0);
	transaction_watch(&transaction);
	watched = rows_table_oid(TABLE_AGENT_FAILURE);
	wrote_or_read = true;
}

/* others hear of it when we commit; we ourselves go on with what we wrote */
static void
say_changed(void)
{
	watch();
	CacheInvalidateRelcacheByRelid(watched);
	changes++;
}

/* ---------------------------------------------------------------- counting */

static void
count_row(const RowScan *scan, Count *count)
{
	if (rows_bool(scan, Anum_failed))
	{
		count->failures++;
		count->older_successes += count->successes;
		count->successes = 0;
		count->timeouts = rows_bool(scan, Anum_timed_out) ? count->timeouts + 1 : 0;
		count->last_failure = rows_timestamp(scan, Anum_at);
	}
	else
	{
		count->successes++;
		count->timeouts = 0;
	}
}

/*
 * The oldest of those that are older than an event, so many of each; what
 * another transaction is deleting is left to it.
 */
static void
forget(Slice agent_id, int64 before, int failures, int successes)
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
		int		   *left = rows_bool(&scan, Anum_failed) ? &failures : &successes;
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
insert(Slice agent_id, int64 seq, TimestampTz at, BreakerOutcome outcome)
{
	Datum		values[Natts_agent_failure];
	bool		nulls[Natts_agent_failure] = {0};

	values[Anum_agent_id - 1] = PointerGetDatum(slice_to_text(agent_id));
	values[Anum_seq - 1] = Int64GetDatum(seq);
	values[Anum_at - 1] = TimestampTzGetDatum(at);
	values[Anum_failed - 1] = BoolGetDatum(outcome != BREAKER_DONE);
	values[Anum_timed_out - 1] = BoolGetDatum(outcome == BREAKER_TIMED_OUT);
	(void) rows_insert(TABLE_AGENT_FAILURE, values, nulls);
}

static Count
count_of(Slice agent_id)
{
	Count		count = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	while (rows_next(&scan))
		count_row(&scan, &count);
	rows_end(&scan);
	return count;
}

static void
count_failure(Slice agent_id, const Count *count, int64 seq, TimestampTz at,
			  BreakerOutcome outcome)
{
	int			successes = count->older_successes + count->successes;

	/*
	 * More rows would say nothing new.  Of the successes only the last counts
	 * from now on: timeouts before it are none in a row with those after.
	 */
	forget(agent_id, seq,
		   count->failures > Max(clutch_breaker_failures, MOST_TIMEOUTS) ? 1 : 0,
		   Max(successes - 1, 0));
	insert(agent_id, seq, at, outcome);
	/* it opens, or opens again */
	if (clutch_breaker_failures > 0 && count->failures + 1 >= clutch_breaker_failures)
		say_changed();
}

static void
count_success(Slice agent_id, const Count *count, int64 seq, TimestampTz at)
{
	bool		is_closed = count->failures < clutch_breaker_failures ||
		clutch_breaker_failures == 0;

	if (!is_closed && count->successes + 1 < clutch_breaker_probes)
		insert(agent_id, seq, at, BREAKER_DONE);
	else
		forget(agent_id, seq, PG_INT32_MAX, PG_INT32_MAX);
	if (!is_closed)
		say_changed();
}

void
breaker_count(Slice agent_id, int64 seq, TimestampTz at, BreakerOutcome outcome)
{
	Count		count;

	if (!slice_present(agent_id))
		return;
	count = count_of(agent_id);
	if (outcome != BREAKER_DONE)
		count_failure(agent_id, &count, seq, at, outcome);
	else if (count.failures > 0)
		count_success(agent_id, &count, seq, at);
}

bool
breaker_times_out(Slice agent_id)
{
	return clutch_breaker_failures > 0 && count_of(agent_id).timeouts >= MOST_TIMEOUTS;
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

static void
keep(Slice agent_id, const Count *count, int *room)
{
	if (count->failures < clutch_breaker_failures)
		return;
	if (known.n == *room)
		known.breakers = repalloc_huge(known.breakers, sizeof(Breaker) * (*room *= 2));
	memset(&known.breakers[known.n], 0, sizeof(Breaker));
	known.breakers[known.n].agent_id = agent_id;
	known.breakers[known.n].failures = count->failures;
	known.breakers[known.n].last_failure = count->last_failure;
	known.n++;
}

/* every agent that has failed lately, by agent_id; in known.context */
static void
read_all(void)
{
	Slice		agent_id = SLICE_NONE;
	Count		count = {0};
	int			room = 16;
	RowScan		scan;

	known.breakers = palloc(sizeof(Breaker) * room);
	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!slice_equal(agent_id, rows_text(&scan, Anum_agent_id)))
		{
			if (slice_present(agent_id))
				keep(agent_id, &count, &room);
			memset(&count, 0, sizeof(count));
			agent_id = slice_copy(rows_text(&scan, Anum_agent_id));
		}
		count_row(&scan, &count);
	}
	if (slice_present(agent_id))
		keep(agent_id, &count, &room);
	rows_end(&scan);
}

/* the clock of a test may also go back */
static bool
is_known(TimestampTz now)
{
	return known.context != NULL && known.built_at == changes && known.relid == watched &&
		known.threshold == clutch_breaker_failures &&
		now >= known.read_at && now - known.read_at < MOST_AGE;
}

/*
 * What changes while we read is counted against the new list.  An error on the
 * way leaves a list that is out of date, so it is read again.
 */
static void
provide(TimestampTz now)
{
	uint64		built_at;
	MemoryContext old;

	watch();
	AcceptInvalidationMessages();
	if (is_known(now))
		return;
	built_at = changes;
	if (known.context != NULL)
		MemoryContextDelete(known.context);
	memset(&known, 0, sizeof(known));
	known.context = AllocSetContextCreate(TopMemoryContext, "clutch breakers",
										  ALLOCSET_SMALL_SIZES);
	known.relid = InvalidOid;
	old = MemoryContextSwitchTo(known.context);
	if (clutch_breaker_failures > 0)
		read_all();
	MemoryContextSwitchTo(old);
	known.built_at = built_at;
	known.threshold = clutch_breaker_failures;
	known.read_at = now;
	known.relid = watched;
}

int
breaker_list(TimestampTz now, Breaker **breakers)
{
	int			i;

	provide(now);
	*breakers = NULL;
	if (known.n == 0)
		return 0;
	*breakers = palloc(sizeof(Breaker) * known.n);
	memcpy(*breakers, known.breakers, sizeof(Breaker) * known.n);
	for (i = 0; i < known.n; i++)
		breaker_judge(&(*breakers)[i], now);
	return known.n;
}

static int
compare(const void *a, const void *b)
{
	return slice_compare(((const Breaker *) a)->agent_id, ((const Breaker *) b)->agent_id);
}

int
breaker_limit(Slice agent_id, TimestampTz now, int max_concurrency)
{
	Breaker		wanted = {agent_id};
	Breaker    *found;

	provide(now);
	found = known.n == 0 ? NULL :
		bsearch(&wanted, known.breakers, known.n, sizeof(Breaker), compare);
	if (found == NULL)
		return max_concurrency;
	breaker_judge(found, now);
	if (found->state == BREAKER_OPEN)
		return 0;
	return Min(max_concurrency, clutch_breaker_probes);
}
