/*-------------------------------------------------------------------------
 *
 * version_range.h
 *	  Does what a card offers meet what a request asks, as node-semver sees it?
 *
 * "1.0" in a card is a version (missing parts are 0) or a range; a request
 * asks with id@range.  A version meets a range when it lies in it; a range
 * in a card meets a range in a request when they overlap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERSION_RANGE_H
#define CLUTCH_VERSION_RANGE_H

#include "base/text.h"

/* is this text a version or range at all? (envelope and card validation) */
extern bool version_range_valid(Slice text);

/* does what a card offers meet what a request asks?  Both valid. */
extern bool version_range_meets(Slice offered, Slice asked);

/* does the range let every release in, as "*" does?  False when not valid. */
extern bool version_range_is_any(Slice asked);

#endif							/* CLUTCH_VERSION_RANGE_H */
