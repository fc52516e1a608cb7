/*-------------------------------------------------------------------------
 *
 * tally.c
 *	  Counting the events of the log for the metrics of spec 003 7.2.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/owner.h"
#include "base/query.h"
#include "flow/tally.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#define COUNT_EVERY		(10 * USECS_PER_SEC)

/* when this backend has last counted, or 0 */
static TimestampTz counted_at = 0;

/* Has the last count of this backend left events behind? */
static bool is_behind = false;

void
tally_work(void)
{
	static QueryPlan count = {"SELECT WHERE clutch.count_more(10000) = 2", 0};
	TimestampTz now = GetCurrentTimestamp();
	OwnerCaller caller;

	if (!is_behind && !clock_is_over(counted_at, COUNT_EVERY, now))
		return;
	counted_at = now;
	is_behind = false;			/* also if this fails */
	caller = owner_begin();
	is_behind = query_execute(&count, NULL) > 0;
	owner_end(caller);
}

TimestampTz
tally_next(void)
{
	return is_behind ? DT_NOBEGIN : DT_NOEND;
}
