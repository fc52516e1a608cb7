/*-------------------------------------------------------------------------
 *
 * version_range.c
 *	  Deciding whether the version that a card offers satisfies the range that
 *	  a request requires, by the rules of node-semver.
 *
 * An alternative contains a prerelease only if one of its comparators names a
 * prerelease with the same major, minor and patch.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "semver/version_comparators.h"
#include "semver/version_range.h"

/* ----------------------------------------------------------------- holding */

static bool
version_range_comparator_holds(const VersionComparator *comparator, const Version *version)
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
version_range_alternative_holds(const VersionRange *range, const VersionAlternative *alternative,
								const Version *version)
{
	const VersionComparator *comparators = &range->comparators[alternative->first];
	bool		prerelease_allowed = !slice_present(version->prerelease);
	int			i;

	for (i = 0; i < alternative->n; i++)
	{
		if (!version_range_comparator_holds(&comparators[i], version))
			return false;
		if (slice_present(comparators[i].version.prerelease) &&
			version_same_parts(&comparators[i].version, version))
			prerelease_allowed = true;
	}
	return prerelease_allowed;
}

static bool
version_range_contains(const VersionRange *range, const Version *version)
{
	int			i;

	for (i = 0; i < range->nalternatives; i++)
	{
		if (version_range_alternative_holds(range, &range->alternatives[i], version))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------- overlapping */

/*
 * One end of the versions that comparators allow.  If absent, it is 0.0.0 or
 * infinity.
 */
typedef struct Bound
{
	bool		is_present;
	bool		included;
	Version		version;
} Bound;

/*
 * Tightens a bound.  upward is 1 for a lower end, which only rises, and -1 for
 * an upper end.
 */
static void
version_range_tighten_bound(Bound *bound, int upward, const Version *version, bool included)
{
	int			order = bound->is_present ?
		upward * version_compare(version, &bound->version) : 1;

	if (order > 0)
		*bound = (Bound) {true, included, *version};
	else if (order == 0)
		bound->included = bound->included && included;
}

/*
 * Narrows the bounds to the versions that satisfy every comparator of the
 * alternative.
 */
static void
version_range_narrow_bounds(Bound *low, Bound *high, const VersionRange *range,
							const VersionAlternative *alternative)
{
	const VersionComparator *c = &range->comparators[alternative->first];
	int			i;

	for (i = 0; i < alternative->n; i++, c++)
	{
		if (c->op == VERSION_GT || c->op == VERSION_GE || c->op == VERSION_EQ)
			version_range_tighten_bound(low, 1, &c->version, c->op != VERSION_GT);
		if (c->op == VERSION_LT || c->op == VERSION_LE || c->op == VERSION_EQ)
			version_range_tighten_bound(high, -1, &c->version, c->op != VERSION_LT);
	}
}

static bool
version_range_alternatives_overlap(const VersionRange *a, const VersionAlternative *in_a,
								   const VersionRange *b, const VersionAlternative *in_b)
{
	/* without a lower end, the versions begin with 0.0.0 */
	Bound		low = {false, true, {{0, 0, 0}, SLICE_NONE}};
	Bound		high = {false};
	int			order;

	version_range_narrow_bounds(&low, &high, a, in_a);
	version_range_narrow_bounds(&low, &high, b, in_b);
	if (!high.is_present)
		return true;
	order = version_compare(&low.version, &high.version);
	return order < 0 || (order == 0 && low.included && high.included);
}

static bool
version_range_overlaps(const VersionRange *a, const VersionRange *b)
{
	int			i;
	int			j;

	for (i = 0; i < a->nalternatives; i++)
	{
		for (j = 0; j < b->nalternatives; j++)
		{
			if (version_range_alternatives_overlap(a, &a->alternatives[i], b, &b->alternatives[j]))
				return true;
		}
	}
	return false;
}

/* --------------------------------------------------------------- interface */

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
		return version_range_contains(&asked_range, &version);
	return version_comparators_read(offered, &offered_range) &&
		version_range_overlaps(&offered_range, &asked_range);
}
