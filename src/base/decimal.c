/*-------------------------------------------------------------------------
 *
 * decimal.c
 *	  Numerics of a few decimal places.
 *
 * The documents that the database writes contain the same numbers again and
 * again (0, 1, 0.5), and making a numeric costs hundreds of instructions.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/decimal.h"

#include "compat.h"

typedef struct Decimal
{
	int64		units;
	int			scale;
	bool		known;
	int32		number[6];		/* a Numeric */
} Decimal;

#define DECIMAL_BITS	9
static Decimal decimals[1 << DECIMAL_BITS];

static Numeric
decimal_make(int64 units, int scale)
{
	for (; scale > 0 && units % 10 == 0; scale--)
		units /= 10;
	return scale == 0 ? int64_to_numeric(units) : int64_div_fast_to_numeric(units, scale);
}

Numeric
decimal_of(int64 units, int scale)
{
	uint64		hash = ((uint64) units * 8 + scale) * UINT64CONST(0x9E3779B97F4A7C15);
	Decimal    *decimal = &decimals[hash >> (64 - DECIMAL_BITS)];

	if (!decimal->known || decimal->units != units || decimal->scale != scale)
	{
		Numeric		number = decimal_make(units, scale);

		if (VARSIZE(number) > sizeof(decimal->number))
			return number;
		memcpy(decimal->number, number, VARSIZE(number));
		decimal->units = units;
		decimal->scale = scale;
		decimal->known = true;
		pfree(number);
	}
	return (Numeric) decimal->number;
}
