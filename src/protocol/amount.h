/*-------------------------------------------------------------------------
 *
 * amount.h
 *	  The cost of work, in tokens and in money.
 *
 * meta.clutch.usage reports what was spent; meta.clutch.budget, and max_tokens
 * and max_cost in the limits of a card, restrict it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AMOUNT_H
#define CLUTCH_AMOUNT_H

#include "clutch.h"
#include "utils/numeric.h"

typedef struct Amount
{
	int64		tokens;			/* in a limit, -1 means unlimited */
	Numeric		cost;			/* NULL means zero or, in a limit, unlimited */
} Amount;

#define AMOUNT_NO_LIMIT		((Amount) {-1, NULL})

static inline bool
amount_is_limit(const Amount *limit)
{
	return limit->tokens >= 0 || limit->cost != NULL;
}

/*
 * Returns the number as a count, rounded up and capped, or "absent" if it is
 * NULL.
 */
#define AMOUNT_MOST		(INT64CONST(1) << 53)
extern int64 amount_count(Numeric number, int64 absent);

extern Amount amount_copy(Amount amount);

/* Returns the sum, palloc'd. */
extern Amount amount_sum(const Amount *a, const Amount *b);

/*
 * Returns what is left of an amount that was spent after part of it has been
 * taken away, at least 0, palloc'd.
 */
extern Amount amount_rest(const Amount *spent, const Amount *part);

/* Are both the tokens and the cost zero? */
extern bool amount_is_zero(const Amount *amount);

/* Does the first limit allow more than the second one in any respect? */
extern bool amount_allows_more(const Amount *limit, const Amount *other);

/* Is nothing left of the limit? */
extern bool amount_reaches(const Amount *spent, const Amount *limit);

/* Returns "1200 of 1000 tokens, cost 0.5 of 0.5", for messages; palloc'd. */
extern char *amount_words(const Amount *spent, const Amount *limit);

#endif							/* CLUTCH_AMOUNT_H */
