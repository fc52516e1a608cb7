/*-------------------------------------------------------------------------
 *
 * subscription.c
 *	  Durable cursors on the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/guard.h"
#include "base/rows.h"
#include "catalog/pg_class.h"
#include "feed/subscription.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "trust/principal.h"
#include "utils/acl.h"
#include "utils/timestamp.h"

/* columns of clutch.subscription */
enum
{
	Anum_name = 1, Anum_owner, Anum_filter, Anum_members, Anum_created_at,
	Natts_subscription = Anum_created_at
};

/* columns of clutch.subscription_position */
enum
{
	Anum_position_name = 1, Anum_position_member, Anum_position_generation,
	Anum_position_batch, Anum_position_place, Anum_position_seen,
	Anum_position_until, Anum_position_moved_at,
	Natts_position = Anum_position_moved_at
};

typedef struct Subscription
{
	Slice		name;
	Oid			owner;
	Jsonb	   *filter;
	int			members;
} Subscription;

/* where a member is */
typedef struct Cursor
{
	Slice		name;
	int			member;
	int64		generation;
	int64		batch;
	int64		place;
	TimestampTz moved_at;
	Position	seen;
	bool		is_open;		/* a batch, up to until */
	Position	until;

	/*
	 * Somebody has moved it since our statement began, in the time between its
	 * snapshot and the guard: there is nothing to read for us.
	 */
	bool		is_ahead;
} Cursor;

/*
 * After so many events that nobody wants, or one and so long, the cursor moves
 * though nothing was read: clutch.subscriptions must not show a reader who
 * keeps up as one who is behind, and an idle one must not write.
 */
#define MOVE_AFTER		256
#define MOVE_AFTER_TIME	(10 * USECS_PER_SEC)

/* ---------------------------------------------------------- subscriptions */

static Subscription *
find(Slice name)
{
	Subscription *subscription = NULL;
	Datum		v[Natts_subscription];
	bool		n[Natts_subscription];
	RowScan		scan;

	rows_begin(&scan, TABLE_SUBSCRIPTION, INDEX_SUBSCRIPTION, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		rows_keep(&scan, v, n);
		subscription = palloc(sizeof(Subscription));
		subscription->name = column_text(v, n, Anum_name);
		subscription->owner = DatumGetObjectId(v[Anum_owner - 1]);
		subscription->filter = DatumGetJsonbP(v[Anum_filter - 1]);
		subscription->members = DatumGetInt32(v[Anum_members - 1]);
	}
	rows_end(&scan);
	return subscription;
}

static void
require_owner(const Subscription *subscription)
{
	if (principal_role() == subscription->owner || principal_is_operator())
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem("", "NOT_YOUR_SUBSCRIPTION"),
			 errmsg("subscription \"%.*s\" belongs to another role",
					subscription->name.len, subscription->name.s),
			 errhint("Subscribe under a name of your own.")));
}

static Subscription *
require(Slice name)
{
	Subscription *subscription = find(name);

	if (subscription == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errproblem("", "SUBSCRIPTION_NOT_FOUND"),
				 errmsg("there is no subscription \"%.*s\"", name.len, name.s),
				 errhint("SELECT clutch.subscribe(name) first; clutch.subscriptions lists them.")));
	require_owner(subscription);
	return subscription;
}

void
subscription_require_reader(const Filter *filter)
{
	int			i;

	if (pg_class_aclcheck(rows_table_oid(TABLE_EVENTS), GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;
	for (i = 0; i < filter->agents.n; i++)
		if (!principal_speaks_for(filter->agents.items[i]))
			break;
	if (filter->agents.n == 0 || i < filter->agents.n)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/agent", "NOT_A_READER"),
				 errmsg("your role may not read all of the log"),
				 errhint("Filter by an agent that your role speaks for, or let an operator run SELECT clutch.grant_reader(role_name).")));
}

Position
subscription_start(Slice start)
{
	Position	position;

	if (slice_equal(start, SLICE_OF("beginning")))
		return position_beginning();
	if (slice_equal(start, SLICE_OF("now")))
		return position_now();
	if (!position_parse(start, &position))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("", "WRONG_FORMAT"),
				 errmsg("%s is no position", place_quote(start)),
				 errhint("Give 'beginning', 'now', or what clutch.position() or clutch.read_from answered.")));
	position_settle(&position);
	return position;
}

/* --------------------------------------------------------------- cursors */

static Position
stored_position(Slice text, bool *is_ahead)
{
	Position	position;

	if (!position_parse(text, &position))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("\"%.*s\" in clutch.subscription_position is no position", text.len, text.s),
				 errhint("SELECT clutch.unsubscribe(name), and subscribe anew.")));
	if (position_is_ahead(&position))
		*is_ahead = true;
	else
		position_settle(&position);
	return position;
}

