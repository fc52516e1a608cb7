/*-------------------------------------------------------------------------
 *
 * traffic.c
 *	  Traffic: what a role has sent in this minute and today, for its quotas.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/clock.h"
#include "base/transaction.h"
#include "miscadmin.h"
#include "trust/principal.h"
#include "trust/quota.h"
#include "trust/traffic.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* columns of clutch.traffic */
enum
{
	Anum_traffic_grantee = 1,
	Anum_traffic_minute,
	Anum_traffic_events,
	Anum_traffic_bytes,
	Natts_traffic = Anum_traffic_bytes
};

ROWS_CHECK_COLUMNS(Natts_traffic, TRAFFIC);

/* A transaction that finds more rows of its role than this combines some. */
#define MANY_ROWS		64

/* how many rows are combined at a time */
#define MOST_FOLDED		1024

static TimestampTz
traffic_begin_of(TimestampTz at, int64 length)
{
	int64		since = at % length;

	return at - (since < 0 ? since + length : since);
}

static TimestampTz
traffic_minute_of(TimestampTz at)
{
	return traffic_begin_of(at, USECS_PER_MINUTE);
}

static TimestampTz
traffic_day_of(TimestampTz at)
{
	return traffic_begin_of(at, USECS_PER_DAY);
}

/* --------------------------------------------------------------------- rows */

/* Begins a scan of the rows of a role from a minute on. */
static void
traffic_begin_scan(RowScan *scan, Oid role, TimestampTz from, RowSnapshot which, LOCKMODE lock)
{
	rows_begin(scan, TABLE_TRAFFIC, INDEX_TRAFFIC, which, lock);
	rows_key_oid(scan, 1, BTEqualStrategyNumber, role);
	rows_key_timestamp(scan, 2, BTGreaterEqualStrategyNumber, from);
	rows_start(scan);
}

/*
 * Sums up the minute and the day of "at".  *nrows is set to the number of rows
 * that were read for that.
 */
static Traffic
traffic_read(Oid role, TimestampTz at, RowSnapshot which, int *nrows)
{
	TimestampTz minute = traffic_minute_of(at);
	TimestampTz end = traffic_day_of(at) + USECS_PER_DAY;
	Traffic		sum = {0};
	RowScan		scan;

	*nrows = 0;
	traffic_begin_scan(&scan, role, traffic_day_of(at), which, AccessShareLock);
	while (rows_next(&scan) && rows_timestamp(&scan, Anum_traffic_minute) < end)
	{
		int64		bytes = rows_int8(&scan, Anum_traffic_bytes);

		CHECK_FOR_INTERRUPTS();
		(*nrows)++;
		sum.day_bytes += bytes;
		if (rows_timestamp(&scan, Anum_traffic_minute) != minute)
			continue;
		sum.events += rows_int8(&scan, Anum_traffic_events);
		sum.bytes += bytes;
	}
	rows_end(&scan);
	return sum;
}

Traffic
traffic_of_role(Oid role, TimestampTz at)
{
	int			nrows;

	return traffic_read(role, at, ROWS_ACTIVE, &nrows);
}

static void
traffic_insert(Oid role, TimestampTz minute, int64 events, int64 bytes)
{
	Datum		values[Natts_traffic];
	bool		nulls[Natts_traffic] = {0};

	values[Anum_traffic_grantee - 1] = ObjectIdGetDatum(role);
	values[Anum_traffic_minute - 1] = TimestampTzGetDatum(minute);
	values[Anum_traffic_events - 1] = Int64GetDatum(events);
	values[Anum_traffic_bytes - 1] = Int64GetDatum(bytes);
	(void) rows_insert(TABLE_TRAFFIC, values, nulls);
}

/* ------------------------------------------------------------------ folding */

typedef struct TrafficRow
{
	ItemPointerData tid;
	TimestampTz minute;
	int64		events;
	int64		bytes;
} TrafficRow;

