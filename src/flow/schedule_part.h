/*-------------------------------------------------------------------------
 *
 * schedule_part.h
 *	  Private declarations of schedule.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCHEDULE_PART_H
#define CLUTCH_SCHEDULE_PART_H

#include "flow/schedule.h"

/* columns of clutch.schedule */
enum
{
	Anum_schedule_name = 1, Anum_schedule_owner, Anum_schedule_cron, Anum_schedule_timezone,
	Anum_schedule_envelope, Anum_schedule_next_at, Anum_schedule_last_at,
	Anum_schedule_last_error, Anum_schedule_runs, Anum_schedule_missed,
	Anum_schedule_created_at,
	Natts_schedule = Anum_schedule_created_at
};

typedef struct Schedule
{
	ItemPointerData tid;
	Slice		name;
	Oid			owner;
	Slice		cron;
	Slice		timezone;
	Jsonb	   *envelope;
	TimestampTz next_at;
	TimestampTz last_at;		/* 0 if never */
	Slice		last_error;
	int64		runs;
	int64		missed;
	TimestampTz created_at;
} Schedule;

/* --- schedule.c --- */

/*
 * Locks and reads the row of a role's schedule.  Returns false if the role has
 * none of that name, or if it is busy and wait is false.
 */
extern bool schedule_lock_row(Oid owner, Slice name, bool wait, Schedule *s);

extern void schedule_write_row(Schedule *s, bool is_new);

/* --- schedule_clock.c --- */

/*
 * Finds next times anew that a clock ahead of time had set, if the clock has
 * been set back since this was last called.
 */
extern void schedule_watch_clock(TimestampTz now);

/* --- schedule_envelope.c --- */

/* Returns what is sent for that time. */
extern Jsonb *schedule_envelope_at(const Schedule *s, TimestampTz at);

/*
 * Takes the envelope, and checks it now, so that the person who schedules it
 * learns about errors, rather than the log at night.  next_at is set.
 */
extern void schedule_take_envelope(Schedule *s, Jsonb *given);

#endif							/* CLUTCH_SCHEDULE_PART_H */
