/*-------------------------------------------------------------------------
 *
 * quota.c
 *	  Quotas: how much a role may accumulate and send.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/memo.h"
#include "base/stale.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "trust/principal.h"
#include "trust/quota.h"

/* columns of clutch.quota */
enum
{
	Anum_quota_grantee = 1,
	Anum_quota_what,
	Anum_quota_value,
	Natts_quota = Anum_quota_value
};

ROWS_CHECK_COLUMNS(Natts_quota, QUOTA);

/* columns of clutch.quota_refusal; n is updated in place */
enum
{
	Anum_quota_refusal_what = 1,
	Anum_quota_refusal_n,
	Natts_quota_refusal = Anum_quota_refusal_n
};

ROWS_CHECK_COLUMNS(Natts_quota_refusal, QUOTA_REFUSAL);

/*
 * the names in clutch.quota.what, and what a role can do when it has too many
 */
static const struct
{
	const char *name;
	const char *advice;
}			kinds[NUM_QUOTA_KINDS] = {
	[QUOTA_OPEN_REQUESTS] = {"open_requests", "Wait until tasks are over that the role has requested, or cancel some of them."},
	[QUOTA_STEPS] = {"steps", "Finish the tasks whose steps are kept, or keep fewer steps of each."},
	[QUOTA_SUBSCRIPTIONS] = {"subscriptions", "Remove a subscription of the role by clutch.unsubscribe."},
	[QUOTA_MEMBERS] = {"subscription_members", "Subscribe with fewer members, or remove a subscription of the role by clutch.unsubscribe."},
	[QUOTA_SCHEDULES] = {"schedules", "Remove a schedule of the role by clutch.unschedule."},
	[QUOTA_ARTIFACT_BYTES] = {"artifact_bytes", "An artifact that no event attaches is removed when it is older than clutch.artifact_grace."},
	[QUOTA_EVENTS_PER_MINUTE] = {"events_per_minute", NULL},
	[QUOTA_BYTES_PER_MINUTE] = {"bytes_per_minute", NULL},
	[QUOTA_BYTES_PER_DAY] = {"bytes_per_day", NULL},
};

const char *
quota_kind_name(QuotaKind kind)
{
	return kinds[kind].name;
}

/* Returns false if it is a kind that this version does not know. */
static bool
quota_kind_parse(Slice name, QuotaKind *kind)
{
	int			i;

	for (i = 0; i < NUM_QUOTA_KINDS; i++)
		if (slice_is(name, kinds[i].name))
		{
			*kind = (QuotaKind) i;
			return true;
		}
	return false;
}

/* --------------------------------------------------------------------- rows */

static bool
quota_row_read(const RowScan *scan, Quota *quota)
{
	quota->grantee = rows_oid(scan, Anum_quota_grantee);
	quota->value = rows_int8(scan, Anum_quota_value);
	return quota_kind_parse(rows_text(scan, Anum_quota_what), &quota->kind);
}

List *
quota_list(void)
{
	List	   *list = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_QUOTA, INDEX_QUOTA, ROWS_ACTIVE, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Quota		quota;

		if (quota_row_read(&scan, &quota))
		{
			list = lappend(list, palloc(sizeof(Quota)));
			*(Quota *) llast(list) = quota;
		}
	}
	rows_end(&scan);
	return list;
}

static void
quota_read_rows(Oid grantee, QuotaLimits *limits)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_QUOTA, INDEX_QUOTA, ROWS_LATEST, AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, grantee);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Quota		quota;

		if (quota_row_read(&scan, &quota))
			limits->of[quota.kind] = quota.value;
	}
	rows_end(&scan);
}

static bool
quota_has_rows(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_QUOTA, INDEX_QUOTA, ROWS_LATEST, AccessShareLock);
	return rows_look(&scan, NULL);
}

/* ------------------------------------------------------------------- memory */

/* when so many roles are cached, the cache is emptied */
#define MOST_REMEMBERED		1024

