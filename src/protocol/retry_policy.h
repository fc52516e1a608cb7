/*-------------------------------------------------------------------------
 *
 * retry_policy.h
 *	  How often, and after how long, a failed task is tried again (spec 003
 *	  5.2): {"max", "initial_ms", "max_ms", "factor"}.
 *
 * Said by meta.clutch.retry of the request, by a row of clutch.retry_policy for
 * its payload type, by limits.retry of the card, by the settings; of each
 * field the first that says it counts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RETRY_POLICY_H
#define CLUTCH_RETRY_POLICY_H

#include "clutch.h"

typedef struct RetryPolicy
{
	int64		max;			/* retries after the first try; -1 in these: not said */
	int64		initial_ms;
	int64		max_ms;
	double		factor;
} RetryPolicy;

#define RETRY_POLICY_UNSAID		((RetryPolicy) {-1, -1, -1, -1})
#define RETRY_MOST				1000
#define RETRY_LONGEST_MS		(INT64CONST(366) * 24 * 3600 * 1000)
#define RETRY_STEEPEST			100

/* a field of an object that may be left out; its faults are told */
struct Fields;
extern void retry_policy_read(struct Fields *parent, int field, RetryPolicy *policy);

/* policy, and where it says nothing what other says */
extern RetryPolicy retry_policy_or(RetryPolicy policy, RetryPolicy other);

/* the nominal delay before the n-th retry, from 1; no field unsaid */
extern int64 retry_policy_delay_ms(const RetryPolicy *policy, int n);

#endif							/* CLUTCH_RETRY_POLICY_H */
