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

/* --- schedule_envelope.c --- */

/* Returns what is sent for that time. */
extern Jsonb *schedule_envelope_at(const Schedule *s, TimestampTz at);

/*
 * Takes the envelope, and checks it now, so that the person who schedules it
 * learns about errors, rather than the log at night.  next_at is set.
 */
extern void schedule_take_envelope(Schedule *s, Jsonb *given);

#endif							/* CLUTCH_SCHEDULE_PART_H */
