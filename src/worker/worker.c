/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The worker, a background process in one database that ticks and wakes
 *	  listeners.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/clock.h"
#include "base/rows.h"
#include "base/transaction.h"
#include "base/wait.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "compat.h"
#include "flow/restored.h"
#include "flow/tick.h"
#include "ledger/seal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "retention/prune.h"
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
#include "worker/pace.h"
#include "worker/worker_part.h"

/*
 * The maximum number of events that one step of pruning removes, because
 * whoever reports on one of their tasks waits for the step, and the maximum
 * number that it examines, because the other jobs wait for it.  After a step,
 * the worker pauses for so many times as long as the step took, and at least
 * for the shortest pause.  When there is nothing left to remove, it looks again
 * after a hundredth of the retention time, but not sooner or later than:
 */
#define PRUNE_STEP		500
#define PRUNE_LOOKS		5000
#define PRUNE_PAUSES	4
#define PRUNE_SHORTEST	(20 * USECS_PER_SEC / 1000)
#define PRUNE_SOONEST	USECS_PER_SEC
#define PRUNE_LATEST	(10 * USECS_PER_MINUTE)

/* The first pause after an error doubles with each consecutive error. */
#define LONGEST_PAUSE	(60 * USECS_PER_SEC)

/*
 * How long a job waits for a lock before it makes room for the others, because
 * listeners may be waiting who have nothing to do with the table.  This is
 * longer than deadlock_timeout, after which PostgreSQL looks for deadlocks and
 * sends autovacuum away.
 */
#define LOCK_PATIENCE	"1500ms"

/* One of the jobs of the worker, and when it is next done. */
typedef struct Job
{
	const char *what;			/* as shown in pg_stat_activity */
	void		(*step) (void);
	TimestampTz at;				/* DT_NOEND if it waits to be told */
	TimestampTz pause;			/* the last one; 0 if the last step succeeded */
	bool		lacks_lock;		/* did the last step lack a lock for some work? */
	bool		told_of_lock;	/* has it been reported that it waits for one? */
} Job;

static void worker_tick_step(void);
static void worker_hint_step(void);
static void worker_prune_step(void);
static void worker_seal_step(void);

static Job	tick_job = {"clutch.tick()", worker_tick_step};
static Job	hint_job = {"waking listeners", worker_hint_step};
static Job	prune_job = {"clutch.prune()", worker_prune_step};
static Job	seal_job = {"clutch.seal()", worker_seal_step};

/* hints that were taken from the mailbox and have not been sent yet */
static Hint hints[MAILBOX_HINTS];
static int	nhints = 0;

static bool has_extension = true;

/* ------------------------------------------------------------------- steps */

/*
 * Is the extension there?  If so, it cannot be dropped until our transaction
 * ends.  This waits for a session that is just dropping it.
 */
static bool
worker_hold_extension(void)
{
	Oid			extension = get_extension_oid("clutch", true);

	if (!OidIsValid(extension))
		return false;
	LockDatabaseObject(ExtensionRelationId, extension, 0, AccessShareLock);
	return get_extension_oid("clutch", true) == extension;
}

TimestampTz
worker_real_time(TimestampTz at)
{
	return TIMESTAMP_NOT_FINITE(at) ? at : at + (GetCurrentTimestamp() - clock_now());
}

static TimestampTz
worker_clock_time(TimestampTz at)
{
	return TIMESTAMP_NOT_FINITE(at) ? at : at + (clock_now() - GetCurrentTimestamp());
}

/*
 * Reports that the job waits for a lock of a table.  That may last for hours,
 * as with VACUUM FULL, so it is mentioned once, and again only after a step
 * that has lacked none.
 */
static void
worker_job_tell_of_lock(Job *job)
{
	if (job->lacks_lock && !job->told_of_lock)
		ereport(LOG,
				(errmsg("waiting for a lock of another session: %s", job->what),
				 errhint("It is tried again until it gets the lock. While it waits, pg_blocking_pids(%d) shows that session.", MyProcPid)));
	job->told_of_lock = job->lacks_lock;
}

/*
 * Makes the rest of the transaction run as the owner of the extension, rather
 * than as the superuser that this process runs as.  That includes its commit,
 * which fires deferred triggers of users and reads their holdable cursors, so
 * only worker_job_run goes back.  A transaction that fails does so by itself.
 */
static void
worker_become_owner(void)
{
	SetUserIdAndSecContext(rows_owner(), SECURITY_LOCAL_USERID_CHANGE);
}

/*
 * Does one step of a tick.  The worker must not be the first to write in a new
 * copy of the database, because it is started by CREATE EXTENSION, and a
 * restore may be loading one table after the other.  Whoever writes first
 * wakes it.
 */
