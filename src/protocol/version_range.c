/*-------------------------------------------------------------------------
 *
 * version_range.c
 *	  Ranges of versions, as node-semver reads them.
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
 * Texts and counts are bounded, so that a hostile card costs no more than a
 * good one.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/version.h"
#include "protocol/version_range.h"

#define MAX_COMPARATORS		64
#define MAX_ALTERNATIVES	32

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

/* ----------------------------------------------------------------- reading */

static Operator
read_operator(VersionReader *r)
{
	Operator	op = OP_NONE;

	if (version_reader_eat(r, '^'))
	{
		op = OP_CARET;
		(void) version_reader_eat(r, '=');
	}
	else if (version_reader_eat(r, '~'))
	{
		op = OP_TILDE;
		if (!version_reader_eat(r, '>'))
			(void) version_reader_eat(r, '=');
	}
	else if (version_reader_eat(r, '<'))
		op = version_reader_eat(r, '=') ? OP_LE : OP_LT;
	else if (version_reader_eat(r, '>'))
		op = version_reader_eat(r, '=') ? OP_GE : OP_GT;
	else if (version_reader_eat(r, '='))
		op = OP_EQ;
	if (op != OP_NONE)
		(void) version_reader_eat_spaces(r);
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
next_after(const PartialVersion *partial, int parts)
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
caret_parts(const PartialVersion *partial)
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
add_open_comparison(VersionRange *range, Operator op, const PartialVersion *partial)
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
add_comparator(VersionRange *range, Operator op, const PartialVersion *partial)
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
add_hyphen(VersionRange *range, const PartialVersion *low, const PartialVersion *high)
{
	if (low->known > 0)
		add(range, OP_GE, low->version);
	if (high->known == 3)
		add(range, OP_LE, high->version);
	else if (high->known > 0)
		add(range, OP_LT, next_after(high, high->known));
}

static bool
eat_hyphen(VersionReader *r)
{
	VersionReader ahead = *r;

	if (version_reader_eat_spaces(&ahead) == 0 || !version_reader_eat(&ahead, '-') || version_reader_eat_spaces(&ahead) == 0)
		return false;
	*r = ahead;
	return true;
}

/* up to "||" or the end */
static bool
read_alternative(VersionReader *r, VersionRange *range)
{
	bool		first = true;
	Operator	op;
	PartialVersion partial;
	PartialVersion high;

	for (;;)
	{
		(void) version_reader_eat_spaces(r);
		if (r->at == r->end || *r->at == '|')
			return true;
		op = read_operator(r);
		if (!version_reader_partial(r, &partial))
			return false;
		if (first && op == OP_NONE && eat_hyphen(r))
		{
			if (!version_reader_partial(r, &high))
				return false;
			add_hyphen(range, &partial, &high);
			(void) version_reader_eat_spaces(r);
			return r->at == r->end || *r->at == '|';
		}
		add_comparator(range, op, &partial);
		first = false;
	}
}

static bool
read_range(Slice text, VersionRange *range)
{
	VersionReader r;

	range->nalternatives = 0;
	range->ncomparators = 0;
	range->too_many = false;
	if (!version_reader_begin(&r, text))
		return false;
	(void) version_reader_eat_spaces(&r);
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
	} while (version_reader_eat(&r, '|') && version_reader_eat(&r, '|'));
	return false;
}

/* ---------------------------------------------------------------- holding */

static bool
comparator_holds(const Comparator *comparator, const Version *version)
{
	int			order = version_compare(version, &comparator->version);

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
			version_same_parts(&comparators[i].version, version))
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

/* one end of what several comparators leave; not there: 0.0.0, or infinity */
typedef struct Bound
{
	bool		is_there;
	bool		included;
	Version		version;
} Bound;

/* upward 1 for a low end, which only rises; -1 for a high one, which falls */
static void
tighten(Bound *bound, int upward, const Version *version, bool included)
{
	int			order = bound->is_there ?
		upward * version_compare(version, &bound->version) : 1;

	if (order > 0)
		*bound = (Bound) {true, included, *version};
	else if (order == 0)
		bound->included = bound->included && included;
}

static void
narrow(Bound *low, Bound *high, const VersionRange *range, const Alternative *alternative)
{
	const Comparator *c = &range->comparators[alternative->first];
	int			i;

	for (i = 0; i < alternative->n; i++, c++)
	{
		if (c->op == OP_GT || c->op == OP_GE || c->op == OP_EQ)
			tighten(low, 1, &c->version, c->op != OP_GT);
		if (c->op == OP_LT || c->op == OP_LE || c->op == OP_EQ)
			tighten(high, -1, &c->version, c->op != OP_LT);
	}
}

static bool
alternatives_overlap(const VersionRange *a, const Alternative *in_a,
					 const VersionRange *b, const Alternative *in_b)
{
	/* nothing is below 0.0.0: the open low end includes it */
	Bound		low = {false, true, {{0, 0, 0}, SLICE_NONE}};
	Bound		high = {false};
	int			order;

	narrow(&low, &high, a, in_a);
	narrow(&low, &high, b, in_b);
	if (!high.is_there)
		return true;
	order = version_compare(&low.version, &high.version);
	return order < 0 || (order == 0 && low.included && high.included);
}

static bool
ranges_overlap(const VersionRange *a, const VersionRange *b)
{
	int			i;
	int			j;

	for (i = 0; i < a->nalternatives; i++)
	{
		for (j = 0; j < b->nalternatives; j++)
		{
			if (alternatives_overlap(a, &a->alternatives[i], b, &b->alternatives[j]))
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
	if (version_parse(offered, &version))
		return range_holds(&asked_range, &version);
	return read_range(offered, &offered_range) &&
		ranges_overlap(&offered_range, &asked_range);
}