static Cursor
cursor_read(Slice name, int member)
{
	Cursor		cursor = {name, member};
	Datum		v[Natts_position];
	bool		n[Natts_position];
	RowScan		scan;
	bool		found;

	rows_begin(&scan, TABLE_SUBSCRIPTION_POSITION, INDEX_SUBSCRIPTION_POSITION, ROWS_LATEST,
			   AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	rows_key_int4(&scan, 2, BTEqualStrategyNumber, member);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
		rows_keep(&scan, v, n);
	rows_end(&scan);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("subscription \"%.*s\" has no position", name.len, name.s),
				 errhint("SELECT clutch.unsubscribe(name), and subscribe anew.")));
	cursor.generation = DatumGetInt64(v[Anum_position_generation - 1]);
	cursor.batch = DatumGetInt64(v[Anum_position_batch - 1]);
	cursor.place = DatumGetInt64(v[Anum_position_place - 1]);
	cursor.moved_at = DatumGetTimestampTz(v[Anum_position_moved_at - 1]);
	cursor.seen = stored_position(column_text(v, n, Anum_position_seen), &cursor.is_ahead);
	cursor.is_open = !n[Anum_position_until - 1];
	if (cursor.is_open)
		cursor.until = stored_position(column_text(v, n, Anum_position_until), &cursor.is_ahead);
	return cursor;
}

static void
cursor_delete(const Cursor *cursor, int64 generation)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_SUBSCRIPTION_POSITION, INDEX_SUBSCRIPTION_POSITION, ROWS_LATEST,
			   RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, cursor->name);
	rows_key_int4(&scan, 2, BTEqualStrategyNumber, cursor->member);
	rows_key_int8(&scan, 3, BTEqualStrategyNumber, generation);
	(void) rows_delete_first(&scan);
}

/* newest first: the row before goes */
static void
cursor_save(Cursor *cursor)
{
	Datum		values[Natts_position];
	bool		nulls[Natts_position] = {0};

	values[Anum_position_name - 1] = PointerGetDatum(slice_to_text(cursor->name));
	values[Anum_position_member - 1] = Int32GetDatum(cursor->member);
	values[Anum_position_generation - 1] = Int64GetDatum(++cursor->generation);
	values[Anum_position_batch - 1] = Int64GetDatum(cursor->batch);
	values[Anum_position_place - 1] = Int64GetDatum(cursor->place);
	column_put_text(values, nulls, Anum_position_seen,
					slice_of_cstring(position_text(&cursor->seen)));
	column_put_text(values, nulls, Anum_position_until, cursor->is_open ?
					slice_of_cstring(position_text(&cursor->until)) : SLICE_NONE);
	values[Anum_position_moved_at - 1] = TimestampTzGetDatum(clock_now());
	(void) rows_insert(TABLE_SUBSCRIPTION_POSITION, values, nulls);
	if (cursor->generation > 1)
		cursor_delete(cursor, cursor->generation - 1);
}

/* --------------------------------------------------- making and dropping */

static void
insert(Slice name, Jsonb *filter, int members)
{
	Datum		values[Natts_subscription];
	bool		nulls[Natts_subscription] = {0};

	values[Anum_name - 1] = PointerGetDatum(slice_to_text(name));
	values[Anum_owner - 1] = ObjectIdGetDatum(principal_role());
	values[Anum_filter - 1] = JsonbPGetDatum(filter);
	values[Anum_members - 1] = Int32GetDatum(members);
	values[Anum_created_at - 1] = TimestampTzGetDatum(clock_now());
	(void) rows_insert(TABLE_SUBSCRIPTION, values, nulls);
}

/* all members' */
static void
forget_places(Slice name)
{
	RowScan		scan;

	do
	{
		rows_begin(&scan, TABLE_SUBSCRIPTION_POSITION, INDEX_SUBSCRIPTION_POSITION, ROWS_LATEST,
				   RowExclusiveLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	}
	while (rows_delete_first(&scan));
}

static void
require_same(const Subscription *subscription, Jsonb *filter, int members)
{
	require_owner(subscription);
	if (subscription->members != members ||
		compareJsonbContainers(&subscription->filter->root, &filter->root) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errproblem("", "SUBSCRIPTION_EXISTS"),
				 errmsg("subscription \"%.*s\" exists with another filter or number of members",
						subscription->name.len, subscription->name.s),
				 errhint("SELECT clutch.unsubscribe(name) first, or take another name.")));
}

void
subscription_create(Slice name, Jsonb *document, Slice start, int members)
{
	Cursor		cursor = {name};
	Subscription *subscription;
	Filter		filter;

	if (members < 1 || members > MOST_MEMBERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"members\" must be between 1 and %d, not %d", MOST_MEMBERS, members)));
	filter_read(document, &filter);
	subscription_require_reader(&filter);
	/* kept: until we commit, nobody else can tell whether the name is taken */
	(void) guard_keep(guard_key(GUARD_SUBSCRIPTION, name, SLICE_NONE, -1), true);
	subscription = find(name);
	if (subscription != NULL)
	{
		require_same(subscription, document, members);
		return;
	}
	cursor.seen = subscription_start(start);
	/* a restore that had no role for the owner has left the places alone */
	forget_places(name);
	insert(name, document, members);
	for (cursor.member = 0; cursor.member < members; cursor.member++)
	{
		cursor.generation = 0;
		cursor_save(&cursor);
	}
}

