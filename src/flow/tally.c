/*-------------------------------------------------------------------------
 *
 * tally.c
 *	  Counting the events of the log for the metrics of spec 003 7.2.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/owner.h"
#include "base/query.h"
#include "flow/tally.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#define COUNT_EVERY		(10 * USECS_PER_SEC)

int
tally_work(int n)
{
	static QueryPlan count = {"SELECT clutch.count_more(5000)", 0};
	static TimestampTz counted_at = 0;
	TimestampTz now = GetCurrentTimestamp();
	OwnerCaller caller;

	if (now - counted_at < COUNT_EVERY)
		return 0;
	counted_at = now;
	caller = owner_begin();
	(void) query_execute(&count, NULL, NULL);
	owner_end(caller);
	return 0;
}
