/*-------------------------------------------------------------------------
 *
 * format.c
 *	  The formats that JSON Schema defines, such as "date-time".
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/format.h"

#include <ctype.h>

#include "base/uri.h"
#include "contract/pattern.h"

#define TWO(s)	(((s)[0] - '0') * 10 + (s)[1] - '0')

static const struct
{
	const char *name;
	FormatKind	kind;
}			format_names[] = {
	{"date-time", FORMAT_DATE_TIME},
	{"date", FORMAT_DATE},
	{"time", FORMAT_TIME},
	{"duration", FORMAT_DURATION},
	{"email", FORMAT_EMAIL},
	{"hostname", FORMAT_HOSTNAME},
	{"ipv4", FORMAT_IPV4},
	{"ipv6", FORMAT_IPV6},
	{"uri", FORMAT_URI},
	{"uri-reference", FORMAT_URI_REFERENCE},
	{"uuid", FORMAT_UUID},
	{"json-pointer", FORMAT_JSON_POINTER},
	{"relative-json-pointer", FORMAT_RELATIVE_JSON_POINTER},
	{"regex", FORMAT_REGEX},
};

FormatKind
format_of(Slice name)
{
	int			i;

	for (i = 0; i < lengthof(format_names); i++)
		if (slice_is(name, format_names[i].name))
			return format_names[i].kind;
	return FORMAT_UNKNOWN;
}

/* ------------------------------------------------------------- small parts */

static int
format_digits(Slice text)
{
	int			n = 0;

	while (n < text.len && text.s[n] >= '0' && text.s[n] <= '9')
		n++;
	return n;
}

/* Does the text begin like the picture, in which 0 stands for any digit? */
static bool
format_looks_like(Slice text, const char *picture)
{
	int			n = strlen(picture);
	int			i;

	if (text.len < n)
		return false;
	for (i = 0; i < n; i++)
		if (picture[i] == '0' ? !(text.s[i] >= '0' && text.s[i] <= '9') : text.s[i] != picture[i])
			return false;
	return true;
}

/* Are all characters ASCII letters or digits, or among the others? */
static bool
format_consists_of(Slice text, const char *others)
{
	int			i;

	for (i = 0; i < text.len; i++)
		if (text.s[i] == '\0' ||
			(!(isascii((unsigned char) text.s[i]) && isalnum((unsigned char) text.s[i])) &&
			 strchr(others, text.s[i]) == NULL))
			return false;
	return true;
}

/* -------------------------------------------------------------------- times */

static bool
format_date(Slice text)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int			year;
	int			month;
	int			day;
	bool		leap;

	if (text.len != 10 || !format_looks_like(text, "0000-00-00"))
		return false;
	year = TWO(text.s) * 100 + TWO(text.s + 2);
	month = TWO(text.s + 5);
	day = TWO(text.s + 8);
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return month >= 1 && month <= 12 && day >= 1 &&
		day <= days[month - 1] + (month == 2 && leap);
}

/* Reads Z or an offset, whose minutes are stored in *minutes. */
static bool
format_zone(Slice text, int *minutes)
{
	*minutes = 0;
	if (text.len == 1)
		return text.s[0] == 'Z' || text.s[0] == 'z';
	if (text.len != 6 || (text.s[0] != '+' && text.s[0] != '-') ||
		!format_looks_like(slice_after(text, 1), "00:00") ||
		TWO(text.s + 1) > 23 || TWO(text.s + 4) > 59)
		return false;
	*minutes = (TWO(text.s + 1) * 60 + TWO(text.s + 4)) * (text.s[0] == '+' ? 1 : -1);
	return true;
}

static bool
format_time(Slice text)
{
	Slice		rest;
	int			hour;
	int			minute;
	int			second;
	int			offset;

	if (!format_looks_like(text, "00:00:00"))
		return false;
	hour = TWO(text.s);
	minute = TWO(text.s + 3);
	second = TWO(text.s + 6);
	rest = slice_after(text, 8);
	if (rest.len > 0 && rest.s[0] == '.')
	{
		int			digits = format_digits(slice_after(rest, 1));

		if (digits == 0)
			return false;
		rest = slice_after(rest, 1 + digits);
	}
	if (!format_zone(rest, &offset) || hour > 23 || minute > 59 || second > 60)
		return false;
	/* a leap second is the last one of a day in UTC */
	return second < 60 || (hour * 60 + minute - offset + 2 * 1440) % 1440 == 1439;
}

static bool
format_date_time(Slice text)
{
	return text.len > 11 && (text.s[10] == 'T' || text.s[10] == 't') &&
		format_date((Slice) {text.s, 10}) && format_time(slice_after(text, 11));
}

