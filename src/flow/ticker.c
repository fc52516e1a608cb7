/*-------------------------------------------------------------------------
 *
 * ticker.c
 *	  Checking whether anything calls tick, and warning if nothing does.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "flow/ticker.h"
#include "utils/timestamp.h"
#include "wake/mailbox.h"

/* in seconds */
#define RECORD_EVERY	60
#define LATELY			(15 * 60)
#define LOOK_EVERY		60

/* Returns the real time, because clutch.clock may stand still. */
static int64
ticker_now(void)
{
	return (int64) timestamptz_to_time_t(GetCurrentTimestamp());
}

void
ticker_called(void)
{
	int64		now = ticker_now();

	if (now - rows_sequence_get(SEQUENCE_LAST_TICK) >= RECORD_EVERY)
		rows_sequence_set(SEQUENCE_LAST_TICK, now);
}

static bool
ticker_is_there(int64 now)
{
	return mailbox_is_served() || now - rows_sequence_get(SEQUENCE_LAST_TICK) < LATELY;
}

void
ticker_warn(const char *detail)
{
	static bool warned = false;
	static int64 looked_at = 0;
	int64		now;

	if (warned)
		return;
	now = ticker_now();
	if (now - looked_at < LOOK_EVERY)
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
