/*-------------------------------------------------------------------------
 *
 * subscription.c
 *	  Subscriptions: durable readers of the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/guard.h"
#include "base/rows.h"
#include "feed/bookmark.h"
#include "feed/start.h"
#include "feed/subscription.h"
#include "miscadmin.h"
#include "protocol/limits.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "trust/principal.h"
#include "trust/quota.h"
#include "utils/timestamp.h"

/* columns of clutch.subscription */
enum
{
	Anum_subscription_name = 1,
	Anum_subscription_owner,
	Anum_subscription_filter,
	Anum_subscription_members,
	Anum_subscription_created_at,
	Natts_subscription = Anum_subscription_created_at
};

ROWS_CHECK_COLUMNS(Natts_subscription, SUBSCRIPTION);

typedef struct Subscription
{
	Slice		name;
	Oid			owner;
	Jsonb	   *filter;
	int			members;
} Subscription;

/*
 * A bookmark moves past events that do not match the filter after so many of
 * them, or after one of them and so much time.  If it never did,
 * clutch.subscriptions would show a reader that keeps up as lagging; if it
 * always did, an idle reader would write.
 */
#define SKIP_MIN_EVENTS		256
#define SKIP_MIN_TIME		(10 * USECS_PER_SEC)

/*
 * The guard of the name itself is numbered like this among the guards of the
 * members.
 */
#define GUARD_OF_NAME		(-1)

/* ---------------------------------------------------------- subscriptions */

static Subscription *
subscription_keep(const RowScan *scan)
{
	Subscription *subscription = palloc(sizeof(Subscription));
	Datum		v[Natts_subscription];
	bool		n[Natts_subscription];

	rows_keep(scan, v, n);
	subscription->name = column_text(v, n, Anum_subscription_name);
	subscription->owner = DatumGetObjectId(v[Anum_subscription_owner - 1]);
	subscription->filter = DatumGetJsonbP(v[Anum_subscription_filter - 1]);
	subscription->members = DatumGetInt32(v[Anum_subscription_members - 1]);
	return subscription;
}

/* Returns NULL if the role has no such subscription. */
static Subscription *
subscription_find(Oid owner, Slice name)
{
	Subscription *subscription = NULL;
	RowScan		scan;

	rows_begin(&scan, TABLE_SUBSCRIPTION, INDEX_SUBSCRIPTION, ROWS_LATEST, AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, name);
	rows_start(&scan);
	if (rows_next(&scan))
		subscription = subscription_keep(&scan);
	rows_end(&scan);
	return subscription;
}

/*
 * Returns NULL if no role has such a subscription.  Of several, one whose owner
 * does not exist any more is meant, because nobody else can name it.
 */
static Subscription *
subscription_find_of_any(Slice name)
{
	Subscription *subscription = NULL;
	bool		is_gone = false;
	bool		several = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_SUBSCRIPTION, INDEX_SUBSCRIPTION, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (!is_gone && rows_next(&scan))
	{
		if (!slice_equal(rows_text(&scan, Anum_subscription_name), name))
			continue;
		several = subscription != NULL;
		subscription = subscription_keep(&scan);
		is_gone = !principal_exists(subscription->owner);
	}
	rows_end(&scan);
	if (several && !is_gone)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("name", "AMBIGUOUS_NAME"),
				 errmsg("several roles have a subscription \"%.*s\"", name.len, name.s),
				 errhint("Do it as the owner of the one that is meant; the view clutch.subscriptions shows the owners.")));
	return subscription;
}

/*
 * Returns the subscription that the current role means, or NULL if there is
 * none, or if it belongs to another role.
 */
static Subscription *
subscription_resolve(Slice name)
{
	Oid			role = principal_role();
	Subscription *subscription = subscription_find(role, name);

	if (subscription == NULL && principal_is_operator(role))
		subscription = subscription_find_of_any(name);
	return subscription;
}