/* Reads numbers with units, which must be in this order without a gap. */
static bool
format_amounts(Slice *text, const char *units, int *n)
{
	const char *last = NULL;

	for (*n = 0; format_digits(*text) > 0; (*n)++)
	{
		int			digits = format_digits(*text);
		const char *unit;

		if (digits == text->len || (unit = strchr(units, text->s[digits])) == NULL || *unit == '\0' ||
			(last != NULL && unit != last + 1))
			return false;
		last = unit;
		*text = slice_after(*text, digits + 1);
	}
	return true;
}

/* Checks ISO 8601 as in RFC 3339, appendix A. */
static bool
format_duration(Slice text)
{
	int			days;
	int			times = 0;
	bool		weeks;

	if (text.len < 3 || text.s[0] != 'P')
		return false;
	text = slice_after(text, 1);
	weeks = text.s[text.len - 1] == 'W';
	if (!format_amounts(&text, weeks ? "W" : "YMD", &days))
		return false;
	if (text.len > 0 && !weeks && text.s[0] == 'T')
	{
		text = slice_after(text, 1);
		if (!format_amounts(&text, "HMS", &times) || times == 0)
			return false;
	}
	return text.len == 0 && days + times > 0;
}

/* ----------------------------------------------------------------- networks */

static bool
format_label(Slice label)
{
	return label.len >= 1 && label.len <= 63 && label.s[0] != '-' &&
		label.s[label.len - 1] != '-' && format_consists_of(label, "-") &&
		!(label.len >= 4 && label.s[2] == '-' && label.s[3] == '-' &&
		  pg_strncasecmp(label.s, "xn", 2) != 0);
}

static bool
format_hostname(Slice text)
{
	int			start = 0;
	int			i;

	if (text.len > 253)
		return false;
	for (i = 0; i <= text.len; i++)
		if (i == text.len || text.s[i] == '.')
		{
			if (!format_label((Slice) {text.s + start, i - start}))
				return false;
			start = i + 1;
		}
	return true;
}

static bool
format_ipv4(Slice text)
{
	int			part;

	for (part = 0; part < 4; part++)
	{
		int			digits = format_digits(text);

		if (digits < 1 || digits > 3 || (digits > 1 && text.s[0] == '0') ||
			strtol(slice_cstring((Slice) {text.s, digits}), NULL, 10) > 255)
			return false;
		text = slice_after(text, digits);
		if (part < 3 && (text.len == 0 || text.s[0] != '.'))
			return false;
		text = slice_after(text, part < 3);
	}
	return text.len == 0;
}

/*
 * Returns the number of groups of hexadecimal digits, the last of which may be
 * an IPv4 address, or -1 after a fault.
 */
static int
format_ipv6_groups(Slice text)
{
	int			groups = 0;

	if (text.len == 0)
		return 0;
	for (;;)
	{
		int			n = 0;

		if (format_ipv4(text))
			return groups + 2;
		while (n < text.len && isxdigit((unsigned char) text.s[n]))
			n++;
		if (n < 1 || n > 4)
			return -1;
		groups++;
		if (n == text.len)
			return groups;
		if (text.s[n] != ':')
			return -1;
		text = slice_after(text, n + 1);
	}
}

static bool
format_ipv6(Slice text)
{
	int			gap = 0;
	int			before;
	int			after;

	while (gap + 1 < text.len && !(text.s[gap] == ':' && text.s[gap + 1] == ':'))
		gap++;
	if (gap + 1 >= text.len)
		return format_ipv6_groups(text) == 8;
	before = format_ipv6_groups((Slice) {text.s, gap});
	after = format_ipv6_groups(slice_after(text, gap + 2));
	/* an IPv4 address may only be at the end */
	return before >= 0 && after >= 0 && before + after <= 7 &&
		memchr(text.s, '.', gap) == NULL;
}

/* Checks a local part of atoms, or a quoted one, and a host. */
static bool
format_email(Slice text)
{
	int			at = text.len - 1;
	Slice		local;
	Slice		host;
	int			i;

	while (at > 0 && text.s[at] != '@')
		at--;
	if (at <= 0)
		return false;
	local = (Slice) {text.s, at};
	host = slice_after(text, at + 1);
	if (host.len > 2 && host.s[0] == '[' && host.s[host.len - 1] == ']')
	{
		host = (Slice) {host.s + 1, host.len - 2};
		if (!format_ipv4(host) && !(slice_starts(host, SLICE_OF("IPv6:")) && format_ipv6(slice_after(host, 5))))
			return false;
	}
	else if (!format_hostname(host))
		return false;
	if (local.s[0] == '"')
		return local.len > 2 && local.s[local.len - 1] == '"';
	for (i = 0; i < local.len; i++)
		if (local.s[i] == '.' && (i == 0 || i == local.len - 1 || local.s[i + 1] == '.'))
			return false;
	return format_consists_of(local, "!#$%&'*+-/=?^_`{|}~.");
}