typedef struct QuotaMemo
{
	uint64		role;			/* key */
	uint64		changes;		/* changes of the table when it was read */
	uint32		limited;		/* kinds that have a limit */
	QuotaLimits limits;
} QuotaMemo;

/* no role had a quota at this number of changes; 0 if not known */
static uint64 unused_at = 0;

static bool
quota_is_unused(uint64 changes)
{
	if (unused_at == changes)
		return true;
	if (quota_has_rows())
		return false;
	unused_at = changes;
	return true;
}

static void
quota_read(Oid role, QuotaMemo *memo)
{
	int			i;

	for (i = 0; i < NUM_QUOTA_KINDS; i++)
		memo->limits.of[i] = QUOTA_NONE;
	quota_read_rows(InvalidOid, &memo->limits);
	quota_read_rows(role, &memo->limits);
	memo->limited = 0;
	for (i = 0; i < NUM_QUOTA_KINDS; i++)
		if (memo->limits.of[i] != QUOTA_NONE)
			memo->limited |= QUOTA_BIT(i);
}

static const QuotaMemo *
quota_remembered(Oid role, uint64 changes)
{
	static HTAB *memory = NULL;
	uint64		key = role;
	QuotaMemo	read;
	QuotaMemo  *memo;

	memory = memo_table(memory, "clutch quotas", sizeof(QuotaMemo), MOST_REMEMBERED);
	memo = hash_search(memory, &key, HASH_FIND, NULL);
	if (memo != NULL && memo->changes == changes)
		return memo;
	read.role = key;
	read.changes = changes;
	quota_read(role, &read);
	memo = hash_search(memory, &key, HASH_ENTER, NULL);
	*memo = read;
	return memo;
}

const QuotaLimits *
quota_limits(uint32 kinds)
{
	uint64		changes = stale_count(STALE_QUOTAS);
	const QuotaMemo *memo;
	Oid			role;

	if (quota_is_unused(changes))
		return NULL;
	role = principal_role();
	memo = quota_remembered(role, changes);
	return (memo->limited & kinds) != 0 && !principal_is_operator(role) ? &memo->limits : NULL;
}

void
quota_announce(void)
{
	stale_announce(STALE_QUOTAS);
}

/* ----------------------------------------------------------------- refusing */

/* Returns, for programs, what the message and the hint say. */
static char *
quota_members(const QuotaLimits *limits, QuotaKind kind, int64 used, int64 added, TimestampTz until)
{
	char	   *members = psprintf(", \"quota\": \"%s\", \"limit\": " INT64_FORMAT ", \"used\": " INT64_FORMAT ", \"asked\": " INT64_FORMAT,
								   kinds[kind].name, limits->of[kind], used, added);

	if (until != 0)
		members = psprintf("%s, \"retry_at\": \"%s\"", members, clock_rfc3339(until));
	return members;
}

static char *
quota_advice(QuotaKind kind, TimestampTz until)
{
	const char *advice = until == 0 ? kinds[kind].advice :
		psprintf("Send it again after %s.", clock_rfc3339(until));

	return psprintf("%s Only an operator can raise the limit: clutch.set_quota(role_name, what, value).", advice);
}

void
quota_check(const QuotaLimits *limits, QuotaKind kind, int64 total, int64 added,
			TimestampTz until, const char *place)
{
	int64		used = total - added;

	if (total <= limits->of[kind])
		return;
	/* the error rolls back what the transaction has written, but not this */
	rows_count_in_place(TABLE_QUOTA_REFUSAL, INDEX_QUOTA_REFUSAL, slice_of_cstring(kinds[kind].name),
						Anum_quota_refusal_n);
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_QUOTA_EXCEEDED),
			 errproblem_with(place, "QUOTA_EXCEEDED", quota_members(limits, kind, used, added, until)),
			 errmsg("role \"%s\" would exceed its quota of %s: limit " INT64_FORMAT ", used " INT64_FORMAT ", asked for " INT64_FORMAT,
					GetUserNameFromId(principal_role(), false), kinds[kind].name,
					limits->of[kind], used, added),
			 errhint("%s", quota_advice(kind, until))));
}