static Subscription *
subscription_require(Subscription *subscription, Slice name)
{
	if (subscription == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errproblem("name", "SUBSCRIPTION_NOT_FOUND"),
				 errmsg("subscription %s does not exist", place_quote(name)),
				 errhint("Create it with SELECT clutch.subscribe(name); the view clutch.subscriptions lists those of your role.")));
	return subscription;
}

/* Returns the guard of a member, or of the name itself. */
static uint64
subscription_guard(Oid owner, Slice name, int member)
{
	return guard_key(GUARD_SUBSCRIPTION, name, SLICE_NONE, ((int64) owner << 32) + member);
}

bool
subscription_is_inbox(const Filter *filter)
{
	int			i;

	if (filter->topics.n > 0 && principal_agents().n > 0)
		return true;
	for (i = 0; i < filter->agents.n; i++)
		if (!principal_speaks_for(filter->agents.items[i]))
			return false;
	return filter->agents.n > 0;
}

/* --------------------------------------------------- numbers of batches */

/*
 * The number of a batch is a count times SUBSCRIPTION_MAX_MEMBERS, plus the
 * number of the member, so that no two members are given the same batch.  The
 * count begins with the time, so that the numbers are higher than those of an
 * earlier subscription of this name.
 */
static int64
subscription_first_batch(TimestampTz created_at, int member)
{
	return created_at * SUBSCRIPTION_MAX_MEMBERS + member;
}

/* Versions up to 0.2.0 numbered batches without the member. */
static int64
subscription_next_batch(int64 batch, int member)
{
	return (batch / SUBSCRIPTION_MAX_MEMBERS + 1) * SUBSCRIPTION_MAX_MEMBERS + member;
}

/*
 * A number that no member of the subscription can have is that of an earlier
 * subscription or version.
 */
static bool
subscription_batch_is_of_other(int64 batch, int member, int members)
{
	int64		of = batch % SUBSCRIPTION_MAX_MEMBERS;

	return of != member && of < members;
}

/* -------------------------------------------------- creating and dropping */

static void
subscription_insert(Oid owner, Slice name, Jsonb *filter, int members)
{
	Datum		values[Natts_subscription];
	bool		nulls[Natts_subscription] = {0};

	values[Anum_subscription_name - 1] = PointerGetDatum(slice_to_text(name));
	values[Anum_subscription_owner - 1] = ObjectIdGetDatum(owner);
	values[Anum_subscription_filter - 1] = JsonbPGetDatum(filter);
	values[Anum_subscription_members - 1] = Int32GetDatum(members);
	values[Anum_subscription_created_at - 1] = TimestampTzGetDatum(clock_now());
	(void) rows_insert(TABLE_SUBSCRIPTION, values, nulls);
}

SubscriptionUse
subscription_use(Oid owner, RowSnapshot which)
{
	SubscriptionUse use = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_SUBSCRIPTION, INDEX_SUBSCRIPTION, which, AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		use.subscriptions++;
		use.members += rows_int4(&scan, Anum_subscription_members);
	}
	rows_end(&scan);
	return use;
}

/*
 * Checks the quotas.  This must be called after the insertion, so that if two
 * sessions insert at once, the later one counts both rows.
 */
static void
subscription_check_quotas(Oid owner, int members)
{
	const QuotaLimits *limits = quota_limits(QUOTA_BIT(QUOTA_SUBSCRIPTIONS) | QUOTA_BIT(QUOTA_MEMBERS));
	SubscriptionUse use;

	if (limits == NULL)
		return;
	use = subscription_use(owner, ROWS_DIRTY);
	quota_check(limits, QUOTA_SUBSCRIPTIONS, use.subscriptions, 1, 0, "name");
	quota_check(limits, QUOTA_MEMBERS, use.members, members, 0, "members");
}

