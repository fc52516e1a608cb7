/*-------------------------------------------------------------------------
 *
 * number.h
 *	  A JSON number: does it fit a double, is it a whole one?
 *
 * jsonb keeps numbers as numeric, exact and of any size.  Agents read them
 * as doubles, so what overflows one is refused; 1e131071 is a few bytes here
 * and 131 KB when printed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_NUMBER_H
#define CLUTCH_NUMBER_H

#include "clutch.h"
#include "utils/numeric.h"

/* false for 1e400; cheap for every number of less than 250 digits */
extern bool number_fits_double(Numeric number);

extern bool number_is_integer(Numeric number);
extern bool number_is_negative(Numeric number);

/* false if it is no integer or beyond 2^53 */
extern bool number_to_int64(Numeric number, int64 *value);

#endif							/* CLUTCH_NUMBER_H */
