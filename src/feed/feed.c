/*-------------------------------------------------------------------------
 *
 * feed.c
 *	  The events between two positions.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "feed/feed.h"
#include "miscadmin.h"
#include "protocol/envelope.h"
#include "store/epoch.h"
#include "store/event.h"
#include "utils/memutils.h"
#include "utils/xid8.h"

typedef struct Reading
{
	const FeedQuery *query;
	Feed	   *feed;
	int			room;
	TimestampTz now;
	MemoryContext each;			/* reset after every row */
} Reading;

/* ------------------------------------------------------- is it wanted? */

/* a message that nobody has read in time: the log keeps it, readers do not get it */
static bool
is_expired(const RowScan *scan, TimestampTz now)
{
	Jsonb	   *document = rows_jsonb(scan, Anum_event_envelope);
	JsonbContainer *meta = document_get_container(&document->root, "meta");
	JsonbContainer *orders = meta != NULL ? document_get_container(meta, "clutch") : NULL;
	JsonbValue	value;
	Envelope	envelope;

	if (orders == NULL || (!document_get(orders, "ttl_ms", &value) &&
						   !document_get(orders, "deadline", &value)))
		return false;
	envelope_read_admitted(document, &envelope, problem_list());
	return !message_type_is_task(envelope.type) && envelope.orders.has_deadline &&
		envelope.orders.deadline <= now;
}

static bool
is_of_member(const FeedQuery *query, Slice run_id)
{
	return query->members == 1 ||
		slice_hash(run_id) % (uint64) query->members == (uint64) query->member;
}

static void
add(Reading *reading, int64 seq)
{
	Feed	   *feed = reading->feed;

	if (feed->n == reading->room)
	{
		reading->room *= 2;
		feed->seqs = repalloc_huge(feed->seqs, sizeof(int64) * reading->room);
	}
	feed->seqs[feed->n++] = seq;
}

static void
look_at(Reading *reading, const RowScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(reading->each);

	CHECK_FOR_INTERRUPTS();
	reading->feed->examined++;
	if (is_of_member(reading->query, rows_text(scan, Anum_event_run_id)) &&
		filter_fits(reading->query->filter, scan) && !is_expired(scan, reading->now))
		add(reading, rows_int8(scan, Anum_event_seq));
	MemoryContextSwitchTo(old);
	MemoryContextReset(reading->each);
}

static uint64
xid_of(const RowScan *scan)
{
	bool		isnull;

	return U64FromFullTransactionId(DatumGetFullTransactionId(rows_datum(scan, Anum_event_xid, &isnull)));
}

/* ------------------------------------------------------------ the ranges */

/*
 * Transactions of one epoch from a number on, in order, until there is enough
 * or the end is reached.  True: enough; *xmax is where the rest begins.
 *
 * What until has not seen is the next batch's: our own transaction, and what
 * has committed since until was chosen.
 */
static bool
read_range(Reading *reading, int epoch, uint64 from_xid, const Position *until, bool may_cut,
		   uint64 *xmax)
{
	bool		enough = false;
	uint64		last = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_POSITION, ROWS_ACTIVE, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_key_xid8(&scan, 2, BTGreaterEqualStrategyNumber, from_xid);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		uint64		xid = xid_of(&scan);

		if (xid >= until->xmax)
			break;
		if (!position_has_seen(until, until->epoch, xid))
			continue;
		if (may_cut && xid != last && reading->feed->n >= reading->query->max_events)
		{
			enough = true;
			*xmax = xid;
			break;
		}
		last = xid;
		look_at(reading, &scan);
	}
	rows_end(&scan);
	return enough;
}

static void
read_transaction(Reading *reading, int epoch, uint64 xid)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_POSITION, ROWS_ACTIVE, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_key_xid8(&scan, 2, BTEqualStrategyNumber, xid);
	rows_start(&scan);
	while (rows_next(&scan))
		look_at(reading, &scan);
	rows_end(&scan);
}

static void
read_late(Reading *reading, int epoch, const Position *from, const Position *until)
{
	int			i;

	for (i = 0; i < from->nxip; i++)
		if (position_has_seen(until, until->epoch, from->xip[i]))
			read_transaction(reading, epoch, from->xip[i]);
}

/*
 * Late committers, then what is newer; of what came from elsewhere too, whose
 * share is not cut again.  True: until was cut.
 */
static bool
read_epoch(Reading *reading, const Position *from, Position *until, bool may_cut)
{
	int			elsewhere = EPOCH_ELSEWHERE(until->epoch);
	uint64		xmax;
	bool		is_cut;

	read_late(reading, until->epoch, from, until);
	is_cut = read_range(reading, until->epoch, from->xmax, until, may_cut, &xmax);
	if (is_cut)
		*until = position_cut(until, xmax);
	read_late(reading, elsewhere, from, until);
	(void) read_range(reading, elsewhere, from->xmax, until, false, &xmax);
	return is_cut;
}

/* what is left of the epochs before, which a copy inherited, then this one */
static void
read_epochs(Reading *reading, const Position *from, bool may_cut)
{
	static const Position beginning = {0};
	Position	last = reading->feed->until;
	Position   *until = &reading->feed->until;
	int			epoch;

	for (epoch = from->epoch; epoch < last.epoch; epoch++)
	{
		*until = position_end(epoch);
		if (read_epoch(reading, from, until, may_cut))
			return;
		from = &beginning;
	}
	*until = last;
	(void) read_epoch(reading, from, until, may_cut);
}

static int
compare_seqs(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

Feed *
feed_read(const Position *from, const Position *until, const FeedQuery *query)
{
	Feed	   *feed = palloc0(sizeof(Feed));
	Reading		reading = {query, feed, Max(query->max_events, 64), clock_now()};

	feed->seqs = palloc(sizeof(int64) * reading.room);
	feed->until = until != NULL ? *until : position_now();
	reading.each = AllocSetContextCreate(CurrentMemoryContext, "clutch feed", ALLOCSET_DEFAULT_SIZES);
	/* an end that was chosen before is not cut again */
	read_epochs(&reading, from, until == NULL);
	MemoryContextDelete(reading.each);
	qsort(feed->seqs, feed->n, sizeof(int64), compare_seqs);
	return feed;
}