static void
worker_tick_step(void)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	has_extension = worker_hold_extension();
	if (has_extension && epoch_has_begun())
	{
		worker_become_owner();
		(void) restored_epoch();
		tick_job.at = worker_tick(&tick_job.lacks_lock);
	}
	PopActiveSnapshot();
}

static void
worker_hint_step(void)
{
	notify_hints(hints, nhints);
}

/*
 * Removes what is older than clutch.retention.  As in worker_tick_step, a copy
 * in which nothing has been written yet is left alone.
 */
static void
worker_prune_step(void)
{
	int64		keep = clutch_retention_time;
	TimestampTz began = GetCurrentTimestamp();

	if (keep == 0)
		return;
	prune_job.at = began + Max(PRUNE_SOONEST, Min(PRUNE_LATEST, keep / 100));
	PushActiveSnapshot(GetTransactionSnapshot());
	if (worker_hold_extension() && epoch_has_begun())
	{
		PruneReport report;

		worker_become_owner();
		report = prune_batch(clock_now() - keep, PRUNE_STEP, PRUNE_LOOKS);
		prune_job.lacks_lock = report.locked > 0 && report.events == 0;
		if (report.events > 0 || report.is_partial)
		{
			TimestampTz ended = GetCurrentTimestamp();

			prune_job.at = ended + Max(PRUNE_SHORTEST, PRUNE_PAUSES * (ended - began));
		}
	}
	PopActiveSnapshot();
}

/* how soon to count again if there are more events than one count takes */
#define COUNT_AGAIN		USECS_PER_SEC

/*
 * Seals a batch.  A database in which nothing happens is only looked at, and
 * not written to.  When a batch was full, the next one follows after the other
 * jobs.  Events are counted here as well, because messages alone cause no ticks.
 */
static void
worker_seal_step(void)
{
	int			interval = clutch_seal_interval;

	if (interval == 0)
		return;
	seal_job.at = GetCurrentTimestamp() + interval * USECS_PER_SEC;
	PushActiveSnapshot(GetTransactionSnapshot());
	if (worker_hold_extension() && epoch_has_begun())
	{
		worker_become_owner();
		if (seal_batch(SEAL_STEP) >= SEAL_STEP)
			seal_job.at = GetCurrentTimestamp();
		else if (tick_count_events())
			seal_job.at = GetCurrentTimestamp() + COUNT_AGAIN;
	}
	PopActiveSnapshot();
}

/*
 * Reports that the job has failed, and decides how long it pauses.  A lock that
 * is not available is no error, and the job goes on soon after it is released.
 */
static void
worker_job_failed(Job *job)
{
	job->lacks_lock = geterrcode() == ERRCODE_LOCK_NOT_AVAILABLE;
	if (!job->lacks_lock)
		EmitErrorReport();
	AbortCurrentTransaction();
	FlushErrorState();
	job->pause = job->lacks_lock ? FIRST_PAUSE : Min(Max(2 * job->pause, FIRST_PAUSE), LONGEST_PAUSE);
	job->at = GetCurrentTimestamp() + job->pause;
}

/*
 * After a wait that was too long, the others of the transaction were short, but
 * its commit may wait again, for example for others that notify: if it failed,
 * all that the step has done would be undone.
 */
static void
worker_wait_as_usual(void)
{
	(void) set_config_option("lock_timeout", LOCK_PATIENCE, PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
}

/* Deferred triggers of users are fired after the step. */
static void
worker_job_step(const Job *job)
{
	job->step();
	worker_wait_as_usual();
}

/* Runs a step in a transaction.  Returns false if it failed and is put off. */
static bool
worker_job_run(Job *job)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool worked = true;

	job->at = DT_NOEND;
	job->lacks_lock = false;
	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		pgstat_report_activity(STATE_RUNNING, job->what);
		worker_job_step(job);
		CommitTransactionCommand();
		SetUserIdAndSecContext(GetSessionUserId(), 0);
		job->pause = 0;
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		worker_job_failed(job);
		worked = false;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	worker_job_tell_of_lock(job);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	return worked;
}

/* --------------------------------------------------------------------- loop */

static bool
worker_job_is_due(const Job *job)
{
	return job->at <= GetCurrentTimestamp();
}

/*
 * Makes the job run at that time or earlier, except that a failed one waits
 * for its pause to end.
 */
static void
worker_job_bring_forward(Job *job, TimestampTz at)
{
	if (job->pause == 0)
		job->at = Min(job->at, at);
}

/*
 * Makes all jobs run now, also those that have failed, because the reason may
 * be gone.
 */
