/*-------------------------------------------------------------------------
 *
 * pace.c
 *	  Pacing the worker's notifications.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include <time.h>

#include "portability/instr_time.h"
#include "worker/pace.h"

/*
 * The interval, as a multiple of the worker's own processor time for a
 * notification: about 30 us, plus 5 us for each listener, to which it sends a
 * signal.  What the listeners and their clients then do is many times as
 * expensive.  We use processor time, because on a busy machine, elapsed time
 * mostly shows how long other processes ran.
 */
#define INTERVAL_FACTOR		64
#define SHORTEST_INTERVAL	1000 /* microseconds */
#define LONGEST_INTERVAL	10000

/* How many notifications may be saved up, to be sent without an interval. */
#define MOST_SAVED			5

/* The weight of a new measurement in the average. */
#define WEIGHT				0.125

static int64 interval = SHORTEST_INTERVAL;
static double average_cost = 0; /* in microseconds of processor time */
static double cost_before = 0;

/*
 * When the notifications sent so far would have ended if they had kept their
 * intervals.  It may be ahead of the current time by those that were saved up.
 */
static int64 used_until = 0;

/* Returns microseconds of a clock that is never set. */
static int64
pace_monotonic_time(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return (int64) INSTR_TIME_GET_MICROSEC(now);
}

/* Returns the processor time that this process has used, in microseconds. */
static double
pace_processor_time(void)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
		return (double) pace_monotonic_time();
	return used.tv_sec * 1e6 + used.tv_nsec / 1e3;
}

void
pace_await(void)
{
	int64		ahead = used_until - pace_monotonic_time() - MOST_SAVED * interval;

	if (ahead > 0)
		pg_usleep(Min(ahead, LONGEST_INTERVAL));
}

void
pace_begin(void)
{
	cost_before = pace_processor_time();
}

void
pace_end(void)
{
	double		cost = pace_processor_time() - cost_before;

	average_cost = average_cost == 0 ? cost : average_cost + WEIGHT * (cost - average_cost);
	interval = (int64) (INTERVAL_FACTOR * average_cost);
	interval = Max(SHORTEST_INTERVAL, Min(interval, LONGEST_INTERVAL));
	used_until = Max(used_until, pace_monotonic_time()) + interval;
}
