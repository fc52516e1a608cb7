/*-------------------------------------------------------------------------
 *
 * version_range.h
 *	  Deciding whether the version that a card offers satisfies the range that
 *	  a request requires, by the rules of node-semver.
 *
 * A card offers a version, in which missing parts are 0, or a range; a request
 * requires id@range.  A version satisfies a range that contains it, and a
 * range in a card satisfies a range in a request if the two overlap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERSION_RANGE_H
#define CLUTCH_VERSION_RANGE_H

#include "base/text.h"

/* Is this text a version or a range? */
extern bool version_range_valid(Slice text);

/*
 * Does the offered version or range satisfy the required range?  Both must be
 * valid.
 */
extern bool version_range_meets(Slice offered, Slice asked);

/*
 * Does the range contain every release, as "*" does?  Returns false if it is
 * not valid.
 */
extern bool version_range_is_any(Slice asked);

#endif							/* CLUTCH_VERSION_RANGE_H */
