/*-------------------------------------------------------------------------
 *
 * retry_policy.h
 *	  Retry policies: how often a failed task is retried, and after what delay
 *	  (spec 003 5.2): {"max", "initial_ms", "max_ms", "factor"}.
 *
 * Each field is taken from the first of these that specifies it:
 * meta.clutch.retry of the request, the row of clutch.retry_policy for its
 * payload type, limits.retry of the agent's card, and the settings.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RETRY_POLICY_H
#define CLUTCH_RETRY_POLICY_H

#include "clutch.h"

typedef struct RetryPolicy
{
	int64		max;			/* number of retries after the first try; -1 in
								 * any of these fields means not specified */
	int64		initial_ms;
	int64		max_ms;
	double		factor;
} RetryPolicy;

#define RETRY_POLICY_UNSAID		((RetryPolicy) {-1, -1, -1, -1})
#define RETRY_MOST				1000
#define RETRY_LONGEST_MS		(INT64CONST(366) * 24 * 3600 * 1000)
#define RETRY_STEEPEST			100

/* Reads an optional field of an object, and adds its faults to its list. */
struct Fields;
extern void retry_policy_read(struct Fields *parent, int field, RetryPolicy *policy);

/*
 * Returns policy, with the fields that it does not specify taken from other.
 */
extern RetryPolicy retry_policy_or(RetryPolicy policy, RetryPolicy other);

/*
 * Returns the nominal delay before the n-th retry, counted from 1.  The policy
 * must be complete.
 */
extern int64 retry_policy_delay_ms(const RetryPolicy *policy, int n);

#endif							/* CLUTCH_RETRY_POLICY_H */
