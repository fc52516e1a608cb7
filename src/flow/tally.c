/*-------------------------------------------------------------------------
 *
 * tally.c
 *	  Counting the events of the log for the metrics of spec 003 7.2.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/query.h"
#include "base/rows.h"
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
	Oid			user;
	int			context;

	if (now - counted_at < COUNT_EVERY)
		return 0;
	counted_at = now;
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rows_owner(), context | SECURITY_LOCAL_USERID_CHANGE);
	(void) query_execute(&count, NULL, NULL);
	SetUserIdAndSecContext(user, context);
	return 0;
}
