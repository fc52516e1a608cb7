/*-------------------------------------------------------------------------
 *
 * number.c
 *	  A JSON number: does it fit a double, is it a whole one?
 *
 * Converting a numeric costs a walk through text, too much for each number
 * of each envelope.  So its words are looked at: the short form holds
 * nothing above 10^256, and whole numbers are digits to the base 10000.  The
 * form is private to numeric.c, but it is also what lies on disk since 9.1,
 * and pg_upgrade rests on it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/number.h"

#include <math.h>

#include "compat.h"

#include "utils/builtins.h"

#define FORM_MASK			0xC000
#define FORM_NEGATIVE		0x4000	/* long form; 0x0000 is positive */
#define FORM_SHORT			0x8000
#define FORM_SPECIAL		0xC000	/* NaN, infinities: not from JSON text */

#define SHORT_NEGATIVE		0x2000
#define SHORT_SCALE_MASK	0x1F80
#define SHORT_WEIGHT_MASK	0x007F	/* 7 bits with sign */

#define BASE				10000

/* 10000^77 = 1e308 is the last power of the base that fits a double */
#define WEIGHT_OF_DBL_MAX	77
/* 10000^3 = 1e12: the digits of any whole number up to 2^53 begin there */
#define WEIGHT_OF_2_53		3
#define LARGEST_EXACT		(INT64CONST(1) << 53)

/* the i-th word of a numeric: header, then (long form) weight, then digits */
static uint16
word_of(Numeric number, int i)
{
	uint16		word;

	memcpy(&word, VARDATA_ANY(number) + i * sizeof(uint16), sizeof(uint16));
	return word;
}

static double
to_double(Numeric number)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(number)));
}

bool
number_fits_double(Numeric number)
{
	uint16		header = word_of(number, 0);
	int16		weight;

	if ((header & FORM_MASK) == FORM_SHORT)
		return true;
	if ((header & FORM_MASK) == FORM_SPECIAL)
		return false;
	weight = (int16) word_of(number, 1);
	if (weight != WEIGHT_OF_DBL_MAX)
		return weight < WEIGHT_OF_DBL_MAX;
	return !isinf(to_double(number));
}

bool
number_is_negative(Numeric number)
{
	uint16		header = word_of(number, 0);

	if ((header & FORM_MASK) == FORM_SHORT)
		return (header & SHORT_NEGATIVE) != 0;
	return (header & FORM_MASK) == FORM_NEGATIVE;
}

bool
number_is_integer(Numeric number)
{
	Datum		whole = DirectFunctionCall2(numeric_trunc, NumericGetDatum(number),
											Int32GetDatum(0));

	return DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(number), whole));
}

bool
number_to_int64(Numeric number, int64 *value)
{
	uint16		header = word_of(number, 0);
	int			ndigits = VARSIZE_ANY_EXHDR(number) / sizeof(uint16) - 1;
	int			weight = header & SHORT_WEIGHT_MASK;
	int			i;

	/* "1.0": rare, and whole all the same */
	if ((header & FORM_MASK) != FORM_SHORT || (header & SHORT_SCALE_MASK) != 0)
	{
		if (!number_fits_double(number) || fabs(to_double(number)) > LARGEST_EXACT ||
			!number_is_integer(number))
			return false;
		*value = (int64) to_double(number);
		return true;
	}

	/* no digits behind the point, so a negative weight is out of the question */
	if (weight > WEIGHT_OF_2_53)
		return false;
	*value = 0;
	for (i = 0; i <= weight; i++)
		*value = *value * BASE + (i < ndigits ? (int16) word_of(number, 1 + i) : 0);
	if (*value > LARGEST_EXACT)
		return false;
	if (header & SHORT_NEGATIVE)
		*value = -*value;
	return true;
}
