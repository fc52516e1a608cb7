/*-------------------------------------------------------------------------
 *
 * clock.c
 *	  The current time, and how times are written.
 *
 * RFC 3339 is parsed here because timestamptz_in accepts a dozen other forms,
 * including words such as "now", and raises an error for invalid input.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"

#include "settings.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

TimestampTz
clock_now(void)
{
	TimestampTz t;

	if (clutch_clock == NULL || clutch_clock[0] == '\0')
		return GetCurrentTimestamp();

	if (!clock_parse_rfc3339(slice_of_cstring(clutch_clock), &t))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for parameter \"clutch.clock\": \"%s\"",
						clutch_clock),
				 errhint("Set it to an RFC 3339 timestamp like 2026-02-01T13:20:11Z, or reset it.")));
	/*
	 * avoid 0, the first instant of 2000, which stands for "not yet" in the
	 * state
	 */
	return t != 0 ? t : 1;
}

/* Writes a number with so many digits.  Returns the position after it. */
static char *
clock_put_digits(char *at, int number, int digits)
{
	int			i;

	for (i = digits - 1; i >= 0; i--)
	{
		at[i] = '0' + number % 10;
		number /= 10;
	}
	return at + digits;
}

/*
 * Every event that the database writes has such a time, so it is formatted
 * without printf.
 */
char *
clock_rfc3339(TimestampTz t)
{
	struct pg_tm tm;
	fsec_t		fsec;
	char	   *text;
	char	   *at;

	/*
	 * a year has four digits, so a time beyond them becomes the first or last
	 * instant
	 */
	if (timestamp2tm(t, NULL, &tm, &fsec, NULL, NULL) != 0 ||
		tm.tm_year > 9999 || tm.tm_year < 0)
		return pstrdup(t < 0 ? "0000-01-01T00:00:00.000000Z" :
					   "9999-12-31T23:59:59.999999Z");

	text = palloc(sizeof("9999-12-31T23:59:59.999999Z"));
	at = clock_put_digits(text, tm.tm_year, 4);
	*at++ = '-';
	at = clock_put_digits(at, tm.tm_mon, 2);
	*at++ = '-';
	at = clock_put_digits(at, tm.tm_mday, 2);
	*at++ = 'T';
	at = clock_put_digits(at, tm.tm_hour, 2);
	*at++ = ':';
	at = clock_put_digits(at, tm.tm_min, 2);
	*at++ = ':';
	at = clock_put_digits(at, tm.tm_sec, 2);
	*at++ = '.';
	at = clock_put_digits(at, (int) fsec, 6);
	*at++ = 'Z';
	*at = '\0';
	return text;
}

/* ----------------------------------------------------------------- parsing */

/* the rest of the text */
typedef struct Cursor
{
	const char *s;
	const char *end;
} Cursor;

static bool
clock_take_digits(Cursor *c, int count, int *number)
{
	int			n = 0;

	if (c->end - c->s < count)
		return false;
	while (count-- > 0)
	{
		if (*c->s < '0' || *c->s > '9')
			return false;
		n = n * 10 + (*c->s++ - '0');
	}
	*number = n;
	return true;
}

static bool
clock_take_char(Cursor *c, char either, char other)
{
	if (c->s == c->end || (*c->s != either && *c->s != other))
		return false;
	c->s++;
	return true;
}

static bool
clock_take_date(Cursor *c, int *year, int *month, int *day)
{
	return clock_take_digits(c, 4, year) && clock_take_char(c, '-', '-') &&
		clock_take_digits(c, 2, month) && clock_take_char(c, '-', '-') &&
		clock_take_digits(c, 2, day) &&
		*month >= 1 && *month <= 12 &&
		*day >= 1 && *day <= day_tab[isleap(*year)][*month - 1];
}

static bool
clock_take_time(Cursor *c, int *hour, int *minute, int *second)
{
	return clock_take_digits(c, 2, hour) && clock_take_char(c, ':', ':') &&
		clock_take_digits(c, 2, minute) && clock_take_char(c, ':', ':') &&
		clock_take_digits(c, 2, second) &&
		*hour <= 23 && *minute <= 59 && *second <= 60;
}

/*
 * Reads ".123": 1 to 9 digits, rounded to microseconds, possibly to a full
 * second.
 */
static bool
clock_take_fraction(Cursor *c, int *usec)
{
	int			digits = 0;
	int			n = 0;

	*usec = 0;
	if (!clock_take_char(c, '.', '.'))
		return true;
	for (; c->s < c->end && *c->s >= '0' && *c->s <= '9'; c->s++, digits++)
	{
		if (digits == 9)
			return false;
		n = n * 10 + (*c->s - '0');
	}
	if (digits == 0)
		return false;
	for (; digits < 9; digits++)
		n *= 10;
	*usec = (n + 500) / 1000;
	return true;
}

/* Reads "Z" or "+hh:mm", as minutes east of Greenwich. */
static bool
clock_take_zone(Cursor *c, int *minutes_east)
{
	bool		west;
	int			hour;
	int			minute;

	*minutes_east = 0;
	if (clock_take_char(c, 'Z', 'z'))
		return true;
	west = c->s < c->end && *c->s == '-';
	if (!clock_take_char(c, '+', '-') ||
		!clock_take_digits(c, 2, &hour) || !clock_take_char(c, ':', ':') ||
		!clock_take_digits(c, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*minutes_east = (hour * 60 + minute) * (west ? -1 : 1);
	return true;
}

bool
clock_parse_rfc3339(Slice text, TimestampTz *t)
{
	Cursor		c = {text.s, text.s + text.len};
	int			year,
				month,
				day,
				hour,
				minute,
				second,
				usec,
				minutes_east;
	int64		day_minute;

	if (!slice_present(text) ||
		!clock_take_date(&c, &year, &month, &day) || !clock_take_char(&c, 'T', 't') ||
		!clock_take_time(&c, &hour, &minute, &second) ||
		!clock_take_fraction(&c, &usec) || !clock_take_zone(&c, &minutes_east) ||
		c.s != c.end)
		return false;

	/* a leap second is always the last second of a day in UTC */
	day_minute = hour * 60 + minute - minutes_east;
	if (second == 60 && (day_minute + 2 * MINS_PER_HOUR * HOURS_PER_DAY) %
		(MINS_PER_HOUR * HOURS_PER_DAY) != MINS_PER_HOUR * HOURS_PER_DAY - 1)
		return false;

	*t = (date2j(year, month, day) - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY +
		day_minute * USECS_PER_MINUTE + second * USECS_PER_SEC + usec;
	return true;
}
