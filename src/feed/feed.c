/*-------------------------------------------------------------------------
 *
 * feed.c
 *	  Feeds: the events between two positions.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/order.h"
#include "feed/feed.h"
#include "miscadmin.h"
#include "protocol/envelope.h"
#include "store/epoch.h"
#include "store/event.h"
#include "utils/memutils.h"

/* the state of one call of feed_read */
typedef struct FeedReader
{
	const FeedQuery *query;
	Feed	   *feed;
	int			room;			/* allocated length of feed->seqs */
	TimestampTz now;
	MemoryContext event_context;	/* reset after every event */
} FeedReader;

/* ------------------------------------------------ does an event belong here? */

/*
 * Has a message outlived its ttl or deadline?  It stays in the log, but
 * readers do not get it any more.  A task with a deadline is timed out
 * instead.
 */
static bool
feed_event_is_expired(const RowScan *scan, TimestampTz now)
{
	Jsonb	   *document = rows_jsonb(scan, Anum_event_envelope);
	JsonbContainer *orders = document_get_container(document_get_container(&document->root, "meta"), "clutch");
	JsonbValue	value;
	Envelope	envelope;

	if (!document_get(orders, "ttl_ms", &value) && !document_get(orders, "deadline", &value))
		return false;
	envelope_read_admitted(document, &envelope, problem_list());
	return !message_type_is_task(envelope.type) && envelope.orders.has_deadline &&
		envelope.orders.deadline <= now;
}

/*
 * All events of a run go to the same member, so that they are handled in their
 * order.
 */
static bool
feed_belongs_to_member(const FeedQuery *query, Slice run_id)
{
	return query->members == 1 ||
		slice_hash(run_id) % (uint64) query->members == (uint64) query->member;
}

static void
feed_add(FeedReader *reader, int64 seq)
{
	Feed	   *feed = reader->feed;

	array_make_room(feed->seqs, feed->n, reader->room);
	feed->seqs[feed->n++] = seq;
}

/* Adds the current event of the scan to the feed if it belongs there. */
static void
feed_examine(FeedReader *reader, const RowScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(reader->event_context);

	CHECK_FOR_INTERRUPTS();
	reader->feed->examined++;
	if (feed_belongs_to_member(reader->query, rows_text(scan, Anum_event_run_id)) &&
		filter_fits_columns(reader->query->filter, scan) &&
		(reader->query->right == NULL || reader->query->right(reader->query->right_arg, scan)) &&
		filter_fits_path(reader->query->filter, scan) &&
		!feed_event_is_expired(scan, reader->now))
		feed_add(reader, rows_int8(scan, Anum_event_seq));
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->event_context);
}

/* ------------------------------------------------------------ the ranges */

/*
 * Reads the transactions of an epoch from from_xid on, in order, until the
 * feed is full or "until" is reached.  Returns true if it is full, and sets
 * *xmax to the first transaction that was left out.
 *
 * Whatever "until" has not seen belongs to a later batch: our own transaction,
 * and what has been committed since "until" was chosen.
 */
static bool
feed_read_newer(FeedReader *reader, int epoch, uint64 from_xid, const Position *until, bool may_cut,
				uint64 *xmax)
{
	bool		is_full = false;
	uint64		last = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_POSITION, ROWS_ACTIVE, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_key_xid8(&scan, 2, BTGreaterEqualStrategyNumber, from_xid);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		uint64		xid = rows_xid8(&scan, Anum_event_xid);

		if (xid >= until->xmax)
			break;
		if (!position_has_seen(until, until->epoch, xid))
			continue;
		if (may_cut && xid != last && reader->feed->n >= reader->query->max_events)
		{
			is_full = true;
			*xmax = xid;
			break;
		}
		last = xid;
		feed_examine(reader, &scan);
	}
	rows_end(&scan);
	return is_full;
}

static void
feed_read_transaction(FeedReader *reader, int epoch, uint64 xid)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_POSITION, ROWS_ACTIVE, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_key_xid8(&scan, 2, BTEqualStrategyNumber, xid);
	rows_start(&scan);
	while (rows_next(&scan))
		feed_examine(reader, &scan);
	rows_end(&scan);
}

/*
 * Reads the transactions that were in progress for "from" and that "until" has
 * seen.
 */
static void
feed_read_late_commits(FeedReader *reader, int epoch, const Position *from, const Position *until)
{
	int			i;

	for (i = 0; i < from->nxip; i++)
		if (position_has_seen(until, until->epoch, from->xip[i]))
			feed_read_transaction(reader, epoch, from->xip[i]);
}

/*
 * Reads the part of the feed that lies in the epoch of "until", including the
 * events that arrived there by replication; there the feed is not cut again.
 * Returns true if "until" was cut.
 */
static bool
feed_read_epoch(FeedReader *reader, const Position *from, Position *until, bool may_cut)
{
	int			elsewhere = EPOCH_ELSEWHERE(until->epoch);
	uint64		xmax;
	bool		is_cut;

	feed_read_late_commits(reader, until->epoch, from, until);
	is_cut = feed_read_newer(reader, until->epoch, from->xmax, until, may_cut, &xmax);
	if (is_cut)
		*until = position_cut(until, xmax);
	feed_read_late_commits(reader, elsewhere, from, until);
	(void) feed_read_newer(reader, elsewhere, from->xmax, until, false, &xmax);
	return is_cut;
}

/*
 * Reads the rest of the epochs that a copy has inherited, and then its own
 * epoch.
 */
static void
feed_read_epochs(FeedReader *reader, const Position *from, bool may_cut)
{
	static const Position beginning = {0};
	Position	last = reader->feed->until;
	Position   *until = &reader->feed->until;
	int			epoch;

	for (epoch = from->epoch; epoch < last.epoch; epoch++)
	{
		*until = position_end(epoch);
		if (feed_read_epoch(reader, from, until, may_cut))
			return;
		from = &beginning;
	}
	*until = last;
	(void) feed_read_epoch(reader, from, until, may_cut);
}

Feed *
feed_read(const Position *from, const Position *until, const FeedQuery *query)
{
	Feed	   *feed = palloc0(sizeof(Feed));
	FeedReader	reader = {
		.query = query,
		.feed = feed,
		.room = Max(query->max_events, 64),
		.now = clock_now(),
	};

	feed->seqs = palloc(sizeof(int64) * reader.room);
	feed->until = until != NULL ? *until : position_now();
	reader.event_context = AllocSetContextCreate(CurrentMemoryContext, "clutch feed",
												 ALLOCSET_DEFAULT_SIZES);
	/* an end that was chosen earlier must stay the same */
	feed_read_epochs(&reader, from, until == NULL);
	MemoryContextDelete(reader.event_context);
	qsort(feed->seqs, feed->n, sizeof(int64), order_int64);
	return feed;
}
