/*-------------------------------------------------------------------------
 *
 * url.c
 *	  The hosts of the URLs in a text.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/url.h"

#include <ctype.h>

/* Schemes for which browsers do not require the slashes, and read \ as /. */
static const Slice url_special[] = {
	{"http", 4}, {"https", 5}, {"ws", 2}, {"wss", 3}, {"ftp", 3}
};

/*
 * Returns the position of the first of the characters, at or after from, or
 * the end of the text.
 */
static int
url_find(Slice text, int from, const char *any)
{
	while (from < text.len && (text.s[from] == '\0' || strchr(any, text.s[from]) == NULL))
		from++;
	return from;
}

void
url_begin(UrlScan *scan, Slice text)
{
	char	   *copy;
	int			i;

	memset(scan, 0, sizeof(*scan));
	while (text.len > 0 && (unsigned char) text.s[0] <= ' ')
	{
		text.s++;
		text.len--;
	}
	scan->text = text;
	if (url_find(text, 0, "\t\n\r") == text.len)
		return;
	scan->text.s = copy = palloc(text.len);
	scan->text.len = 0;
	for (i = 0; i < text.len; i++)
		if (text.s[i] != '\t' && text.s[i] != '\n' && text.s[i] != '\r')
			copy[scan->text.len++] = text.s[i];
}

static bool
url_is_scheme_character(char c)
{
	return isalnum((unsigned char) c) || c == '+' || c == '-' || c == '.';
}

static bool
url_is_special(Slice scheme)
{
	int			i;

	for (i = 0; i < lengthof(url_special); i++)
		if (scheme.len == url_special[i].len &&
			pg_strncasecmp(scheme.s, url_special[i].s, scheme.len) == 0)
			return true;
	return false;
}

static int
url_skip_slashes(Slice text, int at)
{
	while (at < text.len && (text.s[at] == '/' || text.s[at] == '\\'))
		at++;
	return at;
}

/*
 * Returns where the host begins if the colon ends a scheme, or -1 otherwise.
 */
static int
url_after_scheme(UrlScan *scan, int colon)
{
	Slice		text = scan->text;
	int			begin = colon;
	int			after = url_skip_slashes(text, colon + 1);
	Slice		scheme;

	while (begin > 0 && url_is_scheme_character(text.s[begin - 1]))
		begin--;
	while (begin < colon && !isalpha((unsigned char) text.s[begin]))
		begin++;
	scheme = (Slice) {text.s + begin, colon - begin};
	if (scheme.len == 0)
		return -1;
	scan->is_whole = begin == 0;
	if (url_is_special(scheme))
	{
		if (after - colon - 1 >= 2)
			return after;
		/* "http: see below" is not a URL */
		return begin == 0 && after < text.len && (unsigned char) text.s[after] > ' ' ? after : -1;
	}
	if (after - colon - 1 < 2 || text.s[colon + 1] != '/' || text.s[colon + 2] != '/')
		return -1;
	/* file:///etc names no host */
	return colon + 3 < text.len && text.s[colon + 3] != '/' ? colon + 3 : -1;
}

/*
 * Returns the host in "user:word@host:80", without what may follow it in a
 * sentence.
 */
static Slice
url_host_of(Slice authority, bool in_words)
{
	int			i;

	for (i = authority.len - 1; i >= 0; i--)
		if (authority.s[i] == '@')
		{
			authority.s += i + 1;
			authority.len -= i + 1;
			break;
		}
	while (in_words && authority.len > 0 && strchr(".,;:!'\"`)}*", authority.s[authority.len - 1]) != NULL)
		authority.len--;
	for (i = authority.len; i > 0 && isdigit((unsigned char) authority.s[i - 1]); i--)
		;
	if (i > 0 && authority.s[i - 1] == ':')
		authority.len = i - 1;
	return authority;
}

/*
 * Finds the first slash, ? or # from here on, and the last @ before it.  Many
 * URLs of a text may have the same one far behind them, so it is remembered.
 */
static void
url_find_far_end(UrlScan *scan, int from)
{
	Slice		text = scan->text;

	if (from < scan->far_end)
		return;
	scan->far_end = url_find(text, from, "/?#");
	scan->far_at = scan->far_end - 1;
	while (scan->far_at >= from && text.s[scan->far_at] != '@')
		scan->far_at--;
	if (scan->far_at < from)
		scan->far_at = -1;
}

/*
 * Returns the host up to the first character that ends it for any reader.  If
 * some readers go on until a slash, and that may give another host,
 * scan->second is set to it, unless it has been returned before.
 */
static Slice
url_read_hosts(UrlScan *scan, int begin)
{
	Slice		text = scan->text;
	int			end = url_find(text, begin, "/\\?#<> ");
	Slice		least = {text.s + begin, end - begin};
	bool		in_words = end == text.len || text.s[end] == ' ' || text.s[end] == '<' ||
		text.s[end] == '>';

	scan->at = end;
	/* within a sentence, a blank ends the URL for all readers */
	if (scan->is_whole || (end < text.len && text.s[end] == '\\'))
	{
		url_find_far_end(scan, end);
		if (scan->far_at >= end)
		{
			scan->second = url_host_of((Slice) {text.s + begin, scan->far_end - begin}, false);
			scan->far_at = -1;
		}
	}
	return url_host_of(least, in_words);
}

/* Is it "//host/path", which takes its scheme from the page that it is on? */
static bool
url_begins_with_host(Slice text)
{
	int			begin = url_skip_slashes(text, 0);

	return begin >= 2 && begin < text.len &&
		(isalnum((unsigned char) text.s[begin]) || text.s[begin] == '[') &&
		url_find(text, 0, " <>") == text.len;
}

bool
url_next_host(UrlScan *scan, Slice *host)
{
	Slice		text = scan->text;

	if (slice_present(scan->second))
	{
		*host = scan->second;
		scan->second = SLICE_NONE;
		return true;
	}
	if (scan->at == 0 && url_begins_with_host(text))
	{
		scan->is_whole = true;
		*host = url_read_hosts(scan, url_skip_slashes(text, 0));
		return true;
	}
	for (;;)
	{
		int			colon = url_find(text, scan->at, ":");
		int			begin;

		if (colon == text.len)
			return false;
		begin = url_after_scheme(scan, colon);
		scan->at = colon + 1;
		if (begin >= 0)
		{
			*host = url_read_hosts(scan, begin);
			return true;
		}
	}
}
