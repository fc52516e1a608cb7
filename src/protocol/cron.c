/*-------------------------------------------------------------------------
 *
 * cron.c
 *	  When something is to happen again and again.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/cron.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

/* 29 February on a given weekday comes after 40 years at the latest (1896 .. 1936) */
#define MOST_DAYS	(41 * 366)

#define EVERY_HOUR	UINT64CONST(0xFFFFFF)

/* ------------------------------------------------------------------ parsing */

typedef struct CronField
{
	const char *what;
	int			least;
	int			most;
	const char *const *names;	/* three letters each, the first is least */
	int			nnames;
} CronField;

static const char *const month_names[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"
};
static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

#define NUM_FIELDS	5

static const CronField fields[NUM_FIELDS] = {
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
}			macros[] = {
	{"@hourly", "0 * * * *"},
	{"@daily", "0 0 * * *"},
	{"@midnight", "0 0 * * *"},
	{"@weekly", "0 0 * * 0"},
	{"@monthly", "0 0 1 * *"},
	{"@yearly", "0 0 1 1 *"},
	{"@annually", "0 0 1 1 *"}
};

/* what is being read, for the sentence of a fault */
typedef struct CronReader
{
	Slice		whole;
	const CronField *field;
	const char *at;
	const char *end;			/* of the field */
} CronReader;

static void
refuse(const CronReader *r, const char *what)
{
	if (r->field == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("/cron", "WRONG_FORMAT"),
				 errmsg("%s %s", place_quote(r->whole), what),
				 errhint("Five fields: minute hour day-of-month month day-of-week, like '30 8 * * mon-fri'; or @hourly, @daily, @weekly, @monthly, @yearly.")));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("/cron", "WRONG_FORMAT"),
			 errmsg("the %s of %s %s %d to %d",
					r->field->what, place_quote(r->whole), what, r->field->least,
					r->field->most),
			 errhint("A field is *, a number, a range like 1-5, either with a step like */15, or a list of these.")));
}

static bool
read_char(CronReader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool
is_digit(const CronReader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static int
read_digits(CronReader *r)
{
	int			n = 0;

	while (is_digit(r) && n < 10000)
		n = n * 10 + (*r->at++ - '0');
	return n;
}

static int
read_number(CronReader *r)
{
	int			n = -1;
	int			i;

	if (is_digit(r))
		n = read_digits(r);
	else if (r->end - r->at >= 3)
		for (i = 0; i < r->field->nnames; i++)
			if (pg_strncasecmp(r->at, r->field->names[i], 3) == 0)
			{
				n = r->field->least + i;
				r->at += 3;
				break;
			}
	if (n < r->field->least || n > r->field->most)
		refuse(r, "must be numbers from");
	return n;
}

/* one of a list: *, 5, 5-9, any of them with a step; 5 with a step goes on to the end */
static uint64
read_range(CronReader *r)
{
	int			from = r->field->least;
	int			to = r->field->most;
	bool		single = false;
	int			step = 1;
	uint64		bits = 0;

	if (!read_char(r, '*'))
	{
		from = to = read_number(r);
		single = !read_char(r, '-');
		if (!single)
			to = read_number(r);
		if (to < from)
			refuse(r, "has a range that ends before it begins; it goes from");
	}
	if (read_char(r, '/'))
	{
		step = is_digit(r) ? read_digits(r) : 0;
		if (step < 1 || step > r->field->most)
			refuse(r, "has a step that is none; it goes from");
		if (single)
			to = r->field->most;
	}
	for (; from <= to; from += step)
		bits |= UINT64CONST(1) << from;
	return bits;
}

static uint64
read_field(CronReader *r, const CronField *field, bool *is_open)
{
	uint64		bits = 0;

	r->field = NULL;
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
	if (r->at == r->end)
		refuse(r, "has fewer than five fields");
	r->field = field;
	*is_open = *r->at == '*';
	do
		bits |= read_range(r);
	while (read_char(r, ','));
	if (r->at < r->end && *r->at != ' ' && *r->at != '\t')
		refuse(r, "must be numbers from");
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
		for (i = 0; i < (int) lengthof(macros); i++)
			if (slice_equal(text, slice_of_cstring(macros[i].word)))
				return cron_parse(slice_of_cstring(macros[i].meaning));
		refuse(&r, "is no word for a time");
	}
	for (i = 0; i < NUM_FIELDS; i++)
		bits[i] = read_field(&r, &fields[i], &is_open[i]);
	while (r.at < r.end && (*r.at == ' ' || *r.at == '\t'))
		r.at++;
	r.field = NULL;
	if (r.at < r.end)
		refuse(&r, "has more than five fields");
	cron.minutes = bits[0];
	cron.hours = bits[1];
	cron.days = bits[2];
	cron.months = bits[3];
	/* Sunday has two numbers */
	cron.weekdays = (bits[4] | bits[4] >> 7) & 0x7F;
	cron.either_day = !is_open[2] && !is_open[4];
	return cron;
}

pg_tz *
cron_zone(Slice name)
{
	pg_tz	   *zone = name.len <= TZ_STRLEN_MAX ? pg_tzset(slice_cstring(name)) : NULL;

	if (zone == NULL || !pg_tz_acceptable(zone))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("/timezone", "WRONG_VALUE"),
				 errmsg("%s is no time zone", place_quote(name)),
				 errhint("SELECT name FROM pg_timezone_names lists them, like 'Europe/Berlin'.")));
	return zone;
}

