/*-------------------------------------------------------------------------
 *
 * version_comparators.c
 *	  Expanding version ranges into plain comparisons.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "semver/version_comparators.h"

/* ----------------------------------------------------------------- reading */

static VersionOperator
version_comparators_read_operator(VersionReader *r)
{
	VersionOperator	op = VERSION_NONE;

	if (version_eat(r, '^'))
	{
		op = VERSION_CARET;
		(void) version_eat(r, '=');
	}
	else if (version_eat(r, '~'))
	{
		op = VERSION_TILDE;
		if (!version_eat(r, '>'))
			(void) version_eat(r, '=');
	}
	else if (version_eat(r, '<'))
		op = version_eat(r, '=') ? VERSION_LE : VERSION_LT;
	else if (version_eat(r, '>'))
		op = version_eat(r, '=') ? VERSION_GE : VERSION_GT;
	else if (version_eat(r, '='))
		op = VERSION_EQ;
	if (op != VERSION_NONE)
		(void) version_eat_spaces(r);
	return op;
}

/* --------------------------------------------------------------- expanding */

static void
version_comparators_add(VersionRange *range, VersionOperator op, Version version)
{
	/* >=0.0.0 always holds; dropping it makes ">=0" the same range as "*" */
	if (op == VERSION_GE && version.part[0] == 0 && version.part[1] == 0 &&
		version.part[2] == 0 && !slice_present(version.prerelease))
		return;
	if (range->ncomparators == VERSION_MAX_COMPARATORS)
	{
		range->too_many = true;
		return;
	}
	range->comparators[range->ncomparators].op = op;
	range->comparators[range->ncomparators].version = version;
	range->ncomparators++;
	range->alternatives[range->nalternatives - 1].n++;
}

/*
 * Returns the lowest version, including prereleases, after all versions with
 * these parts.
 */
static Version
version_comparators_next_after(const PartialVersion *partial, int parts)
{
	Version		next = {{0, 0, 0}, SLICE_OF("0")};
	int			i;

	for (i = 0; i < parts; i++)
		next.part[i] = partial->version.part[i];
	next.part[parts - 1]++;
	return next;
}

/*
 * Returns how many parts a caret fixes: those up to the first that is not 0.
 */
static int
version_comparators_caret_parts(const PartialVersion *partial)
{
	int			i;

	for (i = 0; i < partial->known - 1; i++)
	{
		if (partial->version.part[i] != 0)
			break;
	}
	return i + 1;
}

/* Adds a comparison with a version whose last parts are not known. */
static void
version_comparators_add_partial(VersionRange *range, VersionOperator op,
								const PartialVersion *partial)
{
	Version		version = partial->version;

	switch (op)
	{
		case VERSION_GT:				/* >1.2 is >=1.3.0 */
			version = version_comparators_next_after(partial, partial->known);
			version.prerelease = SLICE_NONE;
			version_comparators_add(range, VERSION_GE, version);
			break;
		case VERSION_GE:
			version_comparators_add(range, VERSION_GE, version);
			break;
		case VERSION_LT:				/* <1.2 is <1.2.0-0: no 1.2.0-beta */
			version.prerelease = SLICE_OF("0");
			version_comparators_add(range, VERSION_LT, version);
			break;
		case VERSION_LE:				/* <=1.2 is <1.3.0-0 */
			version_comparators_add(range, VERSION_LT,
									version_comparators_next_after(partial, partial->known));
			break;
		default:				/* 1.2 is >=1.2.0 <1.3.0-0 */
			version_comparators_add(range, VERSION_GE, version);
			version_comparators_add(range, VERSION_LT,
									version_comparators_next_after(partial, partial->known));
			break;
	}
}

static void
version_comparators_expand(VersionRange *range, VersionOperator op, const PartialVersion *partial)
{
	if (partial->known == 0)
	{
		/*
		 * "*" is every version, and no version is below or above all of them
		 */
		if (op == VERSION_LT || op == VERSION_GT)
			version_comparators_add(range, VERSION_LT, (Version) {{0, 0, 0}, SLICE_OF("0")});
	}
	else if (op == VERSION_CARET)
	{
		int			parts = version_comparators_caret_parts(partial);

		version_comparators_add(range, VERSION_GE, partial->version);
		version_comparators_add(range, VERSION_LT,
								version_comparators_next_after(partial, parts));
	}
	else if (op == VERSION_TILDE)
	{
		version_comparators_add(range, VERSION_GE, partial->version);
		version_comparators_add(range, VERSION_LT,
								version_comparators_next_after(partial, Min(partial->known, 2)));
	}
	else if (partial->known < 3)
		version_comparators_add_partial(range, op, partial);
	else
		version_comparators_add(range, op == VERSION_NONE ? VERSION_EQ : op, partial->version);
}

/*
 * Adds "1.2 - 2".  A partial lower end means its first version, and a partial
 * upper end all of its versions.
 */
static void
version_comparators_add_hyphen(VersionRange *range, const PartialVersion *low,
							   const PartialVersion *high)
{
	if (low->known > 0)
		version_comparators_add(range, VERSION_GE, low->version);
	if (high->known == 3)
		version_comparators_add(range, VERSION_LE, high->version);
	else if (high->known > 0)
		version_comparators_add(range, VERSION_LT,
								version_comparators_next_after(high, high->known));
}

static bool
version_comparators_eat_hyphen(VersionReader *r)
{
	VersionReader ahead = *r;

	if (version_eat_spaces(&ahead) == 0 || !version_eat(&ahead, '-') ||
		version_eat_spaces(&ahead) == 0)
		return false;
	*r = ahead;
	return true;
}

/* Reads up to "||" or the end. */
static bool
version_comparators_read_alternative(VersionReader *r, VersionRange *range)
{
	bool		first = true;
	VersionOperator	op;
	PartialVersion partial;
	PartialVersion high;

	for (;;)
	{
		(void) version_eat_spaces(r);
		if (r->at == r->end || *r->at == '|')
			return true;
		op = version_comparators_read_operator(r);
		if (!version_eat_partial(r, &partial))
			return false;
		if (first && op == VERSION_NONE && version_comparators_eat_hyphen(r))
		{
			if (!version_eat_partial(r, &high))
				return false;
			version_comparators_add_hyphen(range, &partial, &high);
			(void) version_eat_spaces(r);
			return r->at == r->end || *r->at == '|';
		}
		version_comparators_expand(range, op, &partial);
		first = false;
	}
}

bool
version_comparators_read(Slice text, VersionRange *range)
{
	VersionReader r;

	range->nalternatives = 0;
	range->ncomparators = 0;
	range->too_many = false;
	if (!version_read_begin(&r, text))
		return false;
	(void) version_eat_spaces(&r);
	if (r.at == r.end)
		return false;
	do
	{
		if (range->nalternatives == VERSION_MAX_ALTERNATIVES)
			return false;
		range->alternatives[range->nalternatives].first = range->ncomparators;
		range->alternatives[range->nalternatives].n = 0;
		range->nalternatives++;
		if (!version_comparators_read_alternative(&r, range) || range->too_many)
			return false;
		if (r.at == r.end)
			return true;
	} while (version_eat(&r, '|') && version_eat(&r, '|'));
	return false;
}
