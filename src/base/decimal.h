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
 * units / 10^scale, without trailing zeros; scale is at most 7.  The number is
 * to be copied at once: it may be overwritten by the next call.
 */
extern Numeric decimal_of(int64 units, int scale);

#endif							/* CLUTCH_DECIMAL_H */
