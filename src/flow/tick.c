/*-------------------------------------------------------------------------
 *
 * tick.c
 *	  Ticks: work that must be done although no agent asks for it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/owner.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "base/wait.h"
#include "flow/callee.h"
#include "flow/expiry.h"
#include "flow/liveness.h"
#include "flow/offer.h"
#include "flow/open_work.h"
#include "flow/postponed.h"
#include "flow/schedule.h"
#include "flow/tally.h"
#include "flow/tick.h"
#include "flow/ticker.h"
#include "ledger/seal.h"
#include "miscadmin.h"
#include "outbox/call.h"
#include "queue/timer.h"
#include "queue/waiting.h"
#include "settings.h"
#include "store/artifact.h"
#include "trust/principal.h"
#include "utils/timestamp.h"

/* ------------------------------------------------------------------- parts */

/* one kind of work, and how much of it has been done */
typedef struct TickPart
{
	int			(*work) (int n);
	int			n;
	int			done;
} TickPart;

/* If a part appends events, triggers of users are fired, which may be why it fails. */
typedef enum TickPartKind
{
	APPENDS_EVENTS,
	APPENDS_NONE
} TickPartKind;

static void
tick_part_run(void *arg)
{
	TickPart   *part = arg;

	part->done = part->work(part->n);
}

/*
 * Runs one part of a tick.  An error in it does not keep the other parts from
 * their work.  The error may quote anybody's rows, so it is reported only to
 * operators.
 */
static int
tick_part_try(int (*work) (int n), int n, const char *failure, TickPartKind kind)
{
	TickPart	part = {work, n, 0};
	ErrorData  *error = savepoint_run_whole(tick_part_run, &part);

	if (error == NULL)
		return part.done;
	if (savepoint_failed_by_chance(error))
		return 0;
	ereport(principal_level(SLICE_NONE),
			(errcode(error->sqlerrcode),
			 errmsg("%s: %s", failure, error->message),
			 errhint("The rest of the tick goes on. %s", kind == APPENDS_EVENTS || error->hint != NULL ?
					 savepoint_advice(error) : "SELECT * FROM clutch.check() may show the cause.")));
	return 0;
}

typedef struct Tick
{
	int			n;
	TickReport	report;
} Tick;

/*
 * Agents come first.  Otherwise the leases of a lost agent would expire one by
 * one, and its tasks might be given back to it.
 */
static void
tick_run(void *arg)
{
	Tick	   *tick = arg;
	TickReport *report = &tick->report;

	report->lost = tick_part_try(liveness_watch, tick->n, "the tasks of silent agents cannot be given to others", APPENDS_EVENTS);
	(void) tick_part_try(callee_watch, tick->n, "tasks of agents behind endpoints cannot be called", APPENDS_EVENTS);
	report->due = due_work(tick->n);
	report->sent = schedule_send_due(tick->n);
	report->expired = tick_part_try(expiry_work, tick->n, "the senders of messages cannot be told that nobody replied", APPENDS_EVENTS);
	(void) tick_part_try(artifact_sweep, tick->n, "artifacts that nothing uses cannot be removed", APPENDS_NONE);
	(void) tick_part_try(open_work_sweep, tick->n, "tasks that are over cannot be taken off the quotas of roles", APPENDS_NONE);
	(void) tick_part_try(call_sweep, tick->n, "calls of the outbox that are over cannot be removed", APPENDS_NONE);
	(void) tick_part_try(tally_work, tick->n, "events cannot be counted for the metrics", APPENDS_NONE);
	report->routed = report->due.routed +
		tick_part_try(offer_to_all, tick->n, "waiting tasks cannot be routed", APPENDS_EVENTS);
	(void) tick_part_try(offer_check_kinds, tick->n, "waiting tasks cannot be adapted to changed rules", APPENDS_NONE);
}

TickReport
tick_all(int n)
{
	Tick		tick = {n};

	wait_forbidden_run(tick_run, &tick);
	return tick.report;
}

/* ------------------------------------------------------------------- sealing */

static bool
tick_has_moved(const TickReport *report)
{
	return due_moved(&report->due) + report->routed + report->sent + report->expired + report->lost > 0;
}

static int
tick_seal_events(int n)
{
	OwnerCaller caller = owner_begin();
	int64		sealed = seal_if_due(n);

	owner_end(caller);
	return (int) sealed;
}

void
tick_seal(TickReport *report)
{
	report->sealed = tick_part_try(tick_seal_events, tick_has_moved(report) ? SEAL_STEP / 10 : SEAL_STEP,
								   "events cannot be added to the tree over the log", APPENDS_NONE);
}

bool
tick_count_events(void)
{
	(void) tick_part_try(tally_work, 0, "events cannot be counted for the metrics", APPENDS_NONE);
	return tally_next() != DT_NOEND;
}

bool
tick_settle(const Consequence *consequence)
{
	TickReport	report = tick_all(consequence->amount);

	tick_seal(&report);
	ticker_called();
	return true;
}

/* ---------------------------------------------------------------- the next */

bool
tick_is_full(const TickReport *report, int n)
{
	return due_moved(&report->due) >= n || report->routed >= n || report->sent >= n || report->expired >= n ||
		report->lost >= n;
}

/* how soon to try again what another transaction has locked */
#define SOON	USECS_PER_SEC

TimestampTz
tick_next(void)
{
	const TimestampTz dues[] = {timer_next(), expiry_next(), liveness_next(), schedule_next(), callee_next(), tally_next()};
	TimestampTz now = clock_now();
	TimestampTz next = dues[0];
	int			i;

	for (i = 1; i < (int) lengthof(dues); i++)
		next = Min(next, dues[i]);
	if (next <= now || postponed_is_any())
		next = now + SOON;
	if (!waiting_is_empty())
		next = Min(next, now + clutch_tick_interval * USECS_PER_SEC);
	return next;
}
