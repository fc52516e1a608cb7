/*-------------------------------------------------------------------------
 *
 * presence.c
 *	  Watching for statements that concern the workers of databases.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/clock.h"
#include "base/transaction.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_subscription.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "compat.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "replication/worker_internal.h"
#include "storage/procarray.h"
#include "tcop/utility.h"
#include "utils/timestamp.h"
#include "wake/mailbox.h"
#include "worker/presence.h"

/* How often, and at what interval in us, we look whether the worker has left. */
#define DEPARTURE_TRIES	50
#define DEPARTURE_PAUSE	100000

static object_access_hook_type previous_access = NULL;
static ProcessUtility_hook_type previous_utility = NULL;

/* What the current transaction has done. */
static Oid	sent_away_from = InvalidOid;	/* the database whose worker was
											 * sent away */
static int	sent_away_level = 0;	/* level of the savepoint that did so */
static bool extension_changed = false;
static bool database_changed = false;

static void
presence_call_worker_back(void)
{
	if (OidIsValid(sent_away_from))
		mailbox_worker_return(sent_away_from);
	sent_away_from = InvalidOid;
}

/*
 * If the statement failed, the worker need not stay away for the whole
 * transaction.
 */
static void
presence_savepoint_rolled_back(void)
{
	if (sent_away_level >= GetCurrentTransactionNestLevel())
		presence_call_worker_back();
}

static void
presence_savepoint_released(void)
{
	sent_away_level = Min(sent_away_level, GetCurrentTransactionNestLevel() - 1);
}

static void
presence_transaction_ended(void)
{
	presence_call_worker_back();
	if (extension_changed)
		mailbox_changed(MyDatabaseId);
	if (database_changed)
		mailbox_changed(InvalidOid);
	extension_changed = false;
	database_changed = false;
}

static TransactionWatch watch = {
	.rolled_back = presence_savepoint_rolled_back,
	.released = presence_savepoint_released,
	.ended = presence_transaction_ended,
};

/*
 * This is called for every extension, because at this point the catalog does
 * not show yet which one it is.  Looking once too often is cheap.
 */
static void
presence_object_access(ObjectAccessType access, Oid class, Oid object, int part, void *arg)
{
	if (previous_access)
		previous_access(access, class, object, part, arg);
	if (class == ExtensionRelationId &&
		(access == OAT_POST_CREATE || access == OAT_POST_ALTER || access == OAT_DROP))
	{
		transaction_watch(&watch);
		extension_changed = true;
	}
}

static const char *
presence_option(List *options, const char *name, const char *otherwise)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *element = lfirst(cell);

		if (strcmp(element->defname, name) == 0)
			return element->arg ? defGetString(element) : otherwise;
	}
	return otherwise;
}

/* Returns the database that the statement needs for itself, or NULL. */
static const char *
presence_wanted_by(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			return ((DropdbStmt *) statement)->dbname;
		case T_CreatedbStmt:
			return presence_option(((CreatedbStmt *) statement)->options, "template", "template1");
		case T_RenameStmt:
			if (((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
				return ((RenameStmt *) statement)->subname;
			return NULL;
		case T_AlterDatabaseStmt:
			if (presence_option(((AlterDatabaseStmt *) statement)->options, "tablespace", NULL))
				return ((AlterDatabaseStmt *) statement)->dbname;
			return NULL;
		default:
			return NULL;
	}
}

/* Would the statement terminate whoever is in the database? */
static bool
presence_is_forced(Node *statement)
{
	ListCell   *cell;

	if (!IsA(statement, DropdbStmt))
		return false;
	foreach(cell, ((DropdbStmt *) statement)->options)
		if (strcmp(((DefElem *) lfirst(cell))->defname, "force") == 0)
			return true;
	return false;
}

/*
 * Waits until there are only clients in the database, as long as PostgreSQL
 * waits where it does not terminate anybody.
 */
static void
presence_await_departure(Oid database)
{
	for (int tries = 0; tries < DEPARTURE_TRIES; tries++)
	{
		int			clients = CountDBConnections(database);

		CHECK_FOR_INTERRUPTS();
		if (CountDBBackends(database) <= clients)
			return;
		pg_usleep(DEPARTURE_PAUSE);
	}
}

static void
presence_send_worker_away(Node *statement, Oid database)
{
	/*
	 * Only the owner can do this.  Others may copy a template, but templates
	 * have no worker.
	 */
	if (!is_database_owner_compat(database, GetUserId()))
		return;
	transaction_watch(&watch);
	/*
	 * the statement that sent another worker away has locked its database by
	 * now
	 */
	presence_call_worker_back();
	sent_away_from = database;
	sent_away_level = GetCurrentTransactionNestLevel();
	/*
	 * The worker runs as a superuser, so only a superuser may terminate it.
	 * It leaves by itself before the statement tries to.
	 */
	if (mailbox_worker_leave(database) && presence_is_forced(statement))
		presence_await_departure(database);
}

/* so long after COMMIT PREPARED, so that many of them make the worker look only once */
#define LOOK_AFTER		USECS_PER_SEC

/*
 * When a transaction is prepared, it tells the worker what is due, and the
 * launcher that it has created the extension.  They have looked for that by
 * now, and have not seen it, because it was not committed.
 */
static void
presence_commit_prepared(void)
{
	if (!mailbox_due(clock_now() + LOOK_AFTER) && OidIsValid(get_extension_oid("clutch", true)))
		mailbox_changed(MyDatabaseId);
}

/*
 * A subscription with two_phase commits prepared transactions without a
 * statement, and what else it commits cannot be told from that.
 */
static void
presence_replica_committed(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT && MySubscription != NULL &&
		MySubscription->twophasestate == LOGICALREP_TWOPHASE_STATE_ENABLED)
		(void) mailbox_due(clock_now() + LOOK_AFTER);
}

static bool
presence_commits_prepared(Node *statement)
{
	return IsA(statement, TransactionStmt) && ((TransactionStmt *) statement)->kind == TRANS_STMT_COMMIT_PREPARED;
}

static void
presence_process_utility(PlannedStmt *plan, const char *text, bool read_only,
						 ProcessUtilityContext context, ParamListInfo parameters,
						 QueryEnvironment *environment, DestReceiver *receiver,
						 QueryCompletion *completion)
{
	Node	   *statement = plan->utilityStmt;
	const char *wanted = presence_wanted_by(statement);
	Oid			database = wanted != NULL ? get_database_oid(wanted, true) : InvalidOid;
	bool		may_change = OidIsValid(database) || IsA(statement, AlterDatabaseStmt);
	bool		commits_prepared = presence_commits_prepared(statement);

	if (OidIsValid(database))
		presence_send_worker_away(statement, database);
	if (previous_utility)
		previous_utility(plan, text, read_only, context, parameters, environment, receiver,
						 completion);
	else
		standard_ProcessUtility(plan, text, read_only, context, parameters, environment,
								receiver, completion);
	/*
	 * not if it has failed, or found no database, because anybody may repeat
	 * that again and again
	 */
	if (may_change)
	{
		transaction_watch(&watch);
		database_changed = true;
	}
	if (commits_prepared)
		presence_commit_prepared();
}

void
presence_watch(void)
{
	previous_access = object_access_hook;
	object_access_hook = presence_object_access;
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = presence_process_utility;
	RegisterXactCallback(presence_replica_committed, NULL);
}
