/*-------------------------------------------------------------------------
 *
 * version_range.h
 *	  Whether the version that a card offers meets the range that a request
 *	  asks for, by the rules of node-semver.
 *
 * A card offers a version, in which missing parts are 0, or a range; a request
 * asks for id@range.  A version meets a range that contains it, and a range in
 * a card meets a range in a request if the two overlap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERSION_RANGE_H
#define CLUTCH_VERSION_RANGE_H

#include "base/text.h"

/* is this text a version or a range? */
extern bool version_range_valid(Slice text);

/* does the offered version or range meet the range asked for?  Both are valid. */
extern bool version_range_meets(Slice offered, Slice asked);

/* does the range contain every release, as "*" does?  False if it is not valid. */
extern bool version_range_is_any(Slice asked);

#endif							/* CLUTCH_VERSION_RANGE_H */
