/*-------------------------------------------------------------------------
 *
 * version_comparators.h
 *	  Expanding version ranges into plain comparisons.
 *
 * A range is a list of alternatives, separated by "||"; each alternative is a
 * list of comparators that must all hold.  Abbreviations are expanded while
 * reading, as in node-semver:
 *
 *		1.2			>=1.2.0 <1.3.0-0
 *		~1.2.3		>=1.2.3 <1.3.0-0
 *		^1.2.3		>=1.2.3 <2.0.0-0
 *		1.2 - 2		>=1.2.0 <3.0.0-0
 *
 * so that only five kinds of comparison remain.  An alternative without
 * comparators is "*".
 *
 * The length of the text and the numbers of alternatives and comparators are
 * bounded, so that a VersionRange fits on the stack and a hostile card cannot
 * cost more than an ordinary one.
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

	/* expanded while reading, and never in a comparator */
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
	int			first;			/* index of its first comparator */
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

/* Returns false if the text is neither a version nor a range. */
extern bool version_comparators_read(Slice text, VersionRange *range);

#endif							/* CLUTCH_VERSION_COMPARATORS_H */
