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

#define WARY_FOR		USECS_PER_MINUTE

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
	if (!wary->is_wary)
		*wary->until = 0;
	else if (wary->failed > 0)
		*wary->until = GetCurrentTimestamp() + WARY_FOR;
}

ErrorData *
wary_run(Wary *wary, void (*step) (void *arg), void *arg)
{
	ErrorData  *error = NULL;

	if (wary->is_wary)
		error = savepoint_run_whole(step, arg);
	else
		step(arg);
	if (error != NULL && savepoint_failed_by_chance(error))
		ReThrowError(error);
	wary->failed += error != NULL;
	return error;
}
