/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background process of one database: it ticks, and wakes listeners.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/clock.h"
#include "base/rows.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "flow/tick.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "settings.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "store/epoch.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"
#include "wake/mailbox.h"
#include "wake/notify.h"
#include "worker/worker.h"

/*
 * After waking listeners it rests for a multiple of what that took, the more
 * of them the longer: each is a process that wants a processor, as writers do.
 * Under load this gathers the hints of many transactions.
 */
#define HINT_REST		4
#define SHORTEST_REST	500		/* microseconds */
#define LONGEST_REST	2000

/* between hints, so that listeners do not wait for a thousand tasks */
#define TICK_STEP		100

/* after an error, doubled each time */
#define FIRST_PAUSE		USECS_PER_SEC
#define LONGEST_PAUSE	(60 * USECS_PER_SEC)

/* one of the two things it does, and when */
typedef struct Job
{
	const char *what;
	void		(*step) (void);
	TimestampTz at;				/* not before; DT_NOEND: when it is told to */
	TimestampTz pause;			/* after its last error; 0: there was none */
} Job;

static void tick_step(void);
static void hint_step(void);

static Job	ticking = {"clutch.tick()", tick_step};
static Job	hinting = {"waking listeners", hint_step};

static Hint hints[MAILBOX_HINTS];	/* taken and not yet sent */
static int	nhints = 0;
static bool has_extension = true;

/* ------------------------------------------------------------------- steps */

/*
 * It cannot be dropped until the transaction ends; who is dropping it now is
 * waited for.
 */
static bool
hold_extension(void)
{
	Oid			extension = get_extension_oid("clutch", true);

	if (!OidIsValid(extension))
		return false;
	LockDatabaseObject(ExtensionRelationId, extension, 0, AccessShareLock);
	return get_extension_oid("clutch", true) == extension;
}

/* deadlines are of the clock, which a setting may have moved; sleep is not */
static TimestampTz
as_real_time(TimestampTz at)
{
	return TIMESTAMP_NOT_FINITE(at) ? at : at + (GetCurrentTimestamp() - clock_now());
}

static TimestampTz
as_clock_time(TimestampTz at)
{
	return TIMESTAMP_NOT_FINITE(at) ? at : at + (clock_now() - GetCurrentTimestamp());
}

/*
 * As the owner of the extension, not as the superuser that this process is.
 *
 * The first to write in a new copy is somebody else, who wakes us: this worker
 * comes with CREATE EXTENSION, behind which a restore goes on to load the
 * tables, one after the other.
 */
static void
tick_step(void)
{
	TickReport	report;
	int			step = Min(clutch_tick_batch, TICK_STEP);

	has_extension = hold_extension();
	if (!has_extension || !epoch_has_begun())
		return;
	SetUserIdAndSecContext(rows_owner(), SECURITY_LOCAL_USERID_CHANGE);
	(void) tick_epoch();
	report = tick_all(step);
	if (tick_moved(&report) >= step || report.routed >= step || report.sent >= step)
		ticking.at = GetCurrentTimestamp();
	else
		ticking.at = as_real_time(tick_next());
	SetUserIdAndSecContext(GetSessionUserId(), 0);
}

static void
hint_step(void)
{
	notify_hints(hints, nhints);
}

/* a job in a transaction of its own; false: it went wrong, and is put off */
static bool
work(Job *job)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool worked = true;

	job->at = DT_NOEND;
	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		pgstat_report_activity(STATE_RUNNING, job->what);
		job->step();
		PopActiveSnapshot();
		CommitTransactionCommand();
		job->pause = 0;
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		EmitErrorReport();
		AbortCurrentTransaction();
		FlushErrorState();
		job->pause = Min(Max(2 * job->pause, FIRST_PAUSE), LONGEST_PAUSE);
		job->at = GetCurrentTimestamp() + job->pause;
		worked = false;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	return worked;
}

/* --------------------------------------------------------------------- loop */

static bool
is_time_for(const Job *job)
{
	return job->at <= GetCurrentTimestamp();
}

/* what failed waits for its pause, whoever asks */
static void
bring_forward(Job *job, TimestampTz at)
{
	if (job->pause == 0)
		job->at = Min(job->at, at);
}

static void
rest_until(TimestampTz at)
{
	TimestampTz now = GetCurrentTimestamp();

	if (now < at)
		pg_usleep(Min(at - now, LONGEST_REST));
}

static void
send_hints(void)
{
	static TimestampTz rested = DT_NOBEGIN;
	TimestampTz began;
	TimestampTz ended;

	rest_until(rested);
	if (nhints == 0)
		nhints = mailbox_take(hints);
	if (nhints == 0)
		return;
	bring_forward(&hinting, DT_NOBEGIN);
	if (!is_time_for(&hinting))
		return;
	began = GetCurrentTimestamp();
	if (work(&hinting))
	{
		nhints = 0;
		mailbox_sent();
	}
	ended = GetCurrentTimestamp();
	rested = ended + Max(SHORTEST_REST, HINT_REST * (ended - began));
}

/*
 * WaitLatch takes no more than INT_MAX milliseconds, 24 days: what is due later
 * wakes it once in between.
 */
static void
sleep_until(TimestampTz at)
{
	long		timeout = 0;

	if (at != DT_NOEND)
		timeout = Min(TimestampDifferenceMilliseconds(GetCurrentTimestamp(), at), INT_MAX - 1) + 1;
	(void) WaitLatch(MyLatch,
					 WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (at != DT_NOEND ? WL_TIMEOUT : 0),
					 timeout, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	/* ended while it has nothing to do, it ends without a word */
	if (ProcDiePending)
		proc_exit(0);
	/* there is nothing to cancel; DROP DATABASE waits for the rest */
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		bring_forward(&ticking, DT_NOBEGIN);
	}
}

/* for the next worker */
static void
put_back(int code, Datum arg)
{
	if (nhints > 0)
		mailbox_put_back(hints, nhints);
}

static void
begin(int number)
{
	Oid			database;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	database = mailbox_worker_begins(number);
	if (!OidIsValid(database))
		proc_exit(0);
	before_shmem_exit(put_back, (Datum) 0);
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	/* whatever the database is set to for others */
	SetConfigOption("default_transaction_read_only", "off", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_deferrable", "off", PGC_SUSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_IDLE, NULL);
	ticking.at = DT_NOBEGIN;
	hinting.at = DT_NOEND;
}

void
clutch_worker_main(Datum arg)
{
	bool		accepts = false;

	begin(DatumGetInt32(arg));
	for (;;)
	{
		MailboxOrders orders = mailbox_take_orders();

		if (orders.leave)
			break;
		bring_forward(&ticking, orders.look ? DT_NOBEGIN : as_real_time(orders.due));
		send_hints();
		if (is_time_for(&ticking) && work(&ticking) && has_extension && !accepts)
		{
			mailbox_accept();
			accepts = true;
		}
		if (!has_extension && mailbox_give_up())
			break;
		if (!has_extension)
			ticking.at = DT_NOBEGIN;
		mailbox_plan(as_clock_time(ticking.at));
		sleep_until(Min(ticking.at, nhints > 0 ? hinting.at : DT_NOEND));
	}
	send_hints();
	proc_exit(0);
}