static void
subscription_require_same(const Subscription *subscription, Jsonb *filter, int members)
{
	if (subscription->members != members ||
		compareJsonbContainers(&subscription->filter->root, &filter->root) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errproblem("name", "SUBSCRIPTION_EXISTS"),
				 errmsg("subscription \"%.*s\" already exists with another filter or number of members",
						subscription->name.len, subscription->name.s),
				 errhint("Run SELECT clutch.unsubscribe(name) first, or subscribe under another name.")));
}

/* If it starts within a transaction, the rest of that is an open batch. */
static Bookmark
subscription_bookmark(Oid owner, Slice name, Start start)
{
	Bookmark	bookmark = {owner, name};

	bookmark.seen = start.from;
	bookmark.is_open = start.is_between;
	bookmark.until = start.until;
	bookmark.place = start.place;
	return bookmark;
}

void
subscription_create(Slice name, Jsonb *document, Slice start, int members)
{
	Oid			owner = principal_role();
	Bookmark	bookmark;
	TimestampTz created_at = GetCurrentTimestamp();
	ProblemList *faults = problem_list();
	Subscription *subscription;
	Filter		filter;

	if (members < 1 || members > SUBSCRIPTION_MAX_MEMBERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("members", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"members\" must be between 1 and %d, not %d",
						SUBSCRIPTION_MAX_MEMBERS, members)));
	/* it will be stored */
	limits_check(document, "", faults);
	if (faults->n > 0)
		problem_raise(faults, ERRCODE_INVALID_PARAMETER_VALUE, "filter");
	filter_read(document, &filter);
	/*
	 * keep the guard, because until we commit no other session can see that
	 * the name is taken
	 */
	guard_keep(subscription_guard(owner, name, GUARD_OF_NAME));
	subscription = subscription_find(owner, name);
	if (subscription != NULL)
	{
		subscription_require_same(subscription, document, members);
		return;
	}
	bookmark = subscription_bookmark(owner, name, start_parse(start, "start"));
	/*
	 * a restore that could not assign an owner leaves bookmarks without a
	 * subscription behind
	 */
	bookmark_delete_all(owner, name);
	subscription_insert(owner, name, document, members);
	subscription_check_quotas(owner, members);
	for (bookmark.member = 0; bookmark.member < members; bookmark.member++)
	{
		bookmark.batch = subscription_first_batch(created_at, bookmark.member);
		bookmark.generation = 0;
		bookmark_save(&bookmark);
	}
}

bool
subscription_drop(Slice name)
{
	Subscription *subscription = subscription_resolve(name);
	Oid			owner;
	RowScan		scan;
	int			member;

	if (subscription == NULL)
		return false;
	owner = subscription->owner;
	guard_keep(subscription_guard(owner, name, GUARD_OF_NAME));
	subscription = subscription_find(owner, name);
	if (subscription == NULL)
		return false;
	for (member = 0; member < subscription->members; member++)
		guard_keep(subscription_guard(owner, name, member));
	bookmark_delete_all(owner, name);
	rows_begin(&scan, TABLE_SUBSCRIPTION, INDEX_SUBSCRIPTION, ROWS_LATEST, RowExclusiveLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, name);
	(void) rows_delete_first(&scan);
	return true;
}

/* --------------------------------------------------------------- reading */

static void
subscription_check_member(const Subscription *subscription, int member)
{
	if (member < 0 || member >= subscription->members)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("member", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"member\" must be between 0 and %d, not %d",
						subscription->members - 1, member),
				 errhint("Members are counted from 0, up to the number that clutch.subscribe was given.")));
}

/*
 * Takes the guard of a member until the transaction ends.  Returns NULL if
 * another session has it and wait is false.  While we waited, the subscription
 * may have been dropped or created again, so it is read again.
 */
static Subscription *
subscription_take_member(Slice name, int member, bool wait)
{
	Subscription *subscription = subscription_require(subscription_resolve(name), name);
	uint64		guard = subscription_guard(subscription->owner, name, member);

	subscription_check_member(subscription, member);
	if (wait)
		guard_keep(guard);
	else if (!guard_try_keep(guard))
		return NULL;
	subscription = subscription_require(subscription_find(subscription->owner, name), name);
	subscription_check_member(subscription, member);
	return subscription;
}

