/*-------------------------------------------------------------------------
 *
 * version_range.c
 *	  Semantic versions and ranges, as node-semver reads them.
 *
 * A range is a list of alternatives ("||"), each a list of comparators that
 * must all hold.  What is short for something is written out while reading,
 * with node-semver's own expansions:
 *
 *		1.2			>=1.2.0 <1.3.0-0
 *		~1.2.3		>=1.2.3 <1.3.0-0
 *		^1.2.3		>=1.2.3 <2.0.0-0
 *		1.2 - 2		>=1.2.0 <3.0.0-0
 *
 * so that only five plain comparisons are left.  An alternative without any
 * comparator is "*".  A prerelease lies in an alternative only if one of its
 * comparators names a prerelease of the very same major.minor.patch.
 *
 * Reading allocates nothing and looks at each byte once; texts and counts
 * are bounded, so that a hostile card costs no more than a good one.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "registry/version_range.h"

#define MAX_RANGE_BYTES		256
#define MAX_COMPARATORS		64
#define MAX_ALTERNATIVES	32

/* the largest integer that node-semver takes for a part of a version */
#define MAX_PART			UINT64CONST(9007199254740991)

typedef struct Version
{
	uint64		part[3];		/* major, minor, patch */
	Slice		prerelease;		/* without the "-"; absent: a release */
} Version;

/* a version of which the last parts may be missing or x */
typedef struct Partial
{
	int			known;			/* how many parts, from the left, are numbers */
	int			written;		/* how many are there at all */
	Version		version;		/* parts not known are 0 */
} Partial;

typedef enum Operator
{
	OP_NONE,
	OP_EQ,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_TILDE,
	OP_CARET
} Operator;

typedef struct Comparator
{
	Operator	op;				/* OP_EQ .. OP_GE */
	Version		version;
} Comparator;

typedef struct Alternative
{
	int			first;			/* of its comparators */
	int			n;
} Alternative;

typedef struct VersionRange
{
	int			nalternatives;
	int			ncomparators;
	bool		too_many;
	Alternative alternatives[MAX_ALTERNATIVES];
	Comparator	comparators[MAX_COMPARATORS];
} VersionRange;

/* what lies between two versions; no low end: 0.0.0, no high end: infinity */
typedef struct Interval
{
	bool		has_low;
	bool		has_high;
	bool		low_included;
	bool		high_included;
	Version		low;
	Version		high;
} Interval;

typedef struct Reader
{
	const char *at;
	const char *end;
} Reader;

