/*-------------------------------------------------------------------------
 *
 * version.c
 *	  Semantic versions, as node-semver reads them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "semver/version.h"

/* the largest integer that node-semver accepts as a part of a version */
#define MAX_PART			UINT64CONST(9007199254740991)

/* ----------------------------------------------------------------- reading */

static inline bool
version_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
version_is_identifier_char(char c)
{
	return version_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static inline bool
version_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static inline char
version_peek(const VersionReader *r)
{
	return r->at < r->end ? *r->at : '\0';
}

bool
version_read_begin(VersionReader *r, Slice text)
{
	r->at = text.s;
	r->end = text.s + text.len;
	return text.len <= VERSION_MAX_BYTES;
}

bool
version_eat(VersionReader *r, char c)
{
	if (r->at >= r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

int
version_eat_spaces(VersionReader *r)
{
	const char *start = r->at;

	while (r->at < r->end && version_is_space(*r->at))
		r->at++;
	return r->at - start;
}

/* Reads a number without leading zeros, or x, X or *. */
static bool
version_read_part(VersionReader *r, uint64 *number, bool *is_x)
{
	const char *start = r->at;
	uint64		n = 0;

	*number = 0;
	*is_x = version_eat(r, 'x') || version_eat(r, 'X') || version_eat(r, '*');
	if (*is_x)
		return true;
	while (version_is_digit(version_peek(r)))
	{
		n = n * 10 + (*r->at++ - '0');
		if (n > MAX_PART)
			return false;
	}
	if (r->at == start || (*start == '0' && r->at - start > 1))
		return false;
	*number = n;
	return true;
}

/*
 * Reads identifiers separated by dots.  Numbers in a prerelease have no
 * leading zeros.
 */
static bool
version_read_identifiers(VersionReader *r, bool zeros_allowed)
{
	do
	{
		const char *start = r->at;
		bool		numeric = true;

		while (version_is_identifier_char(version_peek(r)))
		{
			numeric = numeric && version_is_digit(*r->at);
			r->at++;
		}
		if (r->at == start)
			return false;
		if (numeric && !zeros_allowed && *start == '0' && r->at - start > 1)
			return false;
	} while (version_eat(r, '.'));
	return true;
}

/*
 * After three parts, -prerelease and +build may follow.  The build is ignored.
 */
static bool
version_read_suffixes(VersionReader *r, PartialVersion *partial)
{
	const char *start;

	if (version_eat(r, '-'))
	{
		start = r->at;
		if (!version_read_identifiers(r, false))
			return false;
		if (partial->known == 3)
			partial->version.prerelease = (Slice) {start, r->at - start};
	}
	return !version_eat(r, '+') || version_read_identifiers(r, true);
}

bool
version_eat_partial(VersionReader *r, PartialVersion *partial)
{
	bool		x_seen = false;

	memset(partial, 0, sizeof(*partial));
	(void) version_eat(r, 'v');
	do
	{
		uint64		number;
		bool		is_x;

		if (partial->written == 3 || !version_read_part(r, &number, &is_x))
			return false;
		/* 1.x.3 has no meaning */
		if (x_seen && !is_x)
			return false;
		partial->written++;
		x_seen = is_x;
		if (!x_seen)
			partial->version.part[partial->known++] = number;
	} while (version_eat(r, '.'));

	if (partial->written == 3 && !version_read_suffixes(r, partial))
		return false;
	return r->at == r->end || version_is_space(*r->at) || *r->at == '|';
}

bool
version_parse(Slice text, Version *version)
{
	VersionReader r;
	PartialVersion partial;

	if (!version_read_begin(&r, text))
		return false;
	(void) version_eat_spaces(&r);
	if (!version_eat_partial(&r, &partial) || partial.known < partial.written)
		return false;
	(void) version_eat_spaces(&r);
	if (r.at != r.end)
		return false;
	*version = partial.version;
	return true;
}

/* --------------------------------------------------------------- comparing */

static Slice
version_next_identifier(Slice *rest)
{
	const char *dot = memchr(rest->s, '.', rest->len);
	Slice		identifier = {rest->s, dot ? dot - rest->s : rest->len};

	rest->s += identifier.len + (dot ? 1 : 0);
	rest->len -= identifier.len + (dot ? 1 : 0);
	return identifier;
}

static bool
version_is_numeric(Slice identifier)
{
	int			i;

	for (i = 0; i < identifier.len; i++)
	{
		if (!version_is_digit(identifier.s[i]))
			return false;
	}
	return true;
}

/*
 * Numbers precede words, and are compared by value; because they have no
 * leading zeros, the longer one is larger.
 */
static int
version_compare_identifiers(Slice a, Slice b)
{
	bool		a_numeric = version_is_numeric(a);
	bool		b_numeric = version_is_numeric(b);

	if (a_numeric != b_numeric)
		return a_numeric ? -1 : 1;
	if (a_numeric && a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return slice_compare(a, b);
}

static int
version_compare_prereleases(Slice a, Slice b)
{
	int			order;

	while (a.len > 0 && b.len > 0)
	{
		order = version_compare_identifiers(version_next_identifier(&a), version_next_identifier(&b));
		if (order != 0)
			return order;
	}
	return (a.len > 0) - (b.len > 0);
}

bool
version_same_parts(const Version *a, const Version *b)
{
	return memcmp(a->part, b->part, sizeof(a->part)) == 0;
}

int
version_compare(const Version *a, const Version *b)
{
	int			i;

	for (i = 0; i < 3; i++)
	{
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	}
	if (!slice_present(a->prerelease) || !slice_present(b->prerelease))
		return slice_present(b->prerelease) - slice_present(a->prerelease);
	return version_compare_prereleases(a->prerelease, b->prerelease);
}
