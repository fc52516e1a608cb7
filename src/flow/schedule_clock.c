/*-------------------------------------------------------------------------
 *
 * schedule_clock.c
 *	  Schedules: next times that were found while the clock was ahead.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "base/transaction.h"
#include "flow/schedule_part.h"
#include "miscadmin.h"
#include "protocol/cron.h"
#include "wake/notify.h"

/* Returns those whose next time is still to come, without their envelopes. */
static List *
schedule_list_to_come(TimestampTz now)
{
	List	   *found = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_SCHEDULE, INDEX_SCHEDULE_NEXT_AT, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTGreaterStrategyNumber, now);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Schedule   *s = palloc0(sizeof(Schedule));

		CHECK_FOR_INTERRUPTS();
		s->owner = rows_oid(&scan, Anum_schedule_owner);
		s->name = rows_text_copy(&scan, Anum_schedule_name);
		s->cron = rows_text_copy(&scan, Anum_schedule_cron);
		s->timezone = rows_text_copy(&scan, Anum_schedule_timezone);
		s->next_at = rows_timestamp(&scan, Anum_schedule_next_at);
		s->last_at = rows_timestamp(&scan, Anum_schedule_last_at);
		found = lappend(found, s);
	}
	rows_end(&scan);
	return found;
}

/* Another process may have read the clock a moment later. */
#define FROM_THE_FUTURE	USECS_PER_SEC

/* when the next times were last looked at, or DT_NOEND, to which any time is earlier, to look again */
static TimestampTz looked_at = DT_NOEND;
static bool brought_back = false;	/* has this transaction changed a next time? */

static void
schedule_look_again(void)
{
	if (brought_back)
		looked_at = DT_NOEND;
}

static void
schedule_forget_look(void)
{
	brought_back = false;
}

typedef struct NextTime
{
	const Schedule *schedule;
	TimestampTz now;
	TimestampTz at;				/* 0 if there is none */
} NextTime;

static void
schedule_find_next(void *arg)
{
	NextTime   *next = arg;
	Cron		when = cron_parse(next->schedule->cron);

	next->at = cron_next(&when, cron_zone(next->schedule->timezone), next->now);
}

/*
 * Was its next time found while the clock was ahead?  Then there is an earlier
 * one, which *next is set to.  If that was sent already, the clock may have been
 * set back by a moment.  If its time zone does not exist any more, this cannot
 * be told.
 */
static bool
schedule_is_ahead(const Schedule *s, TimestampTz now, TimestampTz *next)
{
	NextTime	found = {s, now, 0};

	if (savepoint_run(schedule_find_next, &found) != NULL || found.at == 0 || found.at >= s->next_at)
		return false;
	*next = found.at;
	return found.at > s->last_at || s->last_at - now >= FROM_THE_FUTURE;
}

/* Finds the next times anew.  Returns false if somebody else has locked one of the schedules. */
static bool
schedule_bring_back(List *to_come, TimestampTz now)
{
	static TransactionWatch watch = {
		.rolled_back = schedule_look_again,
		.prepared = schedule_look_again,	/* it may be rolled back later */
		.ended = schedule_forget_look
	};
	bool		is_done = true;
	ListCell   *cell;

	transaction_watch(&watch);
	foreach(cell, to_come)
	{
		const Schedule *seen = lfirst(cell);
		TimestampTz next;
		Schedule	s;

		CHECK_FOR_INTERRUPTS();
		if (!schedule_is_ahead(seen, now, &next))
			continue;
		if (!schedule_lock_row(seen->owner, seen->name, false, &s))
			is_done = false;
		else if (schedule_is_ahead(&s, now, &next))
		{
			s.next_at = next;
			schedule_write_row(&s, false);
			brought_back = true;
			notify_due(next);
		}
	}
	return is_done;
}

/*
 * If the clock has been set back, the next times that were found before may lie
 * years ahead.  The first tick of a backend looks for such times, and so does the
 * first tick after the clock was set back.
 */
void
schedule_watch_clock(TimestampTz now)
{
	bool		was_set_back = now < looked_at;

	/* if the look fails, or is rolled back later, it is repeated */
	looked_at = DT_NOEND;
	if (!was_set_back || schedule_bring_back(schedule_list_to_come(now), now))
		looked_at = now;
}
