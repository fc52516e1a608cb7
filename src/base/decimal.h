/*-------------------------------------------------------------------------
 *
 * decimal.h
 *	  Numerics of a few decimal places.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DECIMAL_H
#define CLUTCH_DECIMAL_H

#include "clutch.h"
#include "utils/numeric.h"

/*
 * Returns units / 10^scale, without trailing zeros; scale is at most 7.  The
 * caller must copy the number at once, because the next call may overwrite it.
 */
extern Numeric decimal_of(int64 units, int scale);

#endif							/* CLUTCH_DECIMAL_H */
