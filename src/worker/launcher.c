/*-------------------------------------------------------------------------
 *
 * launcher.c
 *	  The launcher, a process that keeps a worker in each database with the
 *	  extension.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "base/clock.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"
#include "wake/mailbox.h"
#include "wake/notify.h"
#include "worker/launcher.h"
#include "worker/presence.h"

/*
 * The shortest time between two workers of a database, unless one was sent
 * away.
 */
#define START_INTERVAL	(5 * USECS_PER_SEC)

/* After so long without a worker for some database, this is reported. */
#define LACKING_PATIENCE	(2 * START_INTERVAL)

/* A worker that has not begun by then has failed to start. */
#define START_PATIENCE	(60 * USECS_PER_SEC)

/* databases that have no extension, as far as we know; in TopMemoryContext */
static List *databases_without = NIL;

static void
launcher_set_function(BackgroundWorker *worker, const char *function)
{
	strlcpy(worker->bgw_library_name, "clutch", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, function, BGW_MAXLEN);
}

void
launcher_register(void)
{
	BackgroundWorker worker = {0};

	mailbox_request();
	notify_watch();
	presence_watch();
	/* pg_upgrade moves databases, to which no process may be connected */
	if (IsBinaryUpgrade)
		return;
	strlcpy(worker.bgw_name, "clutch launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "clutch launcher", BGW_MAXLEN);
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = 5;
	launcher_set_function(&worker, "clutch_launcher_main");
	RegisterBackgroundWorker(&worker);
}

/* -------------------------------------------------------------- databases */

static bool
launcher_may_have_worker(Form_pg_database database)
{
	/* a limit below -1 marks a database whose DROP was interrupted */
	return database->datallowconn && !database->datistemplate && database->datconnlimit >= -1;
}

/* Lists the databases that may have a worker, in the caller's context. */
static List *
launcher_list_databases(void)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *found = NIL;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);

		if (launcher_may_have_worker(database))
		{
			MemoryContext old = MemoryContextSwitchTo(context);

			found = lappend_oid(found, database->oid);
			MemoryContextSwitchTo(old);
		}
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return found;
}

/*
 * Returns the name of a database, in the caller's context, or NULL if the
 * database has been dropped.
 */
static char *
launcher_database_name(Oid database)
{
	MemoryContext context = CurrentMemoryContext;
	char	   *name;

	StartTransactionCommand();
	name = get_database_name(database);
	if (name != NULL)
		name = MemoryContextStrdup(context, name);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return name;
}

/* ----------------------------------------------------------------- workers */

static bool
launcher_lacks_worker(const MailboxView *view)
{
	return view->state == MAILBOX_NO_WORKER || view->state == MAILBOX_NOT_STARTED;
}

/* Its name says in the server log which worker it is. */
static bool
launcher_start_worker(int number, Oid database)
{
	BackgroundWorker worker = {0};
	const char *name = launcher_database_name(database);

	if (name == NULL)
		return false;
	snprintf(worker.bgw_name, BGW_MAXLEN, "clutch worker of database %s", name);
	strlcpy(worker.bgw_type, "clutch worker", BGW_MAXLEN);
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_main_arg = Int32GetDatum(number);
	/* we are notified when the worker has ended, because then there is room for another one */
	worker.bgw_notify_pid = MyProcPid;
	launcher_set_function(&worker, "clutch_worker_main");
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

static void
launcher_warn(const char *name)
{
	ereport(WARNING,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("no background worker is left for a clutch worker"),
			 errdetail("Database \"%s\" has none, and perhaps others. Without it, clutch.tick() has to be called by other means, and transactions notify listeners themselves.",
					   name),
			 errhint("Increase max_worker_processes.")));
}

/*
 * Warns once, until no database lacks a worker any more, because all of them
 * lack it for the same reason.  The argument is one that does, or InvalidOid.
 * It must have been so for a while: when the server starts, workers look for the
 * extension in one database after another, and each makes room for the next one
 * when it ends.  made_room says whether one has just done so.  Returns when to
 * look again.
 */
static TimestampTz
launcher_warn_if_lacking(Oid database, bool made_room, TimestampTz now)
{
	static TimestampTz since = DT_NOEND;
	static bool warned = false;
	const char *name;

	if (!OidIsValid(database))
	{
		since = DT_NOEND;
		warned = false;
		return DT_NOEND;
	}
	since = made_room ? now : Min(since, now);
	if (warned)
		return DT_NOEND;
	if (!clock_is_over(since, LACKING_PATIENCE, now))
		return since + LACKING_PATIENCE;
	name = launcher_database_name(database);
	if (name != NULL)
		launcher_warn(name);
	warned = name != NULL;
	return DT_NOEND;
}

/*
 * Makes sure that the mailbox has a worker, if its database may have one.  A worker
 * that was dismissed a moment ago may have ended by now, and must not be replaced.
 * Returns when to look again.
 */
