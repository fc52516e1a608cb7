/*-------------------------------------------------------------------------
 *
 * number.h
 *	  Properties of JSON numbers.
 *
 * jsonb stores numbers as numeric, which is exact and of almost unlimited
 * size.  Agents read them as doubles, so a number that overflows a double is
 * refused.  Besides, 1e131071 takes a few bytes here, but 131 kB when printed.
 * The same holds for 0e-16383, so the digits after the point are limited too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_NUMBER_H
#define CLUTCH_NUMBER_H

#include "clutch.h"
#include "utils/numeric.h"

/* Returns false for 1e400, for example. */
extern bool number_fits_double(Numeric number);

/* as many as a double needs: 5e-324 and its like, with 17 digits, take 340 */
#define NUMBER_MOST_DECIMALS	400

/* Does it have more digits after the point, counting zeros? */
extern bool number_is_too_long(Numeric number);

/* Returns less than, equal to or greater than zero, as a compares with b. */
extern int	number_compare(Numeric a, Numeric b);

/* Is the number an integer multiple of unit, which must be more than zero? */
extern bool number_is_multiple(Numeric number, Numeric unit);

extern bool number_is_integer(Numeric number);
extern bool number_is_negative(Numeric number);

/* Returns false if the number is not an integer, or is beyond 2^53. */
extern bool number_to_int64(Numeric number, int64 *value);

/*
 * Returns the nearest double, even if that is 0.  The number must fit into a
 * double.
 */
extern double number_to_double(Numeric number);

/* Is it the number that this decimal text stands for? */
extern bool number_equals_text(Numeric number, const char *text);

#endif							/* CLUTCH_NUMBER_H */
