/*-------------------------------------------------------------------------
 *
 * retry_policy.h
 *	  How often a failed task is retried, and after what delay (spec 003 5.2):
 *	  {"max", "initial_ms", "max_ms", "factor"}.
 *
 * Each field is taken from the first of these that specifies it: meta.clutch.retry
 * of the request, the row of clutch.retry_policy for its payload type,
 * limits.retry of the agent's card, and the settings.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RETRY_POLICY_H
#define CLUTCH_RETRY_POLICY_H

#include "clutch.h"

typedef struct RetryPolicy
{
	int64		max;			/* retries after the first try; -1 in any of
								 * these fields: not specified */
	int64		initial_ms;
	int64		max_ms;
	double		factor;
} RetryPolicy;

#define RETRY_POLICY_UNSAID		((RetryPolicy) {-1, -1, -1, -1})
#define RETRY_MOST				1000
#define RETRY_LONGEST_MS		(INT64CONST(366) * 24 * 3600 * 1000)
#define RETRY_STEEPEST			100

/* reads an optional field of an object and adds its faults to its list */
struct Fields;
extern void retry_policy_read(struct Fields *parent, int field, RetryPolicy *policy);

/* policy, completed by other where it does not specify a field */
extern RetryPolicy retry_policy_or(RetryPolicy policy, RetryPolicy other);

/*
 * Returns the nominal delay before the n-th retry (from 1) by a complete
 * policy.
 */
extern int64 retry_policy_delay_ms(const RetryPolicy *policy, int n);

#endif							/* CLUTCH_RETRY_POLICY_H */
