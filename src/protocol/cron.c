/*-------------------------------------------------------------------------
 *
 * cron.c
 *	  Cron schedules.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/cron.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

/*
 * the maximum distance between two 29ths of February on the same weekday is 40
 * years (1896, 1936)
 */
#define MOST_DAYS	(41 * 366)

#define EVERY_HOUR	UINT64CONST(0xFFFFFF)

/* ------------------------------------------------------------------ parsing */

typedef struct CronField
{
	const char *what;
	int			least;
	int			most;
	const char *const *names;	/* of three letters each, for least, least + 1,
								 * ... */
	int			nnames;
} CronField;

static const char *const month_names[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"
};
static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

#define NUM_FIELDS	5

static const CronField cron_fields[NUM_FIELDS] = {
	{"minute", 0, 59},
	{"hour", 0, 23},
	{"day of month", 1, 31},
	{"month", 1, 12, month_names, lengthof(month_names)},
	{"day of week", 0, 7, day_names, lengthof(day_names)}
};

static const struct
{
	const char *word;
	const char *meaning;
}			cron_macros[] = {
	{"@hourly", "0 * * * *"},
	{"@daily", "0 0 * * *"},
	{"@midnight", "0 0 * * *"},
	{"@weekly", "0 0 * * 0"},
	{"@monthly", "0 0 1 * *"},
	{"@yearly", "0 0 1 1 *"},
	{"@annually", "0 0 1 1 *"}
};

typedef struct CronReader
{
	Slice		whole;
	const CronField *field;		/* the one that is being read */
	const char *at;
	const char *end;
} CronReader;

#define CRON_HINT \
	errhint("Write five fields, minute hour day-of-month month day-of-week, like '30 8 * * mon-fri'; or @hourly, @daily, @weekly, @monthly or @yearly.")

#define CRON_FIELD_HINT \
	errhint("A field is *, a number, a range like 1-5, either of them with a step like */15, or a list of these separated by commas.")

pg_noreturn static void
cron_raise_number(const CronReader *r)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("cron", "WRONG_FORMAT"),
			 errmsg("invalid %s in cron schedule %s: must be between %d and %d",
					r->field->what, place_quote(r->whole), r->field->least, r->field->most),
			 CRON_FIELD_HINT));
}

pg_noreturn static void
cron_raise_range(const CronReader *r, int from, int to)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("cron", "WRONG_FORMAT"),
			 errmsg("invalid range %d-%d for the %s in cron schedule %s: must not end before it begins",
					from, to, r->field->what, place_quote(r->whole)),
			 CRON_FIELD_HINT));
}

pg_noreturn static void
cron_raise_step(const CronReader *r, int step)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("cron", "WRONG_FORMAT"),
			 errmsg("invalid step %d for the %s in cron schedule %s: must be between 1 and %d",
					step, r->field->what, place_quote(r->whole), r->field->most),
			 CRON_FIELD_HINT));
}

pg_noreturn static void
cron_raise_field_count(const CronReader *r)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("cron", "WRONG_FORMAT"),
			 errmsg("cron schedule %s does not have five fields", place_quote(r->whole)),
			 CRON_HINT));
}

pg_noreturn static void
cron_raise_macro(Slice text)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("cron", "WRONG_FORMAT"),
			 errmsg("invalid cron schedule %s", place_quote(text)),
			 CRON_HINT));
}