static int
traffic_list_rows(Oid role, TimestampTz minute, TrafficRow *list)
{
	int			n = 0;
	RowScan		scan;

	traffic_begin_scan(&scan, role, DT_NOBEGIN, ROWS_LATEST, RowExclusiveLock);
	while (n < MOST_FOLDED && rows_next(&scan) && rows_timestamp(&scan, Anum_traffic_minute) <= minute)
		list[n++] = (TrafficRow) {
			.tid = rows_tid(&scan),
				.minute = rows_timestamp(&scan, Anum_traffic_minute),
				.events = rows_int8(&scan, Anum_traffic_events),
				.bytes = rows_int8(&scan, Anum_traffic_bytes)
		};
	rows_end(&scan);
	return n;
}

/*
 * Combines rows.  Those of earlier days are not needed any more.  Of the
 * earlier minutes of this day, only the bytes are, so they are stored in its
 * first minute, unless that is the current one.
 */
static void
traffic_fold(Oid role, TimestampTz minute)
{
	TrafficRow *list = palloc(sizeof(TrafficRow) * MOST_FOLDED);
	TimestampTz day = traffic_day_of(minute);
	int			n = traffic_list_rows(role, minute, list);
	TrafficRow	now = {.minute = minute};
	TrafficRow	earlier = {.minute = day};
	int			i;

	for (i = 0; i < n; i++)
	{
		TrafficRow *sum = list[i].minute == minute ? &now : &earlier;

		if (!rows_delete_if_free(TABLE_TRAFFIC, &list[i].tid) || list[i].minute < day)
			continue;
		sum->events += list[i].events;
		sum->bytes += list[i].bytes;
	}
	if (now.events > 0)
		traffic_insert(role, minute, now.events, now.bytes);
	if (earlier.events > 0)
		traffic_insert(role, day, earlier.events, earlier.bytes);
	pfree(list);
}

/* ------------------------------------------------------- of this transaction */

/* what the transaction has sent that has no row yet */
typedef struct Sent
{
	Oid			role;
	TimestampTz minute;
	int			level;			/* level of the savepoint that sent it */
	int64		events;
	int64		bytes;
	struct Sent *next;
} Sent;

static Sent *sent = NULL;		/* allocated in TopTransactionContext */

/*
 * what was committed when the transaction looked; role is InvalidOid if it has
 * not looked yet
 */
static struct
{
	Oid			role;
	TimestampTz minute;
	Traffic		traffic;
	int			nrows;
}			past;

static void
traffic_forget(void)
{
	sent = NULL;
	past.role = InvalidOid;
}

static void
traffic_rolled_back(void)
{
	int			level = GetCurrentTransactionNestLevel();
	Sent	  **link = &sent;

	while (*link != NULL)
		if ((*link)->level >= level)
			*link = (*link)->next;
		else
			link = &(*link)->next;
}

static bool
traffic_is_same(const Sent *a, const Sent *b)
{
	return a->role == b->role && a->minute == b->minute && a->level == b->level;
}

/*
 * Removes the first entry that is the same from the list and returns it, or
 * NULL if there is none.
 */
static Sent *
traffic_take_out(Sent **list, const Sent *like)
{
	Sent	   *found;

	for (; *list != NULL; list = &(*list)->next)
		if (traffic_is_same(*list, like))
		{
			found = *list;
			*list = found->next;
			return found;
		}
	return NULL;
}

/*
 * Handles the release of a savepoint: what it has sent now belongs to the one
 * around it.
 */
static void
traffic_released(void)
{
	int			level = GetCurrentTransactionNestLevel();
	Sent	   *entry;

	for (entry = sent; entry != NULL; entry = entry->next)
	{
		Sent	   *other;

		if (entry->level < level)
			continue;
		entry->level = level - 1;
		other = traffic_take_out(&entry->next, entry);
		if (other == NULL)
			continue;
		entry->events += other->events;
		entry->bytes += other->bytes;
	}
}

