/*-------------------------------------------------------------------------
 *
 * schedule.c
 *	  Schedules: envelopes that are sent again and again.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/guard.h"
#include "base/savepoint.h"
#include "common/pg_prng.h"
#include "flow/schedule_part.h"
#include "miscadmin.h"
#include "protocol/cron.h"
#include "protocol/problem.h"
#include "store/event.h"
#include "trust/principal.h"
#include "trust/quota.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

ROWS_CHECK_COLUMNS(Natts_schedule, SCHEDULE);

/* so many missed times are counted at once; counting the rest is not worthwhile */
#define MOST_MISSED		10000

/* -------------------------------------------------------------------- rows */

static void
schedule_keep(const RowScan *scan, Schedule *s)
{
	Datum		v[Natts_schedule];
	bool		n[Natts_schedule];

	rows_keep(scan, v, n);
	s->tid = rows_tid(scan);
	s->name = column_text(v, n, Anum_schedule_name);
	s->owner = DatumGetObjectId(v[Anum_schedule_owner - 1]);
	s->cron = column_text(v, n, Anum_schedule_cron);
	s->timezone = column_text(v, n, Anum_schedule_timezone);
	s->envelope = DatumGetJsonbP(v[Anum_schedule_envelope - 1]);
	s->next_at = DatumGetTimestampTz(v[Anum_schedule_next_at - 1]);
	s->last_at = n[Anum_schedule_last_at - 1] ? 0 : DatumGetTimestampTz(v[Anum_schedule_last_at - 1]);
	s->last_error = column_text(v, n, Anum_schedule_last_error);
	s->runs = DatumGetInt64(v[Anum_schedule_runs - 1]);
	s->missed = DatumGetInt64(v[Anum_schedule_missed - 1]);
	s->created_at = DatumGetTimestampTz(v[Anum_schedule_created_at - 1]);
}

void
schedule_write_row(Schedule *s, bool is_new)
{
	Datum		v[Natts_schedule] = {0};
	bool		n[Natts_schedule] = {0};

	column_put_text(v, n, Anum_schedule_name, s->name);
	v[Anum_schedule_owner - 1] = ObjectIdGetDatum(s->owner);
	column_put_text(v, n, Anum_schedule_cron, s->cron);
	column_put_text(v, n, Anum_schedule_timezone, s->timezone);
	v[Anum_schedule_envelope - 1] = JsonbPGetDatum(s->envelope);
	v[Anum_schedule_next_at - 1] = TimestampTzGetDatum(s->next_at);
	v[Anum_schedule_last_at - 1] = TimestampTzGetDatum(s->last_at);
	n[Anum_schedule_last_at - 1] = s->last_at == 0;
	column_put_text(v, n, Anum_schedule_last_error, s->last_error);
	v[Anum_schedule_runs - 1] = Int64GetDatum(s->runs);
	v[Anum_schedule_missed - 1] = Int64GetDatum(s->missed);
	v[Anum_schedule_created_at - 1] = TimestampTzGetDatum(s->created_at);
	if (is_new)
		(void) rows_insert(TABLE_SCHEDULE, v, n);
	else
		rows_update(TABLE_SCHEDULE, &s->tid, v, n);
}

bool
schedule_lock_row(Oid owner, Slice name, bool wait, Schedule *s)
{
	RowScan		scan;
	bool		found;

	rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE, ROWS_LATEST, RowExclusiveLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, name);
	rows_start(&scan);
	found = rows_next(&scan) && rows_lock(&scan, ROW_LOCK_END, wait) == ROW_LOCKED;
	if (found)
		schedule_keep(&scan, s);
	rows_end(&scan);
	return found;
}

/* The same while holding the guard of its name, so that nobody else creates one. */
static bool
schedule_lock_named(Oid owner, Slice name, Schedule *s)
{
	guard_keep(guard_key(GUARD_SCHEDULE, name, SLICE_NONE, owner));
	return schedule_lock_row(owner, name, true, s);
}

