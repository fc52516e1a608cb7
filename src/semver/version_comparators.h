/*-------------------------------------------------------------------------
 *
 * version_comparators.h
 *	  A range of versions, written out as plain comparisons.
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
 * comparator is "*".
 *
 * Texts and counts are bounded, so that a hostile card costs no more than a
 * good one: a VersionRange lies on the stack.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERSION_COMPARATORS_H
#define CLUTCH_VERSION_COMPARATORS_H

#include "semver/version.h"

#define VERSION_MAX_COMPARATORS		64
#define VERSION_MAX_ALTERNATIVES	32

typedef enum VersionOperator
{
	VERSION_EQ,
	VERSION_LT,
	VERSION_LE,
	VERSION_GT,
	VERSION_GE,

	/* written out while reading, in no comparator */
	VERSION_NONE,
	VERSION_TILDE,
	VERSION_CARET
} VersionOperator;

typedef struct VersionComparator
{
	VersionOperator op;			/* EQ .. GE */
	Version		version;
} VersionComparator;

typedef struct VersionAlternative
{
	int			first;			/* of its comparators */
	int			n;
} VersionAlternative;

typedef struct VersionRange
{
	int			nalternatives;
	int			ncomparators;
	bool		too_many;
	VersionAlternative alternatives[VERSION_MAX_ALTERNATIVES];
	VersionComparator comparators[VERSION_MAX_COMPARATORS];
} VersionRange;

/* false if the text is neither a range nor a version */
extern bool version_comparators_read(Slice text, VersionRange *range);

#endif							/* CLUTCH_VERSION_COMPARATORS_H */