/* --------------------------------------------------------------- searching */

static bool
has(uint64 bits, int n)
{
	return (bits >> n & 1) != 0;
}

static bool
fits_day(const Cron *cron, int date)
{
	int			year;
	int			month;
	int			day;
	bool		by_month;
	bool		by_week = has(cron->weekdays, j2day(date));

	j2date(date, &year, &month, &day);
	by_month = has(cron->days, day);
	return has(cron->months, month) &&
		(cron->either_day ? by_month || by_week : by_month && by_week);
}

static bool
fits_minute(const Cron *cron, int minute)
{
	return has(cron->hours, minute / MINS_PER_HOUR) && has(cron->minutes, minute % MINS_PER_HOUR);
}

/* the wall clock of the zone: its day, and the minute of the day; false: out of range */
static bool
wall_clock(pg_tz *zone, TimestampTz at, struct pg_tm *tm, int *date, int *minute)
{
	int			offset;
	fsec_t		fsec;

	if (timestamp2tm(at, &offset, tm, &fsec, NULL, zone) != 0)
		return false;
	*date = date2j(tm->tm_year, tm->tm_mon, tm->tm_mday);
	*minute = tm->tm_hour * MINS_PER_HOUR + tm->tm_min;
	return true;
}

/* of two moments that have this wall clock, is it the one that is meant by it? */
static bool
is_meant(pg_tz *zone, TimestampTz at, struct pg_tm *tm)
{
	Timestamp	local;
	int			offset = DetermineTimeZoneOffset(tm, zone);

	return tm2timestamp(tm, 0, NULL, &local) == 0 &&
		local + offset * USECS_PER_SEC == at;
}

static TimestampTz
begin_of_day(pg_tz *zone, int date)
{
	struct pg_tm tm = {0};
	Timestamp	local;

	j2date(date, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	if (tm2timestamp(&tm, 0, NULL, &local) != 0)
		return 0;
	return local + DetermineTimeZoneOffset(&tm, zone) * USECS_PER_SEC;
}

/* the minute of the day that ends then, or -1: the day begins then */
static int
minute_before(pg_tz *zone, int date, TimestampTz at)
{
	struct pg_tm tm;
	int			that_date;
	int			minute;

	if (!wall_clock(zone, at - USECS_PER_MINUTE, &tm, &that_date, &minute) || that_date < date)
		return -1;
	return minute;
}

/* the first that fits on that day, from a moment on; 0: none */
static TimestampTz
search_day(const Cron *cron, pg_tz *zone, int date, TimestampTz from)
{
	bool		every_hour = cron->hours == EVERY_HOUR;
	int			before = minute_before(zone, date, from);
	TimestampTz at;

	for (at = from;; at += USECS_PER_MINUTE)
	{
		struct pg_tm tm;
		int			today;
		int			minute;
		int			skipped;

		if (!wall_clock(zone, at, &tm, &today, &minute) || today > date)
			return 0;
		if (today < date)
			continue;
		/* the clock was put forward: what it skipped happens now */
		for (skipped = before + 1; skipped < minute; skipped++)
			if (fits_minute(cron, skipped))
				return at;
		if (fits_minute(cron, minute) && (every_hour || is_meant(zone, at, &tm)))
			return at;
		before = minute;
	}
}

TimestampTz
cron_next(const Cron *cron, pg_tz *zone, TimestampTz after)
{
	TimestampTz from = after - after % USECS_PER_MINUTE + USECS_PER_MINUTE;
	struct pg_tm tm;
	int			date;
	int			minute;
	int			days;

	if (after % USECS_PER_MINUTE < 0)
		from -= USECS_PER_MINUTE;
	if (!wall_clock(zone, from, &tm, &date, &minute))
		return 0;
	for (days = 0; days < MOST_DAYS; days++, date++)
	{
		TimestampTz at;

		if (!fits_day(cron, date))
			continue;
		at = search_day(cron, zone, date, days == 0 ? from : Max(from, begin_of_day(zone, date)));
		if (at != 0)
			return at;
	}
	return 0;
}
