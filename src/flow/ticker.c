/*-------------------------------------------------------------------------
 *
 * ticker.c
 *	  Checking whether anything calls tick, and warning if nothing does.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/rows.h"
#include "flow/ticker.h"
#include "utils/timestamp.h"
#include "wake/mailbox.h"

#define RECORD_EVERY	USECS_PER_MINUTE
#define LATELY			(15 * USECS_PER_MINUTE)
#define LOOK_EVERY		USECS_PER_MINUTE

static TimestampTz
ticker_last_called(void)
{
	return time_t_to_timestamptz((pg_time_t) rows_sequence_get(SEQUENCE_LAST_TICK));
}

/* This is the real time, because clutch.clock may stand still. */
void
ticker_called(void)
{
	TimestampTz now = GetCurrentTimestamp();

	if (clock_is_over(ticker_last_called(), RECORD_EVERY, now))
		rows_sequence_set(SEQUENCE_LAST_TICK, (int64) timestamptz_to_time_t(now));
}

static bool
ticker_is_there(TimestampTz now)
{
	return mailbox_is_served() || !clock_is_over(ticker_last_called(), LATELY, now);
}

void
ticker_warn(const char *detail)
{
	static bool warned = false;
	static TimestampTz looked_at = 0;
	TimestampTz now;

	if (warned)
		return;
	now = GetCurrentTimestamp();
	if (!clock_is_over(looked_at, LOOK_EVERY, now))
		return;
	looked_at = now;
	if (ticker_is_there(now))
		return;
	warned = true;
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("nothing calls clutch.tick() in this database"),
			 errdetail_internal("%s", detail),
			 mailbox_is_there() ?
			 errhint("The background worker of this database does not run; the server log says why. If no worker was left "
					 "for it, raise max_worker_processes and restart the server, or call SELECT clutch.tick() every few seconds.") :
			 errhint("Add clutch to shared_preload_libraries and restart the server, so that a background worker ticks, "
					 "or call SELECT clutch.tick() every few seconds.")));
}
