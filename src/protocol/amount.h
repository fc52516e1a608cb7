/*-------------------------------------------------------------------------
 *
 * amount.h
 *	  What a task costs: tokens and money.
 *
 * Spent by meta.clutch.usage; limited by meta.clutch.budget and by a card's limits.max_tokens and max_cost.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AMOUNT_H
#define CLUTCH_AMOUNT_H

#include "clutch.h"
#include "utils/numeric.h"

typedef struct Amount
{
	int64		tokens;			/* of a limit, -1: none */
	Numeric		cost;			/* NULL: nothing; of a limit, NULL: none */
} Amount;

#define AMOUNT_NO_LIMIT		((Amount) {-1, NULL})

static inline bool
amount_is_limit(const Amount *limit)
{
	return limit->tokens >= 0 || limit->cost != NULL;
}

/* as a count, rounded up and at most AMOUNT_MOST; NULL: what absent is */
#define AMOUNT_MOST		(INT64CONST(1) << 53)
extern int64 amount_count(Numeric number, int64 absent);

extern Amount amount_copy(Amount amount);

/* palloc'd */
extern Amount amount_sum(const Amount *a, const Amount *b);

/* is nothing left? */
extern bool amount_reaches(const Amount *spent, const Amount *limit);

/* "1200 of 1000 tokens", "0.5 of 0.5 cost"; palloc'd */
extern char *amount_words(const Amount *spent, const Amount *limit);

#endif							/* CLUTCH_AMOUNT_H */