/*
 * Returns the only role that has a schedule of that name, or InvalidOid if none has.  Of several,
 * one that does not exist any more is meant, because nobody else can name its schedule.
 */
static Oid
schedule_find_owner(Slice name)
{
	Oid			owner = InvalidOid;
	bool		is_gone = false;
	bool		several = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (!is_gone && rows_next(&scan))
	{
		if (!slice_equal(rows_text(&scan, Anum_schedule_name), name))
			continue;
		several = OidIsValid(owner);
		owner = rows_oid(&scan, Anum_schedule_owner);
		is_gone = !principal_exists(owner);
	}
	rows_end(&scan);
	if (several && !is_gone)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("name", "AMBIGUOUS_NAME"),
				 errmsg("several roles have a schedule \"%.*s\"", name.len, name.s),
				 errhint("Do it as the owner of the one that is meant; the view clutch.schedules shows the owners.")));
	return owner;
}

/* ------------------------------------------------------------- by its role */

/* While another transaction sends one of them, there are two versions of its row.  Only one may be counted. */
int64
schedule_count(Oid owner, RowSnapshot which)
{
	int64		n = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE, which, AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_start(&scan);
	while (rows_next(&scan))
		n += !rows_is_being_deleted(&scan);
	rows_end(&scan);
	return n;
}

/*
 * Checks the quota.  This must be called after the insertion, so that if two sessions insert at
 * once, the later one counts both rows.
 */
static void
schedule_check_quota(Oid owner)
{
	const QuotaLimits *limits = quota_limits(QUOTA_BIT(QUOTA_SCHEDULES));

	if (limits != NULL)
		quota_check(limits, QUOTA_SCHEDULES, schedule_count(owner, ROWS_DIRTY), 1, 0, "name");
}

TimestampTz
schedule_put(Slice name, Slice cron, Jsonb *envelope, Slice timezone)
{
	Cron		when = cron_parse(cron);
	pg_tz	   *zone = cron_zone_to_keep(timezone);
	Schedule	s = {0};
	bool		found;

	found = schedule_lock_named(principal_role(), name, &s);
	if (!found)
	{
		s.name = name;
		s.owner = principal_role();
		s.created_at = clock_now();
	}
	s.cron = cron;
	s.timezone = timezone;
	s.last_error = SLICE_NONE;
	s.next_at = cron_next(&when, zone, clock_now());
	if (s.next_at == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("cron", "WRONG_VALUE"),
				 errmsg("cron schedule \"%.*s\" never occurs", cron.len, cron.s),
				 errhint("Choose a day that exists in one of the months.")));
	schedule_take_envelope(&s, envelope);
	schedule_write_row(&s, !found);
	if (!found)
		schedule_check_quota(s.owner);
	notify_due(s.next_at);
	return s.next_at;
}

bool
schedule_drop(Slice name)
{
	Oid			role = principal_role();
	Oid			other;
	Schedule	s;

	if (!schedule_lock_named(role, name, &s))
	{
		other = principal_is_operator(role) ? schedule_find_owner(name) : InvalidOid;
		if (!OidIsValid(other) || !schedule_lock_named(other, name, &s))
			return false;
	}
	rows_delete(TABLE_SCHEDULE, &s.tid);
	return true;
}

/* ------------------------------------------------------------- when it is due */

static void
schedule_require_role(const Schedule *s)
{
	if (!principal_exists(s->owner))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the role that scheduled it does not exist any more: SELECT clutch.unschedule(name)")));
}

static void
schedule_send_next(void *arg)
{
	const Schedule *s = arg;

	(void) event_send_as_owner(schedule_envelope_at(s, s->next_at));
}

static void
schedule_send_in_name_of(const Schedule *s)
{
	schedule_require_role(s);
	principal_run_as(s->owner, schedule_send_next, unconstify(Schedule *, s));
}

