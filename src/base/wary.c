/*-------------------------------------------------------------------------
 *
 * wary.c
 *	  Going on with other steps when a step on behalf of somebody has failed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/wary.h"
#include "utils/timestamp.h"

/* until what was put off has been tried again, at a tick that may come late */
#define WARY_FOR		(2 * WARY_PUT_OFF)

/* The end is set in advance, in case the call fails. */
Wary
wary_begin(TimestampTz *until)
{
	TimestampTz now = GetCurrentTimestamp();
	Wary		wary = {until, now < *until || savepoint_is_deferring()};

	if (!wary.is_wary)
		*until = now + WARY_FOR;
	return wary;
}

void
wary_end(const Wary *wary)
{
	if (wary->refused > 0)
		*wary->until = GetCurrentTimestamp() + WARY_FOR;
	else if (!wary->is_wary || *wary->until == WARY_AT_FIRST)
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
