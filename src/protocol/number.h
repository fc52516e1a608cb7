/*-------------------------------------------------------------------------
 *
 * number.h
 *	  Questions about a JSON number.
 *
 * jsonb stores numbers as numeric, which is exact and of almost any size.
 * Agents read them as doubles, so a number that overflows a double is
 * refused; besides, 1e131071 takes a few bytes here and 131 kB when printed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_NUMBER_H
#define CLUTCH_NUMBER_H

#include "clutch.h"
#include "utils/numeric.h"

/* false for 1e400 */
extern bool number_fits_double(Numeric number);

/* less than, equal to or greater than zero, as a is in comparison with b */
extern int	number_compare(Numeric a, Numeric b);

/* is there an integer by which unit, which is more than zero, is multiplied to give the number? */
extern bool number_is_multiple(Numeric number, Numeric unit);

extern bool number_is_integer(Numeric number);
extern bool number_is_negative(Numeric number);

/* false if the number is not an integer, or is beyond 2^53 */
extern bool number_to_int64(Numeric number, int64 *value);

/*
 * Returns the nearest double, also if that is 0; the number must fit a double.
 */
extern double number_to_double(Numeric number);

/* Is it the number that the decimal text stands for? */
extern bool number_equals_text(Numeric number, const char *text);

#endif							/* CLUTCH_NUMBER_H */