/* Returns the next time that is still in the future.  *missed is set to the number of times before it. */
static TimestampTz
schedule_next_to_come(const Schedule *s, TimestampTz now, int64 *missed)
{
	Cron		when = cron_parse(s->cron);
	pg_tz	   *zone = cron_zone(s->timezone);
	TimestampTz next = s->next_at;

	for (*missed = -1; next != 0 && next <= now && *missed < MOST_MISSED; ++*missed)
		next = cron_next(&when, zone, next);
	return next != 0 && next <= now ? cron_next(&when, zone, now) : next;
}

typedef struct Sending
{
	const Schedule *schedule;
	TimestampTz now;
	TimestampTz next;
	int64		missed;
} Sending;

static void
schedule_send_it(void *arg)
{
	Sending    *sending = arg;

	sending->next = schedule_next_to_come(sending->schedule, sending->now, &sending->missed);
	schedule_send_in_name_of(sending->schedule);
}

/*
 * Sends an envelope.  An error is remembered, and keeps neither the next envelope from being sent
 * nor the tick from its other work.  Returns the error, or NULL if the envelope was sent.  The
 * next time is computed first: if the time zone no longer exists (after an update of tzdata), it
 * stays DT_NOEND.
 */
static char *
schedule_try_to_send(Sending *sending)
{
	ErrorData  *error = savepoint_run_whole(schedule_send_it, sending);

	if (error == NULL)
		return NULL;
	if (savepoint_failed_by_chance(error))
	{
		/* its time has not passed, so the next tick tries it again */
		sending->next = sending->schedule->next_at;
		sending->missed = 0;
	}
	return psprintf("%s: %s", unpack_sql_state(error->sqlerrcode), error->message);
}

/* Returns false if it was refused. */
static bool
schedule_send_and_move_on(Schedule *s, TimestampTz now)
{
	Sending		sending = {s, now, DT_NOEND, 0};
	char	   *error = schedule_try_to_send(&sending);
	TimestampTz next = sending.next;

	s->last_error = error != NULL ? slice_of_cstring(error) : SLICE_NONE;
	s->runs += error == NULL;
	s->missed += sending.missed;
	if (next != s->next_at)
		s->last_at = s->next_at;
	/* there is no next time only if the definition of the time zone has changed */
	s->next_at = next != 0 ? next : DT_NOEND;
	schedule_write_row(s, false);
	return error == NULL;
}

/* ---------------------------------------------------------------------- ticks */

/* a schedule, and its place in the order of the next times */
typedef struct SchedulePlace
{
	TimestampTz next_at;
	Slice		name;
	Oid			owner;
} SchedulePlace;

/* so many are read at once */
#define PLACES			100

static void
schedule_read_place(const RowScan *scan, SchedulePlace *place)
{
	place->next_at = rows_timestamp(scan, Anum_schedule_next_at);
	place->owner = rows_oid(scan, Anum_schedule_owner);
	place->name = rows_text_copy(scan, Anum_schedule_name);
}

/* Reads any of the schedules that are due.  Returns false if there is none. */
static bool
schedule_read_any(TimestampTz now, SchedulePlace *place)
{
	uint64		n = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE_NEXT_AT, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, now);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		/* each of the n until now stays with the same probability */
		if (pg_prng_uint64_range(&pg_global_prng_state, 0, n++) == 0)
			schedule_read_place(&scan, place);
	}
	rows_end(&scan);
	return n > 0;
}

/* Reads the rows of a scan, whose keys have been set, until there are "most" places. */
static int
schedule_read_places(RowScan *scan, SchedulePlace *places, int n, int most)
{
	rows_start(scan);
	while (n < most && rows_next(scan))
		schedule_read_place(scan, &places[n++]);
	rows_end(scan);
	return n;
}

