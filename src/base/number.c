/*-------------------------------------------------------------------------
 *
 * number.c
 *	  Properties of JSON numbers.
 *
 * All of these use the server's own functions for numeric.  Comparing two
 * numerics looks at their leading digits, whereas converting one to a double
 * goes through its decimal text and costs ten times as much.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/number.h"

#include "compat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#define LARGEST_EXACT		(INT64CONST(1) << 53)

/*
 * 2^1024 - 2^970, the smallest number that is rounded to infinity: half a unit
 * in the last place above the largest double.
 */
#define LEAST_INFINITE \
	"1797693134862315807937289714053034150799341327100378269361737789804449682927" \
	"6475094664901797758720709633028641669288791094655554785194040263065748867150" \
	"5820681908902000708383676273854845817711531764475730270069855571366959622842" \
	"9148198608349364752927190741684443655107043427115596995080930428801779041744" \
	"97792"

#define NUM_DIGITS			10

typedef struct NumberBounds
{
	uint64		digits[NUM_DIGITS]; /* the bytes of 0 to 9; 0 for one that does
									 * not have eight bytes */
	Numeric		zero;
	Numeric		infinite;		/* LEAST_INFINITE */
	Numeric		minus_infinite;
	Numeric		exact;			/* LARGEST_EXACT */
	Numeric		minus_exact;
} NumberBounds;

static Numeric
number_of_text(const char *text)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

static Numeric
number_negated(Numeric number)
{
	return DatumGetNumeric(DirectFunctionCall1(numeric_uminus, NumericGetDatum(number)));
}

/*
 * Returns the bytes of a number that has eight of them, as nearly all small
 * ones do, or 0 otherwise.
 */
static uint64
number_eight_bytes(Numeric number)
{
	uint64		bytes = 0;

	if (VARSIZE_ANY(number) == sizeof(bytes))
		memcpy(&bytes, number, sizeof(bytes));
	return bytes;
}

/* Makes the bounds once per backend. */
static const NumberBounds *
number_bounds(void)
{
	static NumberBounds *bounds = NULL;
	NumberBounds *made;
	MemoryContext caller;
	int			i;

	if (bounds != NULL)
		return bounds;
	caller = MemoryContextSwitchTo(TopMemoryContext);
	made = palloc(sizeof(NumberBounds));
	for (i = 0; i < NUM_DIGITS; i++)
		made->digits[i] = number_eight_bytes(int64_to_numeric(i));
	made->zero = int64_to_numeric(0);
	made->infinite = number_of_text(LEAST_INFINITE);
	made->minus_infinite = number_negated(made->infinite);
	made->exact = int64_to_numeric(LARGEST_EXACT);
	made->minus_exact = number_negated(made->exact);
	MemoryContextSwitchTo(caller);
	bounds = made;
	return bounds;
}

int
number_compare(Numeric a, Numeric b)
{
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(a),
											 NumericGetDatum(b)));
}

/*
 * Most numbers in an envelope are attempts, priorities and the like.  Returns
 * the value of a number whose bytes are those of one of 0 to 9, or -1 for any
 * other number.
 */
static int
number_digit(Numeric number, const NumberBounds *bounds)
{
	uint64		bytes = number_eight_bytes(number);
	int			i;

	for (i = 0; bytes != 0 && i < NUM_DIGITS; i++)
		if (bytes == bounds->digits[i])
			return i;
	return -1;
}

bool
number_fits_double(Numeric number)
{
	const NumberBounds *bounds = number_bounds();

	if (number_digit(number, bounds) >= 0)
		return true;

	return number_compare(number, bounds->infinite) < 0 &&
		number_compare(number, bounds->minus_infinite) > 0;
}

bool
number_is_too_long(Numeric number)
{
	if (number_digit(number, number_bounds()) >= 0)
		return false;
	return DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(number))) > NUMBER_MOST_DECIMALS;
}

bool
number_is_negative(Numeric number)
{
	return number_compare(number, number_bounds()->zero) < 0;
}

bool
number_is_integer(Numeric number)
{
	Datum		whole = DirectFunctionCall2(numeric_trunc, NumericGetDatum(number),
											Int32GetDatum(0));

	return number_compare(number, DatumGetNumeric(whole)) == 0;
}

bool
number_is_multiple(Numeric number, Numeric unit)
{
	Datum		rest = DirectFunctionCall2(numeric_mod, NumericGetDatum(number),
										   NumericGetDatum(unit));

	return number_compare(DatumGetNumeric(rest), number_bounds()->zero) == 0;
}

bool
number_to_int64(Numeric number, int64 *value)
{
	const NumberBounds *bounds = number_bounds();
	int			digit = number_digit(number, bounds);
	int64		rounded;

	if (digit >= 0)
	{
		*value = digit;
		return true;
	}

	/* numeric_int8 would raise an error beyond the range of bigint */
	if (number_compare(number, bounds->exact) > 0 ||
		number_compare(number, bounds->minus_exact) < 0)
		return false;
	rounded = DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(number)));
	if (number_compare(number, int64_to_numeric(rounded)) != 0)
		return false;
	*value = rounded;
	return true;
}

/* numeric_float8 would raise an error for 1e-400 */
double
number_to_double(Numeric number)
{
	char	   *text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));
	double		nearest = strtod(text, NULL);

	pfree(text);
	return nearest;
}

bool
number_equals_text(Numeric number, const char *text)
{
	return number_compare(number, number_of_text(text)) == 0;
}
