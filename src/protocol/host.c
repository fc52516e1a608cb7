/*-------------------------------------------------------------------------
 *
 * host.c
 *	  Hosts, and the patterns of an egress_allowlist.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/host.h"

#include <arpa/inet.h>
#include <ctype.h>

#define LONGEST_LABEL	63
#define LONGEST_NAME	253

/*
 * Returns the host without a dot at its end, which only says that the name is
 * complete.
 */
static Slice
host_without_dot(Slice host)
{
	if (host.len > 1 && host.s[host.len - 1] == '.')
		host.len--;
	return host;
}

static bool
host_is_name(Slice host)
{
	int			label = 0;
	int			i;

	host = host_without_dot(host);
	if (host.len > LONGEST_NAME)
		return false;
	for (i = 0; i < host.len; i++)
	{
		unsigned char c = host.s[i];

		if (c == '.' && label == 0)
			return false;
		label = c == '.' ? 0 : label + 1;
		if (label > LONGEST_LABEL || !(c < 128 && (isalnum(c) || c == '-' || c == '_' || c == '.')))
			return false;
	}
	return label > 0;
}

/* Reads an IPv6 address in brackets.  Its 16 bytes are stored in address. */
static bool
host_read_ipv6(Slice host, unsigned char *address)
{
	char		text[INET6_ADDRSTRLEN];
	int			len = host.len - 2;

	if (len < 2 || len >= (int) sizeof(text) || host.s[0] != '[' || host.s[host.len - 1] != ']')
		return false;
	memcpy(text, host.s + 1, len);
	text[len] = '\0';
	return inet_pton(AF_INET6, text, address) == 1;
}

bool
host_is_valid(Slice host)
{
	unsigned char address[16];

	return host_is_name(host) || host_read_ipv6(host, address);
}

static bool
host_is_wildcard(Slice pattern)
{
	return slice_starts(pattern, SLICE_OF("*."));
}

/* Is the part after the last dot a number, as in an IPv4 address? */
static bool
host_ends_with_number(Slice name)
{
	int			i = name.len;

	while (i > 0 && name.s[i - 1] != '.')
		i--;
	return isdigit((unsigned char) name.s[i]);
}

static bool
host_pattern_is_valid(Slice pattern)
{
	Slice		name;

	if (!host_is_wildcard(pattern))
		return host_is_valid(pattern);
	name = slice_after(pattern, 2);
	return host_is_name(name) && !host_ends_with_number(host_without_dot(name));
}

/* Compares ignoring the case of ASCII letters, whatever the locale. */
static bool
host_texts_equal(const char *a, const char *b, int len)
{
	int			i;

	for (i = 0; i < len; i++)
		if (pg_ascii_tolower(a[i]) != pg_ascii_tolower(b[i]))
			return false;
	return true;
}

static bool
host_equal(Slice a, Slice b)
{
	unsigned char x[16];
	unsigned char y[16];

	if (host_read_ipv6(a, x) && host_read_ipv6(b, y))
		return memcmp(x, y, sizeof(x)) == 0;
	a = host_without_dot(a);
	b = host_without_dot(b);
	return a.len == b.len && host_texts_equal(a.s, b.s, a.len);
}

/*
 * Does the name end with what follows the * of the wildcard, and have
 * something before that?
 */
static bool
host_is_below(Slice name, Slice wildcard)
{
	Slice		end = host_without_dot(wildcard);

	name = host_without_dot(name);
	end.s++;
	end.len--;
	return name.len > end.len && host_texts_equal(name.s + name.len - end.len, end.s, end.len);
}

/*
 * Does the second pattern allow everything that the first, a host or a
 * wildcard, allows?
 */
static bool
host_covers(Slice pattern, Slice by)
{
	if (host_is_wildcard(by))
		return host_equal(pattern, by) || host_is_below(pattern, by);
	return host_equal(pattern, by);
}

bool
host_pattern_is_within(Slice pattern, const SliceList *patterns)
{
	int			i;

	for (i = 0; i < patterns->n; i++)
		if (host_covers(pattern, patterns->items[i]))
			return true;
	return false;
}

bool
host_lists_meet(const SliceList *a, const SliceList *b)
{
	int			i;

	/*
	 * two patterns have a host in common only if one of them covers the other
	 */
	for (i = 0; i < a->n; i++)
		if (host_pattern_is_within(a->items[i], b))
			return true;
	for (i = 0; i < b->n; i++)
		if (host_pattern_is_within(b->items[i], a))
			return true;
	return false;
}

void
host_read_patterns(Fields *f, int field, SliceList *patterns)
{
	const JsonbContainer *array = fields_array(f, field, OPTIONAL, f->list->limits->max_list,
											   "clutch.max_list");
	DocumentPlace place = fields_place(f, field);
	DocumentPlace element = {&place, SLICE_NONE};
	int			n = array ? JsonContainerSize(array) : 0;

	patterns->n = n;
	patterns->items = n > 0 ? palloc(n * sizeof(Slice)) : NULL;
	for (; element.index < n; element.index++)
	{
		JsonbValue	value;
		Slice		text;

		value_at(array, element.index, &value);
		text = value_text(&value, &element, TEXT_ID, f->list);
		patterns->items[element.index] = text;
		if (slice_present(text) && !host_pattern_is_valid(text))
			place_fault(&element, f->list, "WRONG_FORMAT",
						"is %s; it must be a host, like \"api.example.com\", \"*.example.com\", "
						"\"192.0.2.1\" or \"[2001:db8::1]\", without a scheme or a port.",
						place_quote(text));
	}
}
