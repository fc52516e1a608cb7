/*-------------------------------------------------------------------------
 *
 * worker_tick.c
 *	  The worker: a step of a tick.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/savepoint.h"
#include "base/wait.h"
#include "flow/settle.h"
#include "flow/tick.h"
#include "settings.h"
#include "utils/timestamp.h"
#include "worker/worker_part.h"

/*
 * The maximum number of tasks that one step of a tick moves, because hints may
 * be waiting behind it.
 */
#define TICK_STEP		100

/* what follows the parts of a tick */
typedef struct WorkerRest
{
	int			step;
	bool		is_full;		/* is there probably more to be done at once? */
	TimestampTz next;
} WorkerRest;

static void
worker_settle(void *arg)
{
	WorkerRest *rest = arg;

	rest->is_full = settle_postponed(rest->step) >= rest->step;
}

static void
worker_plan(void *arg)
{
	WorkerRest *rest = arg;

	rest->next = worker_real_time(tick_next());
}

/* A lock that is not available must not undo what has been done before. */
static void
worker_rest_run(void (*work) (void *arg), WorkerRest *rest)
{
	ErrorData  *error = savepoint_run(work, rest);

	if (error != NULL && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(error);
}

TimestampTz
worker_tick(bool *lacks_lock)
{
	WorkerRest	rest = {.step = Min(clutch_tick_batch, TICK_STEP)};
	TickReport	report;

	(void) wait_take_failure();
	report = tick_all(rest.step);
	worker_rest_run(worker_settle, &rest);
	*lacks_lock = wait_take_failure();
	if (rest.is_full || tick_is_full(&report, rest.step))
		return GetCurrentTimestamp();
	rest.next = GetCurrentTimestamp() + FIRST_PAUSE;
	/* to find out what is due next probably takes the same lock */
	if (!*lacks_lock)
	{
		worker_rest_run(worker_plan, &rest);
		*lacks_lock = wait_take_failure();
	}
	return rest.next;
}