/* ----------------------------------------------------------------- reading */

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
is_identifier_char(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static inline bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static inline char
peek(const Reader *r)
{
	return r->at < r->end ? *r->at : '\0';
}

static bool
eat(Reader *r, char c)
{
	if (r->at >= r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static int
eat_spaces(Reader *r)
{
	const char *start = r->at;

	while (r->at < r->end && is_space(*r->at))
		r->at++;
	return r->at - start;
}

/* a number without leading zeros, or x X * */
static bool
read_part(Reader *r, uint64 *number, bool *is_x)
{
	const char *start = r->at;
	uint64		n = 0;

	*number = 0;
	*is_x = eat(r, 'x') || eat(r, 'X') || eat(r, '*');
	if (*is_x)
		return true;
	while (is_digit(peek(r)))
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

/* identifiers between dots; a prerelease's numbers have no leading zeros */
static bool
read_identifiers(Reader *r, bool zeros_allowed)
{
	do
	{
		const char *start = r->at;
		bool		numeric = true;

		while (is_identifier_char(peek(r)))
		{
			numeric = numeric && is_digit(*r->at);
			r->at++;
		}
		if (r->at == start)
			return false;
		if (numeric && !zeros_allowed && *start == '0' && r->at - start > 1)
			return false;
	} while (eat(r, '.'));
	return true;
}

/* what may follow three parts: -prerelease and +build, which is ignored */
static bool
read_suffixes(Reader *r, Partial *partial)
{
	const char *start;

	if (eat(r, '-'))
	{
		start = r->at;
		if (!read_identifiers(r, false))
			return false;
		if (partial->known == 3)
			partial->version.prerelease = (Slice) {start, r->at - start};
	}
	return !eat(r, '+') || read_identifiers(r, true);
}

static bool
read_partial(Reader *r, Partial *partial)
{
	bool		x_seen = false;

	memset(partial, 0, sizeof(*partial));
	(void) eat(r, 'v');
	do
	{
		uint64		number;
		bool		is_x;

		if (partial->written == 3 || !read_part(r, &number, &is_x))
			return false;
		/* 1.x.3 says nothing that could be meant */
		if (x_seen && !is_x)
			return false;
		partial->written++;
		x_seen = is_x;
		if (!x_seen)
			partial->version.part[partial->known++] = number;
	} while (eat(r, '.'));

	if (partial->written == 3 && !read_suffixes(r, partial))
		return false;
	return r->at == r->end || is_space(*r->at) || *r->at == '|';
}

static Operator
read_operator(Reader *r)
{
	Operator	op = OP_NONE;

	if (eat(r, '^'))
	{
		op = OP_CARET;
		(void) eat(r, '=');
	}
	else if (eat(r, '~'))
	{
		op = OP_TILDE;
		if (!eat(r, '>'))
			(void) eat(r, '=');
	}
	else if (eat(r, '<'))
		op = eat(r, '=') ? OP_LE : OP_LT;
	else if (eat(r, '>'))
		op = eat(r, '=') ? OP_GE : OP_GT;
	else if (eat(r, '='))
		op = OP_EQ;
	if (op != OP_NONE)
		(void) eat_spaces(r);
	return op;
}

/* --------------------------------------------------------------- expanding */

static void
add(VersionRange *range, Operator op, Version version)
{
	/* >=0.0.0 says nothing: with it "*" would be another than ">=0" */
	if (op == OP_GE && version.part[0] == 0 && version.part[1] == 0 &&
		version.part[2] == 0 && !slice_present(version.prerelease))
		return;
	if (range->ncomparators == MAX_COMPARATORS)
	{
		range->too_many = true;
		return;
	}
	range->comparators[range->ncomparators].op = op;
	range->comparators[range->ncomparators].version = version;
	range->ncomparators++;
	range->alternatives[range->nalternatives - 1].n++;
}

/* the lowest version, prereleases included, after all that share these parts */
static Version
next_after(const Partial *partial, int parts)
{
	Version		next = {{0, 0, 0}, SLICE_OF("0")};
	int			i;

	for (i = 0; i < parts; i++)
		next.part[i] = partial->version.part[i];
	next.part[parts - 1]++;
	return next;
}

/* how many parts a caret holds fast: up to the first that is not 0 */
static int
caret_parts(const Partial *partial)
{
	int			i;

	for (i = 0; i < partial->known - 1; i++)
	{
		if (partial->version.part[i] != 0)
			break;
	}
	return i + 1;
}

static void
add_nothing_fits(VersionRange *range)
{
	add(range, OP_LT, (Version) {{0, 0, 0}, SLICE_OF("0")});
}

/* a comparison with a version whose last parts are open */
static void
add_open_comparison(VersionRange *range, Operator op, const Partial *partial)
{
	Version		version = partial->version;

	switch (op)
	{
		case OP_GT:				/* >1.2 is >=1.3.0 */
			version = next_after(partial, partial->known);
			version.prerelease = SLICE_NONE;
			add(range, OP_GE, version);
			break;
		case OP_GE:
			add(range, OP_GE, version);
			break;
		case OP_LT:				/* <1.2 is <1.2.0-0: no 1.2.0-beta */
			version.prerelease = SLICE_OF("0");
			add(range, OP_LT, version);
			break;
		case OP_LE:				/* <=1.2 is <1.3.0-0 */
			add(range, OP_LT, next_after(partial, partial->known));
			break;
		default:				/* 1.2 is >=1.2.0 <1.3.0-0 */
			add(range, OP_GE, version);
			add(range, OP_LT, next_after(partial, partial->known));
			break;
	}
}

static void
add_comparator(VersionRange *range, Operator op, const Partial *partial)
{
	if (partial->known == 0)
	{
		/* "*": everything, but there is nothing beyond everything */
		if (op == OP_LT || op == OP_GT)
			add_nothing_fits(range);
	}
	else if (op == OP_CARET)
	{
		add(range, OP_GE, partial->version);
		add(range, OP_LT, next_after(partial, caret_parts(partial)));
	}
	else if (op == OP_TILDE)
	{
		add(range, OP_GE, partial->version);
		add(range, OP_LT, next_after(partial, Min(partial->known, 2)));
	}
	else if (partial->known < 3)
		add_open_comparison(range, op, partial);
	else
		add(range, op == OP_NONE ? OP_EQ : op, partial->version);
}

/* "1.2 - 2": an open low end starts at its first, an open high end is wholly in */
static void
add_hyphen(VersionRange *range, const Partial *low, const Partial *high)
{
	if (low->known > 0)
		add(range, OP_GE, low->version);
	if (high->known == 3)
		add(range, OP_LE, high->version);
	else if (high->known > 0)
		add(range, OP_LT, next_after(high, high->known));
}

static bool
eat_hyphen(Reader *r)
{
	Reader		ahead = *r;

	if (eat_spaces(&ahead) == 0 || !eat(&ahead, '-') || eat_spaces(&ahead) == 0)
		return false;
	*r = ahead;
	return true;
}

/* up to "||" or the end */
static bool
read_alternative(Reader *r, VersionRange *range)
{
	bool		first = true;
	Operator	op;
	Partial		partial;
	Partial		high;

	for (;;)
	{
		(void) eat_spaces(r);
		if (r->at == r->end || *r->at == '|')
			return true;
		op = read_operator(r);
		if (!read_partial(r, &partial))
			return false;
		if (first && op == OP_NONE && eat_hyphen(r))
		{
			if (!read_partial(r, &high))
				return false;
			add_hyphen(range, &partial, &high);
			(void) eat_spaces(r);
			return r->at == r->end || *r->at == '|';
		}
		add_comparator(range, op, &partial);
		first = false;
	}
}

static bool
read_range(Slice text, VersionRange *range)
{
	Reader		r = {text.s, text.s + text.len};

	range->nalternatives = 0;
	range->ncomparators = 0;
	range->too_many = false;
	if (text.len > MAX_RANGE_BYTES)
		return false;
	(void) eat_spaces(&r);
	if (r.at == r.end)
		return false;
	do
	{
		if (range->nalternatives == MAX_ALTERNATIVES)
			return false;
		range->alternatives[range->nalternatives].first = range->ncomparators;
		range->alternatives[range->nalternatives].n = 0;
		range->nalternatives++;
		if (!read_alternative(&r, range) || range->too_many)
			return false;
		if (r.at == r.end)
			return true;
	} while (eat(&r, '|') && eat(&r, '|'));
	return false;
}

/* a version alone, as a card offers it: 1, 1.0, v1.2.3-beta+5 */
static bool
read_version(Slice text, Version *version)
{
	Reader		r = {text.s, text.s + text.len};
	Partial		partial;

	if (text.len > MAX_RANGE_BYTES)
		return false;
	(void) eat_spaces(&r);
	if (!read_partial(&r, &partial) || partial.known < partial.written)
		return false;
	(void) eat_spaces(&r);
	if (r.at != r.end)
		return false;
	*version = partial.version;
	return true;
}

/* --------------------------------------------------------------- comparing */

static Slice
next_identifier(Slice *rest)
{
	const char *dot = memchr(rest->s, '.', rest->len);
	Slice		identifier = {rest->s, dot ? dot - rest->s : rest->len};

	rest->s += identifier.len + (dot ? 1 : 0);
	rest->len -= identifier.len + (dot ? 1 : 0);
	return identifier;
}

static bool
is_numeric(Slice identifier)
{
	int			i;

	for (i = 0; i < identifier.len; i++)
	{
		if (!is_digit(identifier.s[i]))
			return false;
	}
	return true;
}

/* numbers by value (no leading zeros: by length first) and before words */
static int
compare_identifiers(Slice a, Slice b)
{
	bool		a_numeric = is_numeric(a);
	bool		b_numeric = is_numeric(b);

	if (a_numeric != b_numeric)
		return a_numeric ? -1 : 1;
	if (a_numeric && a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return slice_compare(a, b);
}

static int
compare_prereleases(Slice a, Slice b)
{
	int			order;

	while (a.len > 0 && b.len > 0)
	{
		order = compare_identifiers(next_identifier(&a), next_identifier(&b));
		if (order != 0)
			return order;
	}
	return (a.len > 0) - (b.len > 0);
}

static bool
same_parts(const Version *a, const Version *b)
{
	return memcmp(a->part, b->part, sizeof(a->part)) == 0;
}

static int
compare_versions(const Version *a, const Version *b)
{
	int			i;

	for (i = 0; i < 3; i++)
	{
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	}
	if (!slice_present(a->prerelease) || !slice_present(b->prerelease))
		return slice_present(b->prerelease) - slice_present(a->prerelease);
	return compare_prereleases(a->prerelease, b->prerelease);
}

static bool
comparator_holds(const Comparator *comparator, const Version *version)
{
	int			order = compare_versions(version, &comparator->version);

	switch (comparator->op)
	{
		case OP_LT:
			return order < 0;
		case OP_LE:
			return order <= 0;
		case OP_GT:
			return order > 0;
		case OP_GE:
			return order >= 0;
		default:
			return order == 0;
	}
}

static bool
alternative_holds(const VersionRange *range, const Alternative *alternative,
				  const Version *version)
{
	const Comparator *comparators = &range->comparators[alternative->first];
	bool		welcome = !slice_present(version->prerelease);
	int			i;

	for (i = 0; i < alternative->n; i++)
	{
		if (!comparator_holds(&comparators[i], version))
			return false;
		if (slice_present(comparators[i].version.prerelease) &&
			same_parts(&comparators[i].version, version))
			welcome = true;
	}
	return welcome;
}

static bool
range_holds(const VersionRange *range, const Version *version)
{
	int			i;

	for (i = 0; i < range->nalternatives; i++)
	{
		if (alternative_holds(range, &range->alternatives[i], version))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------- overlapping */

static void
raise_low(Interval *interval, const Version *low, bool included)
{
	int			order = interval->has_low ? compare_versions(low, &interval->low) : 1;

	if (order > 0)
	{
		interval->has_low = true;
		interval->low = *low;
		interval->low_included = included;
	}
	else if (order == 0)
		interval->low_included = interval->low_included && included;
}

static void
lower_high(Interval *interval, const Version *high, bool included)
{
	int			order = interval->has_high ? compare_versions(high, &interval->high) : -1;

	if (order < 0)
	{
		interval->has_high = true;
		interval->high = *high;
		interval->high_included = included;
	}
	else if (order == 0)
		interval->high_included = interval->high_included && included;
}

static void
narrow(Interval *interval, const VersionRange *range, const Alternative *alternative)
{
	const Comparator *c = &range->comparators[alternative->first];
	int			i;

	for (i = 0; i < alternative->n; i++, c++)
	{
		if (c->op == OP_GT || c->op == OP_GE || c->op == OP_EQ)
			raise_low(interval, &c->version, c->op != OP_GT);
		if (c->op == OP_LT || c->op == OP_LE || c->op == OP_EQ)
			lower_high(interval, &c->version, c->op != OP_LT);
	}
}

static bool
interval_is_empty(const Interval *interval)
{
	Version		zero = {{0, 0, 0}, SLICE_NONE};
	bool		included = interval->has_low ? interval->low_included : true;
	int			order;

	if (!interval->has_high)
		return false;
	order = compare_versions(interval->has_low ? &interval->low : &zero,
							 &interval->high);
	return order > 0 || (order == 0 && !(included && interval->high_included));
}

static bool
ranges_overlap(const VersionRange *a, const VersionRange *b)
{
	Interval	interval;
	int			i;
	int			j;

	for (i = 0; i < a->nalternatives; i++)
	{
		for (j = 0; j < b->nalternatives; j++)
		{
			memset(&interval, 0, sizeof(interval));
			narrow(&interval, a, &a->alternatives[i]);
			narrow(&interval, b, &b->alternatives[j]);
			if (!interval_is_empty(&interval))
				return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------- what is asked */

bool
version_range_valid(Slice text)
{
	VersionRange range;

	return slice_present(text) && read_range(text, &range);
}

bool
version_range_is_any(Slice asked)
{
	VersionRange range;
	int			i;

	if (!slice_present(asked) || !read_range(asked, &range))
		return false;
	for (i = 0; i < range.nalternatives; i++)
	{
		if (range.alternatives[i].n == 0)
			return true;
	}
	return false;
}

bool
version_range_meets(Slice offered, Slice asked)
{
	VersionRange asked_range;
	VersionRange offered_range;
	Version		version;

	if (!slice_present(offered) || !slice_present(asked) ||
		!read_range(asked, &asked_range))
		return false;
	if (read_version(offered, &version))
		return range_holds(&asked_range, &version);
	return read_range(offered, &offered_range) &&
		ranges_overlap(&offered_range, &asked_range);
}
