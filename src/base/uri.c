/*-------------------------------------------------------------------------
 *
 * uri.c
 *	  URI references (RFC 3986): recognizing, resolving and decoding them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/uri.h"

#include <ctype.h>

#include "lib/stringinfo.h"

/*
 * Returns how many bytes of the text come before the first character that is
 * in "until".
 */
static int
uri_span(Slice text, const char *until)
{
	int			n = 0;

	while (n < text.len && strchr(until, text.s[n]) == NULL)
		n++;
	return n;
}

static Slice
uri_cut(Slice *rest, int n)
{
	Slice		cut = {rest->s, n};

	rest->s += n;
	rest->len -= n;
	return cut;
}

static int
uri_scheme_length(Slice text)
{
	int			n = 0;

	if (text.len == 0 || !isalpha((unsigned char) text.s[0]))
		return 0;
	while (n < text.len && (isalnum((unsigned char) text.s[n]) || text.s[n] == '+' ||
							text.s[n] == '-' || text.s[n] == '.'))
		n++;
	return n < text.len && text.s[n] == ':' ? n : 0;
}

bool
uri_is_absolute(Slice uri)
{
	return uri_scheme_length(uri) > 0;
}

bool
uri_is_plausible(Slice uri)
{
	int			scheme = uri_scheme_length(uri);
	int			i;

	if (scheme == 0 || scheme + 1 == uri.len)
		return false;
	for (i = scheme; i < uri.len; i++)
		if ((unsigned char) uri.s[i] <= ' ' || uri.s[i] == '\x7f')
			return false;
	return true;
}

UriParts
uri_parse(Slice text)
{
	UriParts	parts = {SLICE_NONE, SLICE_NONE, SLICE_NONE, SLICE_NONE, SLICE_NONE};
	int			scheme = uri_scheme_length(text);

	if (scheme > 0)
	{
		parts.scheme = uri_cut(&text, scheme);
		(void) uri_cut(&text, 1);
	}
	if (slice_starts(text, SLICE_OF("//")))
	{
		(void) uri_cut(&text, 2);
		parts.authority = uri_cut(&text, uri_span(text, "/?#"));
	}
	parts.path = uri_cut(&text, uri_span(text, "?#"));
	if (text.len > 0 && text.s[0] == '?')
	{
		(void) uri_cut(&text, 1);
		parts.query = uri_cut(&text, uri_span(text, "#"));
	}
	if (text.len > 0)
		parts.fragment = slice_after(text, 1);
	return parts;
}

/* Implements RFC 3986 5.2.4, appending to the buffer. */
static void
uri_append_without_dots(StringInfo buf, Slice path)
{
	int			start = buf->len;

	while (path.len > 0)
	{
		bool		rooted = path.s[0] == '/';
		Slice		rest = slice_after(path, rooted);
		Slice		segment = uri_cut(&rest, uri_span(rest, "/"));
		bool		up = slice_equal(segment, SLICE_OF(".."));

		if (up)
		{
			while (buf->len > start && buf->data[buf->len - 1] != '/')
				buf->len--;
			if (buf->len > start)
				buf->len--;
			buf->data[buf->len] = '\0';
		}
		if (up || slice_equal(segment, SLICE_OF(".")))
		{
			if (rest.len == 0 && rooted)
				appendStringInfoChar(buf, '/');
		}
		else
		{
			if (rooted)
				appendStringInfoChar(buf, '/');
			appendBinaryStringInfo(buf, segment.s, segment.len);
		}
		path = rest;
	}
}

/*
 * Implements RFC 3986 5.2.3: the path of the reference replaces the last
 * segment.
 */
static Slice
uri_merge_paths(const UriParts *base, Slice path)
{
	int			keep = base->path.len;
	StringInfoData buf;

	while (keep > 0 && base->path.s[keep - 1] != '/')
		keep--;
	initStringInfo(&buf);
	if (slice_present(base->authority) && base->path.len == 0)
		appendStringInfoChar(&buf, '/');
	appendBinaryStringInfo(&buf, base->path.s, keep);
	appendBinaryStringInfo(&buf, path.s, path.len);
	return (Slice) {buf.data, buf.len};
}

static Slice
uri_write(const UriParts *parts, bool without_dots)
{
	StringInfoData buf;

	initStringInfo(&buf);
	if (slice_present(parts->scheme))
		appendStringInfo(&buf, "%.*s:", parts->scheme.len, parts->scheme.s);
	if (slice_present(parts->authority))
		appendStringInfo(&buf, "//%.*s", parts->authority.len, parts->authority.s);
	if (without_dots)
		uri_append_without_dots(&buf, parts->path);
	else
		appendBinaryStringInfo(&buf, parts->path.s, parts->path.len);
	if (slice_present(parts->query))
		appendStringInfo(&buf, "?%.*s", parts->query.len, parts->query.s);
	return (Slice) {buf.data, buf.len};
}

Slice
uri_resolve(Slice base_uri, Slice reference, Slice *fragment)
{
	UriParts	base = uri_parse(base_uri);
	UriParts	r = uri_parse(reference);

	*fragment = r.fragment;
	if (slice_present(r.scheme))
		return uri_write(&r, slice_starts(r.path, SLICE_OF("/")));
	r.scheme = base.scheme;
	if (slice_present(r.authority))
		return uri_write(&r, true);
	r.authority = base.authority;
	if (r.path.len == 0)
	{
		r.path = base.path;
		if (!slice_present(r.query))
			r.query = base.query;
		return uri_write(&r, false);
	}
	if (r.path.s[0] != '/')
		r.path = uri_merge_paths(&base, r.path);
	return uri_write(&r, true);
}

static int
uri_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Returns the byte that the percent sign encodes together with the two digits
 * after it, or -1 if these are missing.
 */
static int
uri_byte_at(Slice encoded, int percent)
{
	int			high = percent + 2 < encoded.len ? uri_hex(encoded.s[percent + 1]) : -1;
	int			low = high >= 0 ? uri_hex(encoded.s[percent + 2]) : -1;

	return low >= 0 ? high << 4 | low : -1;
}

Slice
uri_decode(Slice encoded, bool strict)
{
	char	   *text = palloc(encoded.len + 1);
	int			n = 0;
	int			i;

	for (i = 0; i < encoded.len; i++)
	{
		bool		is_percent = encoded.s[i] == '%';
		int			byte = is_percent ? uri_byte_at(encoded, i) : -1;

		if (is_percent && byte < 0 && strict)
			return SLICE_NONE;
		text[n++] = byte >= 0 ? (char) byte : encoded.s[i];
		i += byte >= 0 ? 2 : 0;
	}
	text[n] = '\0';
	return (Slice) {text, n};
}