bool
subscription_drop(Slice name)
{
	Subscription *subscription;
	RowScan		scan;
	int			member;

	(void) guard_keep(guard_key(GUARD_SUBSCRIPTION, name, SLICE_NONE, -1), true);
	subscription = find(name);
	if (subscription == NULL)
		return false;
	require_owner(subscription);
	for (member = 0; member < subscription->members; member++)
		(void) guard_keep(guard_key(GUARD_SUBSCRIPTION, name, SLICE_NONE, member), true);
	forget_places(name);
	rows_begin(&scan, TABLE_SUBSCRIPTION, INDEX_SUBSCRIPTION, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	(void) rows_delete_first(&scan);
	return true;
}

/* --------------------------------------------------------------- reading */

static void
check_member(const Subscription *subscription, int member)
{
	if (member < 0 || member >= subscription->members)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"member\" must be between 0 and %d, not %d",
						subscription->members - 1, member),
				 errhint("Members are counted from 0; clutch.subscribe said how many there are.")));
}

/* what is left of the feed behind the place */
static Delivery
deliver(const Feed *feed, const Cursor *cursor, int max_events)
{
	Delivery	delivery = {0, feed->seqs, cursor->batch};

	while (delivery.n < feed->n && delivery.seqs[delivery.n] <= cursor->place)
		delivery.n++;
	delivery.seqs += delivery.n;
	delivery.n = Min(feed->n - delivery.n, max_events);
	return delivery;
}

static bool
is_worth_moving(const Cursor *cursor, const Feed *feed)
{
	return feed->examined >= MOVE_AFTER ||
		(feed->examined > 0 && clock_now() - cursor->moved_at >= MOVE_AFTER_TIME);
}

static Delivery
read_next(Cursor *cursor, const FeedQuery *query)
{
	Delivery	none = {0};
	bool		was_open = cursor->is_open;
	Feed	   *feed;

	if (cursor->is_open)
	{
		Delivery	rest;

		feed = feed_read(&cursor->seen, &cursor->until, query);
		rest = deliver(feed, cursor, query->max_events);
		if (rest.n > 0)
			return rest;
		cursor->seen = cursor->until;
		cursor->is_open = false;
	}
	feed = feed_read(&cursor->seen, NULL, query);
	if (feed->n == 0)
	{
		if (was_open || is_worth_moving(cursor, feed))
		{
			cursor->seen = feed->until;
			cursor_save(cursor);
		}
		return none;
	}
	cursor->batch++;
	cursor->place = 0;
	cursor->until = feed->until;
	cursor->is_open = true;
	cursor_save(cursor);
	return deliver(feed, cursor, query->max_events);
}

/*
 * The subscription, once its member is ours until the transaction ends.  Until
 * then somebody may drop it, and another role take the name: so it is looked at
 * again.  NULL: somebody else has the member.
 */
static Subscription *
take_member(Slice name, int member, bool wait)
{
	Subscription *subscription = require(name);

	check_member(subscription, member);
	if (!guard_keep(guard_key(GUARD_SUBSCRIPTION, name, SLICE_NONE, member), wait))
		return NULL;
	subscription = require(name);
	check_member(subscription, member);
	return subscription;
}

Delivery
subscription_read(Slice name, int max_events, int member)
{
	Subscription *subscription = take_member(name, member, false);
	Delivery	none = {0};
	Filter		filter;
	FeedQuery	query = {&filter, 1, member, max_events};
	Cursor		cursor;

	if (subscription == NULL)
		return none;
	query.members = subscription->members;
	filter_read(subscription->filter, &filter);
	subscription_require_reader(&filter);
	cursor = cursor_read(name, member);
	return cursor.is_ahead ? none : read_next(&cursor, &query);
}

void
subscription_commit(Slice name, int64 batch, int64 seq, int member)
{
	Cursor		cursor;

	(void) take_member(name, member, true);
	cursor = cursor_read(name, member);
	if (batch > cursor.batch)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_POSITION_REFUSED),
				 errproblem("", "POSITION_IN_FUTURE"),
				 errmsg("subscription \"%.*s\" has not come to batch " INT64_FORMAT " yet, it is at " INT64_FORMAT,
						name.len, name.s, batch, cursor.batch),
				 errhint("Commit the pos of a row that clutch.read answered to this member.")));
	/* of a batch before, or said again: it is done already */
	if (batch < cursor.batch || !cursor.is_open || seq <= cursor.place)
		return;
	cursor.place = seq;
	cursor_save(&cursor);
}