/* Returns the part of the feed after the place that was committed. */
static Delivery
subscription_deliver_rest(const Feed *feed, const Bookmark *bookmark, int max_events)
{
	Delivery	delivery = {0, feed->seqs, bookmark->batch};

	while (delivery.n < feed->n && delivery.seqs[delivery.n] <= bookmark->place)
		delivery.n++;
	delivery.seqs += delivery.n;
	delivery.n = Min(feed->n - delivery.n, max_events);
	return delivery;
}

/*
 * Storing that events without interest have been passed over costs a write, so
 * it is done only after many of them, or after some time.
 */
static bool
subscription_is_worth_skipping(const Bookmark *bookmark, const Feed *feed)
{
	return feed->examined >= SKIP_MIN_EVENTS ||
		(feed->examined > 0 && clock_now() - bookmark->moved_at >= SKIP_MIN_TIME);
}

/* Returns the rest of the open batch, or else opens the next one. */
static Delivery
subscription_read_batch(Bookmark *bookmark, const FeedQuery *query)
{
	Delivery	none = {0};
	bool		was_open = bookmark->is_open;
	Feed	   *feed;

	if (bookmark->is_open)
	{
		Delivery	rest;

		feed = feed_read(&bookmark->seen, &bookmark->until, query);
		rest = subscription_deliver_rest(feed, bookmark, query->max_events);
		if (rest.n > 0)
			return rest;
		bookmark->seen = bookmark->until;
		bookmark->is_open = false;
	}
	feed = feed_read(&bookmark->seen, NULL, query);
	if (feed->n == 0)
	{
		if (was_open || subscription_is_worth_skipping(bookmark, feed))
		{
			bookmark->seen = feed->until;
			bookmark_save(bookmark);
		}
		return none;
	}
	bookmark->batch = subscription_next_batch(bookmark->batch, bookmark->member);
	bookmark->place = 0;
	bookmark->until = feed->until;
	bookmark->is_open = true;
	bookmark_save(bookmark);
	return subscription_deliver_rest(feed, bookmark, query->max_events);
}

Delivery
subscription_read(Slice name, int max_events, int member, FeedRight right, void *right_arg)
{
	Subscription *subscription = subscription_take_member(name, member, false);
	Delivery	none = {0};
	Filter		filter;
	FeedQuery	query = {&filter, right, right_arg, 1, member, max_events};
	Bookmark	bookmark;

	if (subscription == NULL)
		return none;
	query.members = subscription->members;
	filter_read(subscription->filter, &filter);
	if (subscription_is_inbox(&filter))
		query.right = NULL;
	bookmark = bookmark_read(subscription->owner, name, member);
	return bookmark.is_ahead ? none : subscription_read_batch(&bookmark, &query);
}

void
subscription_commit(Slice name, int64 batch, int64 seq, int member)
{
	Subscription *subscription = subscription_take_member(name, member, true);
	Bookmark	bookmark = bookmark_read(subscription->owner, name, member);

	if (batch > bookmark.batch ||
		(batch < bookmark.batch &&
		 subscription_batch_is_of_other(batch, member, subscription->members)))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_POSITION_REFUSED),
				 errproblem("pos", "POSITION_IN_FUTURE"),
				 errmsg("subscription \"%.*s\" has not given the batch of this pos to member %d",
						name.len, name.s, member),
				 errhint("Commit the pos of a row that clutch.read returned to this member, and pass both functions the same member.")));
	/* it is committed already if it belongs to an earlier batch or place */
	if (batch < bookmark.batch || !bookmark.is_open || seq <= bookmark.place)
		return;
	bookmark.place = seq;
	bookmark_save(&bookmark);
}
