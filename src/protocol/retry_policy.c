/*-------------------------------------------------------------------------
 *
 * retry_policy.c
 *	  Retry policies: how often a failed task is retried, and after what delay.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include <math.h>

#include "base/number.h"
#include "protocol/fields.h"
#include "protocol/retry_policy.h"

enum
{
	RETRY_MAX,
	RETRY_FACTOR,
	RETRY_MAX_MS,
	RETRY_INITIAL_MS
};

static const Slice retry_names[] = {
	FIELD("max"),
	FIELD("factor"),
	FIELD("max_ms"),
	FIELD("initial_ms"),
};
static const FieldTable retry_fields = FIELD_TABLE(retry_names,
												   "leave it out");

static void
retry_policy_read_count(Fields *f, int field, int64 most, int64 *count)
{
	int64		number;

	if (fields_integer(f, field, OPTIONAL, 0, most, &number))
		*count = number;
}

static void
retry_policy_read_factor(Fields *f, double *factor)
{
	DocumentPlace place = fields_place(f, RETRY_FACTOR);
	Numeric		number = fields_amount(f, RETRY_FACTOR);
	double		value;

	if (number == NULL)
		return;
	value = number_fits_double(number) ? number_to_double(number) : 0;
	if (value >= 1 && value <= RETRY_STEEPEST)
		*factor = value;
	else
		place_fault(&place, f->list, "NUMBER_OUT_OF_RANGE", "must be between 1 and %d.", RETRY_STEEPEST);
}

void
retry_policy_read(Fields *parent, int field, RetryPolicy *policy)
{
	DocumentPlace place = fields_place(parent, field);
	Fields		f;

	if (!fields_present(parent, field) ||
		!fields_open(&f, &retry_fields, &parent->values[field], &place, parent->list))
		return;
	retry_policy_read_count(&f, RETRY_MAX, RETRY_MOST, &policy->max);
	retry_policy_read_count(&f, RETRY_INITIAL_MS, RETRY_LONGEST_MS, &policy->initial_ms);
	retry_policy_read_count(&f, RETRY_MAX_MS, RETRY_LONGEST_MS, &policy->max_ms);
	retry_policy_read_factor(&f, &policy->factor);
}

RetryPolicy
retry_policy_or(RetryPolicy policy, RetryPolicy other)
{
	if (policy.max < 0)
		policy.max = other.max;
	if (policy.initial_ms < 0)
		policy.initial_ms = other.initial_ms;
	if (policy.max_ms < 0)
		policy.max_ms = other.max_ms;
	if (policy.factor < 0)
		policy.factor = other.factor;
	return policy;
}

int64
retry_policy_delay_ms(const RetryPolicy *policy, int n)
{
	/* the power may be infinite, and zero times infinity is not a number */
	double		delay = policy->initial_ms == 0 ? 0 :
		policy->initial_ms * pow(policy->factor, n - 1);

	return delay < policy->max_ms ? (int64) delay : policy->max_ms;
}
