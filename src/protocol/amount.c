/*-------------------------------------------------------------------------
 *
 * amount.c
 *	  The cost of work, in tokens and in money.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/number.h"
#include "common/int.h"
#include "lib/stringinfo.h"
#include "protocol/amount.h"
#include "utils/fmgrprotos.h"

static Numeric
amount_cost_or_zero(Numeric cost)
{
	return cost != NULL ? cost : int64_to_numeric(0);
}

int64
amount_count(Numeric number, int64 absent)
{
	int64		count;

	if (number == NULL)
		return absent;
	number = DatumGetNumeric(DirectFunctionCall1(numeric_ceil, NumericGetDatum(number)));
	return number_to_int64(number, &count) ? count : AMOUNT_MOST;
}

Amount
amount_copy(Amount amount)
{
	if (amount.cost != NULL)
		amount.cost = DatumGetNumericCopy(NumericGetDatum(amount.cost));
	return amount;
}

Amount
amount_sum(const Amount *a, const Amount *b)
{
	Amount		sum = {PG_INT64_MAX, NULL};

	/*
	 * no limit is that high, so capping the sum does not affect any comparison
	 */
	if (pg_add_s64_overflow(a->tokens, b->tokens, &sum.tokens))
		sum.tokens = PG_INT64_MAX;
	if (a->cost != NULL || b->cost != NULL)
		sum.cost = DatumGetNumeric(DirectFunctionCall2(numeric_add,
													   NumericGetDatum(amount_cost_or_zero(a->cost)),
													   NumericGetDatum(amount_cost_or_zero(b->cost))));
	return sum;
}

Amount
amount_rest(const Amount *spent, const Amount *part)
{
	Datum		zero = NumericGetDatum(int64_to_numeric(0));
	Datum		cost = DirectFunctionCall2(numeric_sub,
										   NumericGetDatum(amount_cost_or_zero(spent->cost)),
										   NumericGetDatum(amount_cost_or_zero(part->cost)));

	return (Amount) {
		.tokens = Max(spent->tokens - part->tokens, 0),
		.cost = DatumGetNumeric(DirectFunctionCall2(numeric_larger, cost, zero))
	};
}

bool
amount_is_zero(const Amount *amount)
{
	return amount->tokens == 0 &&
		DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(amount_cost_or_zero(amount->cost)),
										 NumericGetDatum(int64_to_numeric(0))));
}

static bool
amount_cost_reaches(Numeric spent, Numeric limit)
{
	return limit != NULL &&
		DatumGetBool(DirectFunctionCall2(numeric_ge, NumericGetDatum(amount_cost_or_zero(spent)),
										 NumericGetDatum(limit)));
}

bool
amount_allows_more(const Amount *limit, const Amount *other)
{
	if (other->tokens >= 0 && (limit->tokens < 0 || limit->tokens > other->tokens))
		return true;
	return other->cost != NULL &&
		(limit->cost == NULL ||
		 DatumGetBool(DirectFunctionCall2(numeric_gt, NumericGetDatum(limit->cost),
										  NumericGetDatum(other->cost))));
}

bool
amount_reaches(const Amount *spent, const Amount *limit)
{
	return (limit->tokens >= 0 && spent->tokens >= limit->tokens) ||
		amount_cost_reaches(spent->cost, limit->cost);
}

static char *
amount_cost_words(Numeric cost)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(amount_cost_or_zero(cost))));
}

char *
amount_words(const Amount *spent, const Amount *limit)
{
	StringInfoData words;

	initStringInfo(&words);
	if (limit->tokens >= 0)
		appendStringInfo(&words, INT64_FORMAT " of " INT64_FORMAT " tokens",
						 spent->tokens, limit->tokens);
	if (limit->cost != NULL)
		appendStringInfo(&words, "%scost %s of %s", words.len > 0 ? ", " : "",
						 amount_cost_words(spent->cost), amount_cost_words(limit->cost));
	return words.data;
}