/* ---------------------------------------------------------------- references */

/*
 * Is it an IPv6 address, or the address of a later version, as the brackets of
 * a host enclose it?
 */
static bool
format_ip_literal(Slice text)
{
	int			n = 1;

	if (text.len == 0 || (text.s[0] != 'v' && text.s[0] != 'V'))
		return format_ipv6(text);
	while (n < text.len && isxdigit((unsigned char) text.s[n]))
		n++;
	return n > 1 && n + 1 < text.len && text.s[n] == '.' &&
		format_consists_of(slice_after(text, n + 1), "-._~:!$&'()*+,;=");
}

/* Checks a user, a host and a port, the first and the last of which may be missing. */
static bool
format_authority(Slice text)
{
	const char *at = memchr(text.s, '@', text.len);
	int			host = at != NULL ? at + 1 - text.s : 0;
	const char *end;
	Slice		port;

	if (at != NULL && !format_consists_of((Slice) {text.s, host - 1}, "-._~:!$&'()*+,;=%"))
		return false;
	text = slice_after(text, host);
	if (text.len > 0 && text.s[0] == '[')
	{
		end = memchr(text.s, ']', text.len);
		if (end == NULL || !format_ip_literal((Slice) {text.s + 1, end - text.s - 1}))
			return false;
		end++;
	}
	else
	{
		end = memchr(text.s, ':', text.len);
		if (end == NULL)
			end = text.s + text.len;
		if (!format_consists_of((Slice) {text.s, end - text.s}, "-._~!$&'()*+,;=%"))
			return false;
	}
	port = slice_after(text, end - text.s);
	return port.len == 0 || (port.s[0] == ':' && format_digits(slice_after(port, 1)) == port.len - 1);
}

static bool
format_uri_reference(Slice text)
{
	static const char others[] = "-._~:/?@!$&'()*+,;=%";
	UriParts	parts = uri_parse(text);
	const char *colon = memchr(parts.path.s, ':', parts.path.len);

	/* without a scheme, a colon in the first segment would end one */
	if (!slice_present(parts.scheme) && colon != NULL && memchr(parts.path.s, '/', colon - parts.path.s) == NULL)
		return false;
	return slice_present(uri_decode(text, true)) && (!slice_present(parts.authority) || format_authority(parts.authority)) &&
		format_consists_of(parts.path, others) && format_consists_of(parts.query, others) &&
		format_consists_of(parts.fragment, others);
}

static bool
format_uuid(Slice text)
{
	int			i;

	for (i = 0; i < text.len; i++)
	{
		bool		hyphen = i == 8 || i == 13 || i == 18 || i == 23;

		if (hyphen ? text.s[i] != '-' : !isxdigit((unsigned char) text.s[i]))
			return false;
	}
	return text.len == 36;
}

static bool
format_json_pointer(Slice text)
{
	int			i;

	for (i = 0; i < text.len; i++)
		if (text.s[i] == '~' && (i + 1 == text.len || (text.s[i + 1] != '0' && text.s[i + 1] != '1')))
			return false;
	return text.len == 0 || text.s[0] == '/';
}

static bool
format_relative_json_pointer(Slice text)
{
	int			digits = format_digits(text);

	return digits > 0 && (digits == 1 || text.s[0] != '0') &&
		(slice_equal(slice_after(text, digits), SLICE_OF("#")) ||
		 format_json_pointer(slice_after(text, digits)));
}

bool
format_valid(FormatKind format, Slice text)
{
	switch (format)
	{
		case FORMAT_DATE_TIME:
			return format_date_time(text);
		case FORMAT_DATE:
			return format_date(text);
		case FORMAT_TIME:
			return format_time(text);
		case FORMAT_DURATION:
			return format_duration(text);
		case FORMAT_EMAIL:
			return format_email(text);
		case FORMAT_HOSTNAME:
			return format_hostname(text);
		case FORMAT_IPV4:
			return format_ipv4(text);
		case FORMAT_IPV6:
			return format_ipv6(text);
		case FORMAT_URI:
			return uri_is_absolute(text) && format_uri_reference(text);
		case FORMAT_URI_REFERENCE:
			return format_uri_reference(text);
		case FORMAT_UUID:
			return format_uuid(text);
		case FORMAT_JSON_POINTER:
			return format_json_pointer(text);
		case FORMAT_RELATIVE_JSON_POINTER:
			return format_relative_json_pointer(text);
		case FORMAT_REGEX:
			return pattern_is_valid(text);
		default:
			return true;
	}
}
