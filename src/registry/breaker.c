/*-------------------------------------------------------------------------
 *
 * breaker.c
 *	  The circuit breaker of an agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "miscadmin.h"
#include "registry/breaker.h"
#include "settings.h"
#include "utils/timestamp.h"

/* columns of clutch.agent_failure */
enum
{
	Anum_agent_id = 1,
	Anum_seq,
	Anum_at,
	Anum_failed,
	Natts_agent_failure = Anum_failed
};

/* the rows of one agent, added up in the order of seq */
typedef struct Count
{
	int			failures;
	int			successes;		/* after the last failure */
	TimestampTz last_failure;
} Count;

static void
count_row(const RowScan *scan, Count *count)
{
	if (rows_bool(scan, Anum_failed))
	{
		count->failures++;
		count->successes = 0;
		count->last_failure = rows_timestamp(scan, Anum_at);
	}
	else
		count->successes++;
}

/* the oldest n; what another transaction is deleting is left to it */
static void
forget(Slice agent_id, int n)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	while (n > 0 && rows_next(&scan))
	{
		ItemPointerData tid;

		if (rows_lock(&scan, ROW_LOCK_END, false) != ROW_LOCKED)
			continue;
		tid = rows_tid(&scan);
		rows_delete(TABLE_AGENT_FAILURE, &tid);
		n--;
	}
	rows_end(&scan);
}

static void
insert(Slice agent_id, int64 seq, TimestampTz at, bool failed)
{
	Datum		values[Natts_agent_failure];
	bool		nulls[Natts_agent_failure] = {0};

	values[Anum_agent_id - 1] = PointerGetDatum(slice_to_text(agent_id));
	values[Anum_seq - 1] = Int64GetDatum(seq);
	values[Anum_at - 1] = TimestampTzGetDatum(at);
	values[Anum_failed - 1] = BoolGetDatum(failed);
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

void
breaker_count(Slice agent_id, int64 seq, TimestampTz at, bool failed)
{
	Count		count;

	if (!slice_present(agent_id))
		return;
	count = count_of(agent_id);
	if (failed)
	{
		/* more rows would say nothing new */
		if (count.failures > clutch_breaker_failures)
			forget(agent_id, 1);
		insert(agent_id, seq, at, true);
	}
	else if (count.failures == 0)
		return;
	else if (count.failures < clutch_breaker_failures ||
			 count.successes + 1 >= clutch_breaker_probes)
		forget(agent_id, PG_INT32_MAX);
	else
		insert(agent_id, seq, at, false);
}

static bool
judge(const Count *count, TimestampTz now, Breaker *breaker)
{
	breaker->failures = count->failures;
	breaker->until = TimestampTzPlusMilliseconds(count->last_failure,
												 (int64) clutch_breaker_reset * 1000);
	if (clutch_breaker_failures == 0 || count->failures < clutch_breaker_failures)
		breaker->state = BREAKER_CLOSED;
	else
		breaker->state = now < breaker->until ? BREAKER_OPEN : BREAKER_HALF_OPEN;
	return breaker->state != BREAKER_CLOSED;
}

int
breaker_list(TimestampTz now, Breaker **breakers)
{
	Breaker		breaker = {SLICE_NONE};
	Count		count = {0};
	int			room = 8;
	int			n = 0;
	bool		more = true;
	RowScan		scan;

	*breakers = NULL;
	rows_begin(&scan, TABLE_AGENT_FAILURE, INDEX_AGENT_FAILURE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (more)
	{
		CHECK_FOR_INTERRUPTS();
		more = rows_next(&scan);
		if (!more || !slice_equal(breaker.agent_id, rows_text(&scan, Anum_agent_id)))
		{
			if (slice_present(breaker.agent_id) && judge(&count, now, &breaker))
			{
				if (*breakers == NULL)
					*breakers = palloc(sizeof(Breaker) * room);
				else if (n == room)
					*breakers = repalloc(*breakers, sizeof(Breaker) * (room *= 2));
				(*breakers)[n++] = breaker;
			}
			memset(&count, 0, sizeof(count));
			if (more)
				breaker.agent_id = slice_copy(rows_text(&scan, Anum_agent_id));
		}
		if (more)
			count_row(&scan, &count);
	}
	rows_end(&scan);
	return n;
}