static bool
cron_read_char(CronReader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool
cron_at_digit(const CronReader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static int
cron_read_digits(CronReader *r)
{
	int			n = 0;

	while (cron_at_digit(r) && n < 10000)
		n = n * 10 + (*r->at++ - '0');
	return n;
}

static int
cron_read_number(CronReader *r)
{
	int			n = -1;
	int			i;

	if (cron_at_digit(r))
		n = cron_read_digits(r);
	else if (r->end - r->at >= 3)
		for (i = 0; i < r->field->nnames; i++)
			if (pg_strncasecmp(r->at, r->field->names[i], 3) == 0)
			{
				n = r->field->least + i;
				r->at += 3;
				break;
			}
	if (n < r->field->least || n > r->field->most)
		cron_raise_number(r);
	return n;
}

/*
 * Reads an element of a list: *, 5, or 5-9, each of which may have a step.  A
 * single number with a step extends to the end of the range.
 */
static uint64
cron_read_range(CronReader *r)
{
	int			from = r->field->least;
	int			to = r->field->most;
	bool		single = false;
	int			step = 1;
	uint64		bits = 0;

	if (!cron_read_char(r, '*'))
	{
		from = to = cron_read_number(r);
		single = !cron_read_char(r, '-');
		if (!single)
			to = cron_read_number(r);
		if (to < from)
			cron_raise_range(r, from, to);
	}
	if (cron_read_char(r, '/'))
	{
		step = cron_at_digit(r) ? cron_read_digits(r) : 0;
		if (step < 1 || step > r->field->most)
			cron_raise_step(r, step);
		if (single)
			to = r->field->most;
	}
	for (; from <= to; from += step)
		bits |= UINT64CONST(1) << from;
	return bits;
}

static uint64
cron_read_field(CronReader *r, const CronField *field, bool *is_open)
{
	uint64		bits = 0;

	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
	if (r->at == r->end)
		cron_raise_field_count(r);
	r->field = field;
	*is_open = *r->at == '*';
	do
		bits |= cron_read_range(r);
	while (cron_read_char(r, ','));
	if (r->at < r->end && *r->at != ' ' && *r->at != '\t')
		cron_raise_number(r);
	return bits;
}

Cron
cron_parse(Slice text)
{
	CronReader	r = {text, NULL, text.s, text.s + text.len};
	uint64		bits[NUM_FIELDS];
	bool		is_open[NUM_FIELDS];
	Cron		cron;
	int			i;

	if (text.len > 0 && text.s[0] == '@')
	{
		for (i = 0; i < (int) lengthof(cron_macros); i++)
			if (slice_is(text, cron_macros[i].word))
				return cron_parse(slice_of_cstring(cron_macros[i].meaning));
		cron_raise_macro(text);
	}
	for (i = 0; i < NUM_FIELDS; i++)
		bits[i] = cron_read_field(&r, &cron_fields[i], &is_open[i]);
	while (r.at < r.end && (*r.at == ' ' || *r.at == '\t'))
		r.at++;
	if (r.at < r.end)
		cron_raise_field_count(&r);
	cron.minutes = bits[0];
	cron.hours = bits[1];
	cron.days = bits[2];
	cron.months = bits[3];
	/* 7 is Sunday, too */
	cron.weekdays = (bits[4] | bits[4] >> 7) & 0x7F;
	cron.either_day = !is_open[2] && !is_open[4];
	return cron;
}

/* --------------------------------------------------------------- searching */

static bool
cron_has(uint64 bits, int n)
{
	return (bits >> n & 1) != 0;
}

static bool
cron_matches_day(const Cron *cron, int date)
{
	int			year;
	int			month;
	int			day;
	bool		by_month;
	bool		by_week = cron_has(cron->weekdays, j2day(date));

	j2date(date, &year, &month, &day);
	by_month = cron_has(cron->days, day);
	return cron_has(cron->months, month) &&
		(cron->either_day ? by_month || by_week : by_month && by_week);
}

static bool
cron_matches_minute(const Cron *cron, int minute)
{
	return cron_has(cron->hours, minute / MINS_PER_HOUR) && cron_has(cron->minutes, minute % MINS_PER_HOUR);
}

/*
 * Gets the local time: its date and the minute of the day.  Returns false if
 * it is out of range.
 */
static bool
cron_local_time(pg_tz *zone, TimestampTz at, struct pg_tm *tm, int *date, int *minute)
{
	int			offset;
	fsec_t		fsec;

	if (timestamp2tm(at, &offset, tm, &fsec, NULL, zone) != 0)
		return false;
	*date = date2j(tm->tm_year, tm->tm_mon, tm->tm_mday);
	*minute = tm->tm_hour * MINS_PER_HOUR + tm->tm_min;
	return true;
}

/*
 * If two moments have this local time, is this the one that PostgreSQL
 * chooses?
 */
static bool
cron_is_preferred(pg_tz *zone, TimestampTz at, struct pg_tm *tm)
{
	Timestamp	local;
	int			offset = DetermineTimeZoneOffset(tm, zone);

	return tm2timestamp(tm, 0, NULL, &local) == 0 &&
		local + offset * USECS_PER_SEC == at;
}

/* Returns when the day begins: if its midnight comes twice, the first time. */
static TimestampTz
cron_begin_of_day(pg_tz *zone, int date)
{
	struct pg_tm tm = {0};
	Timestamp	local;
	TimestampTz begin;
	int			before;
	int			minute;

	j2date(date, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	if (tm2timestamp(&tm, 0, NULL, &local) != 0)
		return 0;
	begin = local + DetermineTimeZoneOffset(&tm, zone) * USECS_PER_SEC;
	while (cron_local_time(zone, begin - USECS_PER_MINUTE, &tm, &before, &minute) && before == date)
		begin -= USECS_PER_MINUTE;
	return begin;
}

/*
 * Returns the minute of the day before that moment, or -1 if it was not on
 * that day.
 */
static int
cron_minute_before(pg_tz *zone, int date, TimestampTz at)
{
	struct pg_tm tm;
	int			that_date;
	int			minute;

	if (!cron_local_time(zone, at - USECS_PER_MINUTE, &tm, &that_date, &minute) || that_date < date)
		return -1;
	return minute;
}

/* Does the schedule match a minute of the day between these two? */
static bool
cron_matches_between(const Cron *cron, int before, int after)
{
	for (int minute = before + 1; minute < after; minute++)
		if (cron_matches_minute(cron, minute))
			return true;
	return false;
}

/* Returns how many minutes of the day, directly after this one, have no match. */
static int
cron_minutes_without(const Cron *cron, int minute)
{
	int			next = minute + 1;

	while (next < HOURS_PER_DAY * MINS_PER_HOUR && !cron_matches_minute(cron, next))
		next++;
	return next - minute - 1;
}

/*
 * Returns how many minutes after this one can be passed over, because nothing
 * matches them and the clock is not moved until then.
 */
static int
cron_idle_minutes(const Cron *cron, pg_tz *zone, int date, int minute, TimestampTz at)
{
	int			idle = cron_minutes_without(cron, minute);

	for (; idle > 0; idle /= 2)
	{
		struct pg_tm tm;
		int			then_date;
		int			then;

		if (cron_local_time(zone, at + idle * USECS_PER_MINUTE, &tm, &then_date, &then) &&
			then_date == date && then == minute + idle)
			break;
	}
	return idle;
}

/*
 * Returns the first time for that day that is not before the given moment, or
 * 0 if there is none.  The clock may be moved forward; then the moment after
 * the gap makes up for the times in it.  If the gap ends the day, that is the
 * first moment of the next day.
 */
static TimestampTz
cron_search_day(const Cron *cron, pg_tz *zone, int date, TimestampTz from)
{
	bool		every_hour = cron->hours == EVERY_HOUR;
	int			before = cron_minute_before(zone, date, from);
	TimestampTz at;

	for (at = from;; at += USECS_PER_MINUTE)
	{
		struct pg_tm tm;
		int			today;
		int			minute;

		if (!cron_local_time(zone, at, &tm, &today, &minute))
			return 0;
		if (today < date)
			continue;
		if (cron_matches_between(cron, before, today > date ? HOURS_PER_DAY * MINS_PER_HOUR : minute))
			return at;
		if (today > date)
			return 0;
		if (cron_matches_minute(cron, minute) && (every_hour || cron_is_preferred(zone, at, &tm)))
			return at;
		before = minute + cron_idle_minutes(cron, zone, date, minute, at);
		at += (before - minute) * USECS_PER_MINUTE;
	}
}

TimestampTz
cron_next(const Cron *cron, pg_tz *zone, TimestampTz after)
{
	TimestampTz from = after - after % USECS_PER_MINUTE + USECS_PER_MINUTE;
	struct pg_tm tm;
	int			date;
	int			before;
	int			minute;
	int			days;

	if (after % USECS_PER_MINUTE < 0)
		from -= USECS_PER_MINUTE;
	if (!cron_local_time(zone, from, &tm, &date, &minute))
		return 0;
	/* a gap between the two minutes may have ended the day before */
	if (cron_local_time(zone, from - USECS_PER_MINUTE, &tm, &before, &minute))
		date = Min(date, before);
	for (days = 0; days < MOST_DAYS; days++, date++)
	{
		TimestampTz at;

		if (!cron_matches_day(cron, date))
			continue;
		at = cron_search_day(cron, zone, date, days == 0 ? from : Max(from, cron_begin_of_day(zone, date)));
		if (at != 0)
			return at;
	}
	return 0;
}