static TimestampTz
launcher_ensure_worker(int number, const MailboxView *view, bool belongs, TimestampTz now)
{
	if (view->state == MAILBOX_STARTING)
	{
		if (!clock_is_over(view->started_at, START_PATIENCE, now))
			return view->started_at + START_PATIENCE;
		mailbox_worker_failed(number);
	}
	else if (!belongs || !launcher_lacks_worker(view) || view->is_away)
		return DT_NOEND;
	/* if there was no room for a worker, this is tried again whenever another one has ended */
	if (view->state != MAILBOX_NOT_STARTED && !clock_is_over(view->started_at, START_INTERVAL, now))
		return view->started_at + START_INTERVAL;
	mailbox_worker_starts(number, now);
	if (launcher_start_worker(number, view->database))
		return now + START_PATIENCE;
	mailbox_worker_failed(number);
	return now + START_INTERVAL;
}

/*
 * Closes the mailboxes of databases that do not need one any more, and lists the
 * databases that keep theirs.
 */
static List *
launcher_close_unneeded(List *databases)
{
	List	   *present = NIL;
	int			i;

	for (i = 0; i < mailbox_count(); i++)
	{
		MailboxView view = mailbox_view(i);
		bool		belongs = list_member_oid(databases, view.database);

		if (view.state == MAILBOX_FREE)
			continue;
		if (view.state == MAILBOX_NO_EXTENSION && belongs)
		{
			MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

			databases_without = lappend_oid(databases_without, view.database);
			MemoryContextSwitchTo(old);
		}
		/* one that is starting leaves as soon as it begins */
		if ((view.state == MAILBOX_AT_WORK || view.state == MAILBOX_STARTING) && !belongs)
			mailbox_worker_dismiss(i);
		if (view.state == MAILBOX_NO_EXTENSION ||
			(launcher_lacks_worker(&view) && !belongs))
			mailbox_close(i);
		else
			present = lappend_oid(present, view.database);
	}
	return present;
}

/*
 * Forgets that a database has no extension if the database is gone, or if an
 * extension has come or gone in it.
 */
static void
launcher_forget_changed(List *databases, const Oid *changed, int nchanged, bool any)
{
	ListCell   *cell;
	int			i;

	if (any)
	{
		list_free(databases_without);
		databases_without = NIL;
	}
	foreach(cell, databases_without)
		if (!list_member_oid(databases, lfirst_oid(cell)))
			databases_without = foreach_delete_current(databases_without, cell);
	for (i = 0; i < nchanged; i++)
		databases_without = list_delete_oid(databases_without, changed[i]);
}

/*
 * Gives each database that needs one a mailbox and a worker.  Returns when to
 * look again.
 *
 * The changes are taken before the mailboxes are looked at, so that a worker
 * that found no extension just before it was created is noticed and started
 * again.
 */
static TimestampTz
launcher_survey(void)
{
	Oid			changed[MAILBOX_CHANGES];
	int			nchanged;
	bool		any = mailbox_take_changed(changed, &nchanged);
	List	   *databases = launcher_list_databases();
	int			nwithout = list_length(databases_without);
	List	   *present = launcher_close_unneeded(databases);
	bool		made_room = list_length(databases_without) > nwithout;
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz again = DT_NOEND;
	Oid			without_mailbox = InvalidOid;
	Oid			without_worker = InvalidOid;
	ListCell   *cell;
	int			i;

	launcher_forget_changed(databases, changed, nchanged, any);
	foreach(cell, databases)
		if (!list_member_oid(present, lfirst_oid(cell)) &&
			!list_member_oid(databases_without, lfirst_oid(cell)) &&
			!mailbox_open(lfirst_oid(cell)))
			without_mailbox = lfirst_oid(cell);
	for (i = 0; i < mailbox_count(); i++)
	{
		MailboxView view = mailbox_view(i);
		TimestampTz then = launcher_ensure_worker(i, &view, list_member_oid(databases, view.database), now);

		again = Min(again, then);
		view = mailbox_view(i);
		if (view.state == MAILBOX_NOT_STARTED && !view.is_away)
			without_worker = view.database;
	}
	/*
	 * a worker that only looks for the extension will soon make room for the
	 * next one
	 */
	if (!OidIsValid(without_worker) && again == DT_NOEND)
		without_worker = without_mailbox;
	return Min(again, launcher_warn_if_lacking(without_worker, made_room, now));
}

/* Returns -1 for no timeout. */
static long
launcher_milliseconds_until(TimestampTz at)
{
	if (at == DT_NOEND)
		return -1L;
	return TimestampDifferenceMilliseconds(GetCurrentTimestamp(), at) + 1;
}

void
clutch_launcher_main(Datum arg)
{
	MemoryContext context;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	mailbox_launcher_begins();
	context = AllocSetContextCreate(TopMemoryContext, "clutch launcher", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	while (!ShutdownRequestPending)
	{
		TimestampTz again = launcher_survey();
		long		timeout = launcher_milliseconds_until(again);

		MemoryContextReset(context);
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (timeout >= 0 ? WL_TIMEOUT : 0),
						 timeout, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
	}
	/* after exit code 0, the postmaster would not start it again */
	proc_exit(1);
}