/* Reads the next schedules behind a place whose next time has come until then. */
static int
schedule_read_behind(const SchedulePlace *place, TimestampTz until, SchedulePlace *places, int most)
{
	int			n = 0;
	RowScan		scan;

	if (place->next_at <= until)
	{
		/* several roles may have schedules of the same name */
		rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE_NEXT_AT, ROWS_LATEST, RowExclusiveLock);
		rows_key_timestamp(&scan, 1, BTEqualStrategyNumber, place->next_at);
		rows_key_text(&scan, 2, BTEqualStrategyNumber, place->name);
		rows_key_oid(&scan, 3, BTGreaterStrategyNumber, place->owner);
		n = schedule_read_places(&scan, places, n, most);
		rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE_NEXT_AT, ROWS_LATEST, RowExclusiveLock);
		rows_key_timestamp(&scan, 1, BTEqualStrategyNumber, place->next_at);
		rows_key_text(&scan, 2, BTGreaterStrategyNumber, place->name);
		n = schedule_read_places(&scan, places, n, most);
	}
	rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE_NEXT_AT, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTGreaterStrategyNumber, place->next_at);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, until);
	return schedule_read_places(&scan, places, n, most);
}

/* how far a call has got */
typedef struct ScheduleTurn
{
	TimestampTz now;
	int			left;			/* so many may still be tried */
	int			sent;
	SchedulePlace at;			/* the one that was looked at last */
} ScheduleTurn;

static void
schedule_try_one(ScheduleTurn *turn, const SchedulePlace *place)
{
	Schedule	s;

	turn->at = *place;
	/* skip it if somebody else is changing or sending it, or has just sent it */
	if (!schedule_lock_row(place->owner, place->name, false, &s) || s.next_at > turn->now)
		return;
	turn->sent += schedule_send_and_move_on(&s, turn->now);
	turn->left--;
}

static bool
schedule_is_behind(const SchedulePlace *a, const SchedulePlace *b)
{
	int			names = slice_compare(a->name, b->name);

	if (a->next_at != b->next_at)
		return a->next_at > b->next_at;
	return names != 0 ? names > 0 : a->owner > b->owner;
}

/* Tries those behind turn->at, up to the last place, or all if that is NULL. */
static void
schedule_try_behind(ScheduleTurn *turn, const SchedulePlace *last)
{
	SchedulePlace places[PLACES];
	TimestampTz until = last == NULL ? turn->now : Min(last->next_at, turn->now);
	int			most;
	int			n;

	do
	{
		most = Min(turn->left, PLACES);
		n = most > 0 ? schedule_read_behind(&turn->at, until, places, most) : 0;
		for (int i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (last != NULL && schedule_is_behind(&places[i], last))
				return;
			schedule_try_one(turn, &places[i]);
		}
	} while (n > 0 && n == most);
}

/* Keeps a place for the next call. */
static void
schedule_keep_place(SchedulePlace *kept, const SchedulePlace *place)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	Slice		name = slice_copy(place->name);

	if (slice_present(kept->name))
		pfree(unconstify(char *, kept->name.s));
	*kept = (SchedulePlace) {place->next_at, name, place->owner};
	MemoryContextSwitchTo(old);
}

/*
 * What cannot be sent because of what another transaction has locked stays due,
 * and would otherwise keep all that is due later from being sent.  So each call
 * goes on behind the schedule that this backend's last one has looked at last,
 * and the first one begins anywhere.  Each is tried once, however its sending
 * ends.
 */
int
schedule_send_due(int n)
{
	static SchedulePlace stopped_at;
	ScheduleTurn turn = {clock_now(), n};
	SchedulePlace from;

	schedule_watch_clock(turn.now);
	if (stopped_at.next_at != 0)
		from = stopped_at;
	else if (!schedule_read_any(turn.now, &from))
		return 0;
	turn.at = from;
	schedule_try_behind(&turn, NULL);
	if (turn.left > 0)
	{
		turn.at = (SchedulePlace) {PG_INT64_MIN, SLICE_OF(""), InvalidOid};
		schedule_try_behind(&turn, &from);
	}
	schedule_keep_place(&stopped_at, &turn.at);
	return turn.sent;
}

TimestampTz
schedule_next(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE_NEXT_AT, ROWS_LATEST, AccessShareLock);
	return rows_look_timestamp(&scan, Anum_schedule_next_at);
}
