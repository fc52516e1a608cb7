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
#include "flow/withdraw.h"
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

typedef struct Tick
{
	int			n;				/* how much is done of each kind of work */
	TickReport	report;
} Tick;

typedef struct TickPart
{
	void		(*work) (Tick *tick);
	bool		appends_events;	/* then triggers of users are fired, which may
								 * be why it fails */
	const char *failure;
	TimestampTz told_at;		/* when a lack of memory or disk space was reported */
} TickPart;

static void
tick_lose_agents(Tick *tick)
{
	tick->report.lost = liveness_watch(tick->n);
}

static void
tick_sweep_agents(Tick *tick)
{
	withdraw_sweep(tick->n);
}

static void
tick_call_agents(Tick *tick)
{
	callee_watch(tick->n);
}

static void
tick_move_due(Tick *tick)
{
	tick->report.due = due_work(tick->n);
}

static void
tick_send_schedules(Tick *tick)
{
	tick->report.sent = schedule_send_due(tick->n);
}

static void
tick_expire_messages(Tick *tick)
{
	tick->report.expired = expiry_work(tick->n);
}

static void
tick_sweep_artifacts(Tick *tick)
{
	(void) artifact_sweep(tick->n);
}

static void
tick_sweep_open_work(Tick *tick)
{
	(void) open_work_sweep(tick->n);
}

static void
tick_sweep_calls(Tick *tick)
{
	(void) call_sweep(tick->n);
}

static void
tick_count(Tick *tick)
{
	tally_work();
}

static void
tick_route_waiting(Tick *tick)
{
	tick->report.routed = tick->report.due.routed + offer_to_all(tick->n);
}

static void
tick_check_waiting(Tick *tick)
{
	offer_check_waiting(tick->n);
}

static void
tick_seal_events(Tick *tick)
{
	OwnerCaller caller = owner_begin();

	tick->report.sealed = (int) seal_if_due(tick->n);
	owner_end(caller);
}

/*
 * Agents come first.  Otherwise the leases of a lost agent would expire one by
 * one, and its tasks might be given back to it.
 */
static TickPart parts[] = {
	{tick_lose_agents, true, "the tasks of silent agents cannot be given to others"},
	{tick_sweep_agents, false, "the slots of agents that have left cannot be removed"},
	{tick_call_agents, true, "tasks of agents behind endpoints cannot be called"},
	{tick_move_due, true, "tasks that are due cannot be moved"},
	{tick_send_schedules, true, "schedules cannot be sent"},
	{tick_expire_messages, true, "the senders of messages cannot be told that nobody replied"},
	{tick_sweep_artifacts, false, "artifacts that nothing uses cannot be removed"},
	{tick_sweep_open_work, false, "tasks that are over cannot be taken off the quotas of roles"},
	{tick_sweep_calls, false, "calls of the outbox that are over cannot be removed"},
	{tick_count, false, "events cannot be counted for the metrics"},
	{tick_route_waiting, true, "waiting tasks cannot be routed"},
	{tick_check_waiting, true, "waiting tasks cannot be checked"}
};

static TickPart sealing = {tick_seal_events, false, "events cannot be added to the tree over the log"};
static TickPart counting = {tick_count, false, "events cannot be counted for the metrics"};

typedef struct TickTry
{
	const TickPart *part;
	Tick	   *tick;
} TickTry;

static void
tick_part_run(void *arg)
{
	TickTry    *try = arg;

	try->part->work(try->tick);
}

/*
 * Runs one part of a tick.  An error in it does not keep the other parts from
 * their work.  The error may quote anybody's rows, so it is reported only to
 * operators.
 */
static void
tick_part_try(TickPart *part, Tick *tick)
{
	TickTry		try = {part, tick};
	ErrorData  *error = savepoint_run_whole(tick_part_run, &try);

	if (error == NULL)
		return;
	if (savepoint_failed_by_chance(error) &&
		!(savepoint_lacked_resources(error) && savepoint_tells_of_lack(&part->told_at)))
		return;
	ereport(principal_level(SLICE_NONE),
			(errcode(error->sqlerrcode),
			 errmsg("%s: %s", part->failure, error->message),
			 errhint("The rest of the tick goes on. %s", part->appends_events || error->hint != NULL ?
					 savepoint_advice(error) : "SELECT * FROM clutch.check() may show the cause.")));
}

static void
tick_run(void *arg)
{
	for (int i = 0; i < lengthof(parts); i++)
		tick_part_try(&parts[i], arg);
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

void
tick_seal(TickReport *report)
{
	Tick		tick = {tick_has_moved(report) ? SEAL_STEP / 10 : SEAL_STEP};

	tick_part_try(&sealing, &tick);
	report->sealed = tick.report.sealed;
}

bool
tick_count_events(void)
{
	Tick		tick = {0};

	tick_part_try(&counting, &tick);
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