static void
worker_look_again(void)
{
	Job		   *jobs[] = {&tick_job, &hint_job, &prune_job, &seal_job};

	for (int i = 0; i < lengthof(jobs); i++)
	{
		jobs[i]->pause = 0;
		jobs[i]->at = DT_NOBEGIN;
	}
}

/*
 * Makes all jobs run now if the clock has been set back.  Otherwise they would
 * wait for the times that it had shown before.
 */
static void
worker_watch_clock(void)
{
	static TimestampTz last = DT_NOBEGIN;
	TimestampTz now = GetCurrentTimestamp();

	if (now < last)
		worker_look_again();
	last = now;
}

static void
worker_send_hints(void)
{
	if (nhints == 0)
		nhints = mailbox_take(hints);
	if (nhints == 0)
		return;
	worker_job_bring_forward(&hint_job, DT_NOBEGIN);
	if (!worker_job_is_due(&hint_job))
		return;
	pace_begin();
	if (worker_job_run(&hint_job))
	{
		nhints = 0;
		mailbox_sent();
	}
	pace_end();
}

/*
 * WaitLatch takes at most INT_MAX milliseconds, or 24 days, so the worker
 * wakes up in between if the next job is due later than that.
 */
static void
worker_sleep_until(TimestampTz at)
{
	long		timeout = 0;

	if (at != DT_NOEND)
		timeout = Min(TimestampDifferenceMilliseconds(GetCurrentTimestamp(), at), INT_MAX - 1) + 1;
	(void) WaitLatch(MyLatch,
					 WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (at != DT_NOEND ? WL_TIMEOUT : 0),
					 timeout, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	/* terminating a worker that has nothing to do should not log an error */
	if (ProcDiePending)
		proc_exit(0);
	/* there is no query to cancel */
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		worker_look_again();
	}
}

/* Leaves hints that were not sent to the next worker. */
static void
worker_return_hints(int code, Datum arg)
{
	if (nhints > 0)
		mailbox_put_back(hints, nhints);
}

/* The log_line_prefix of a background process has no database. */
static void
worker_name_database(void *arg)
{
	errcontext("%s", MyBgworkerEntry->bgw_name);
}

static void
worker_begin(int number)
{
	/* what the step has caused for other tasks is handled before that, and may have waited as well */
	static TransactionWatch watch = {.committing = worker_wait_as_usual};
	Oid			database;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	database = mailbox_worker_begins(number);
	if (!OidIsValid(database))
		proc_exit(0);
	transaction_watch(&watch);
	before_shmem_exit(worker_return_hints, (Datum) 0);
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	/* override what ALTER DATABASE may have set for sessions */
	SetConfigOption("default_transaction_read_only", "off", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_deferrable", "off", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("lock_timeout", LOCK_PATIENCE, PGC_SUSET, PGC_S_OVERRIDE);
	wait_long_only_once();
	transaction_timeout_off_compat();
	/* triggers of users run as the owner of the extension here; see base/owner.h */
	SetConfigOption("search_path", "pg_catalog, pg_temp", PGC_SUSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_IDLE, NULL);
	tick_job.at = DT_NOBEGIN;
	hint_job.at = DT_NOEND;
	prune_job.at = DT_NOBEGIN;
	seal_job.at = DT_NOBEGIN;
}

void
clutch_worker_main(Datum arg)
{
	bool		accepts = false;
	ErrorContextCallback context = {.callback = worker_name_database, .previous = error_context_stack};

	error_context_stack = &context;
	worker_begin(DatumGetInt32(arg));
	for (;;)
	{
		MailboxOrders orders = mailbox_take_orders();

		if (orders.leave)
			break;
		if (orders.look)
			worker_look_again();
		worker_watch_clock();
		worker_job_bring_forward(&tick_job, worker_real_time(orders.due));
		pace_await();
		worker_send_hints();
		if (worker_job_is_due(&tick_job) && worker_job_run(&tick_job) && has_extension && !accepts)
		{
			mailbox_accept();
			accepts = true;
		}
		if (!has_extension && mailbox_give_up())
			break;
		if (!has_extension)
			tick_job.at = DT_NOBEGIN;
		if (has_extension && worker_job_is_due(&prune_job))
			(void) worker_job_run(&prune_job);
		if (has_extension && worker_job_is_due(&seal_job))
			(void) worker_job_run(&seal_job);
		if (mailbox_plan(worker_clock_time(tick_job.at), nhints == 0) && !ConfigReloadPending)
			worker_sleep_until(Min(Min(Min(tick_job.at, prune_job.at), seal_job.at),
								   nhints > 0 ? hint_job.at : DT_NOEND));
		else
			worker_sleep_until(GetCurrentTimestamp());
	}
	worker_send_hints();
	proc_exit(0);
}
