/*-------------------------------------------------------------------------
 *
 * wary.c
 *	  Going on with other steps when a step on behalf of somebody has failed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/wary.h"

/* until what was put off has been tried again, at a tick that may come late */
#define WARY_FOR		(2 * WARY_PUT_OFF)

/* If the call fails, the next one is wary, whenever that comes. */
Wary
wary_begin(TimestampTz *until)
{
	Wary		wary = {until, *until != 0 || savepoint_is_deferring()};

	if (!wary.is_wary)
		*until = WARY_AT_FIRST;
	return wary;
}

/* The calls may be far apart, so this does not end before a call in which no step has failed. */
void
wary_end(const Wary *wary)
{
	TimestampTz now = clock_now();

	if (wary->refused + wary->chances > 0)
		*wary->until = now + WARY_FOR;
	else if (!wary->is_wary || *wary->until == WARY_AT_FIRST || *wary->until <= now)
		*wary->until = 0;
}

bool
wary_run(Wary *wary, void (*step) (void *arg), void *arg, ErrorData **error)
{
	*error = NULL;
	if (wary->is_wary)
		*error = savepoint_run_whole(step, arg);
	else
		step(arg);
	if (*error == NULL)
		return true;
	if (savepoint_failed_by_chance(*error))
	{
		*error = NULL;
		wary->chances++;
	}
	else
		wary->refused++;
	return false;
}