/* Has the transaction dropped the extension after sending something? */
static bool
traffic_is_unrecorded(void)
{
	return sent != NULL && rows_table_is_there(TABLE_TRAFFIC);
}

static bool
traffic_record(void)
{
	Sent	   *entry;

	for (entry = sent; entry != NULL; entry = entry->next)
	{
		if (past.role == entry->role && past.minute == entry->minute && past.nrows > MANY_ROWS)
			traffic_fold(entry->role, entry->minute);
		if (entry->events > 0)
			traffic_insert(entry->role, entry->minute, entry->events, entry->bytes);
	}
	/* triggers may send more, which is then added to what has a row now */
	traffic_forget();
	return false;
}

static Sent *
traffic_entry(Oid role, TimestampTz minute)
{
	static TransactionWatch watch = {
		.rolled_back = traffic_rolled_back,
		.released = traffic_released,
		.unsettled = traffic_is_unrecorded,
		.settling = traffic_record,
		.ended = traffic_forget
	};
	Sent		wanted = {role, minute, GetCurrentTransactionNestLevel()};
	Sent	   *entry = traffic_take_out(&sent, &wanted);

	transaction_watch(&watch);
	if (entry == NULL)
	{
		entry = MemoryContextAlloc(TopTransactionContext, sizeof(Sent));
		*entry = wanted;
	}
	entry->next = sent;
	sent = entry;
	return entry;
}

/* Returns what is committed, and what this transaction has sent. */
static Traffic
traffic_so_far(Oid role, TimestampTz at)
{
	TimestampTz minute = traffic_minute_of(at);
	Traffic		sum;
	const Sent *entry;

	if (past.role != role || past.minute != minute)
	{
		past.traffic = traffic_read(role, at, ROWS_LATEST, &past.nrows);
		past.role = role;
		past.minute = minute;
	}
	sum = past.traffic;
	for (entry = sent; entry != NULL; entry = entry->next)
	{
		if (entry->role != role || traffic_day_of(entry->minute) != traffic_day_of(at))
			continue;
		sum.day_bytes += entry->bytes;
		if (entry->minute != minute)
			continue;
		sum.events += entry->events;
		sum.bytes += entry->bytes;
	}
	return sum;
}

/* ------------------------------------------------------------------- sending */

#define RATES	(QUOTA_BIT(QUOTA_EVENTS_PER_MINUTE) | QUOTA_BIT(QUOTA_BYTES_PER_MINUTE) | \
				 QUOTA_BIT(QUOTA_BYTES_PER_DAY))

static void
traffic_check(const QuotaLimits *limits, const Traffic *before, int64 bytes, TimestampTz at)
{
	TimestampTz next_minute = traffic_minute_of(at) + USECS_PER_MINUTE;

	quota_check(limits, QUOTA_EVENTS_PER_MINUTE, before->events + 1, 1, next_minute, "");
	quota_check(limits, QUOTA_BYTES_PER_MINUTE, before->bytes + bytes, bytes, next_minute, "");
	quota_check(limits, QUOTA_BYTES_PER_DAY, before->day_bytes + bytes, bytes,
				traffic_day_of(at) + USECS_PER_DAY, "");
}

bool
traffic_is_counted(void)
{
	return quota_limits(RATES) != NULL;
}

void
traffic_add(int64 bytes, TimestampTz at, bool may_be_refused)
{
	const QuotaLimits *limits = quota_limits(RATES);
	Traffic		before;
	Sent	   *entry;
	Oid			role;

	if (limits == NULL)
		return;
	role = principal_role();
	before = traffic_so_far(role, at);
	if (may_be_refused)
		traffic_check(limits, &before, bytes, at);
	entry = traffic_entry(role, traffic_minute_of(at));
	entry->events++;
	entry->bytes += bytes;
}

void
traffic_add_command(bool may_be_refused)
{
	traffic_add(0, clock_now(), may_be_refused);
}
