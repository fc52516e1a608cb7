/*-------------------------------------------------------------------------
 *
 * version_range.c
 *	  Does what a card offers meet what a request asks, as node-semver sees it?
 *
 * A prerelease lies in an alternative only if one of its comparators names a
 * prerelease of the very same major.minor.patch.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "semver/version_comparators.h"
#include "semver/version_range.h"

/* ----------------------------------------------------------------- holding */

static bool
comparator_holds(const VersionComparator *comparator, const Version *version)
{
	int			order = version_compare(version, &comparator->version);

	switch (comparator->op)
	{
		case VERSION_LT:
			return order < 0;
		case VERSION_LE:
			return order <= 0;
		case VERSION_GT:
			return order > 0;
		case VERSION_GE:
			return order >= 0;
		default:
			return order == 0;
	}
}

static bool
alternative_holds(const VersionRange *range, const VersionAlternative *alternative,
				  const Version *version)
{
	const VersionComparator *comparators = &range->comparators[alternative->first];
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
narrow(Bound *low, Bound *high, const VersionRange *range,
	   const VersionAlternative *alternative)
{
	const VersionComparator *c = &range->comparators[alternative->first];
	int			i;

	for (i = 0; i < alternative->n; i++, c++)
	{
		if (c->op == VERSION_GT || c->op == VERSION_GE || c->op == VERSION_EQ)
			tighten(low, 1, &c->version, c->op != VERSION_GT);
		if (c->op == VERSION_LT || c->op == VERSION_LE || c->op == VERSION_EQ)
			tighten(high, -1, &c->version, c->op != VERSION_LT);
	}
}

static bool
alternatives_overlap(const VersionRange *a, const VersionAlternative *in_a,
					 const VersionRange *b, const VersionAlternative *in_b)
{
	/* an open low end begins with 0.0.0 */
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

/* ---------------------------------------------------------- what is asked */

bool
version_range_valid(Slice text)
{
	VersionRange range;

	return slice_present(text) && version_comparators_read(text, &range);
}

bool
version_range_is_any(Slice asked)
{
	VersionRange range;
	int			i;

	if (!slice_present(asked) || !version_comparators_read(asked, &range))
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
		!version_comparators_read(asked, &asked_range))
		return false;
	if (version_parse(offered, &version))
		return range_holds(&asked_range, &version);
	return version_comparators_read(offered, &offered_range) &&
		ranges_overlap(&offered_range, &asked_range);
}
