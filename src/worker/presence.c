/*-------------------------------------------------------------------------
 *
 * presence.c
 *	  What sessions do that concerns the workers of databases.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/transaction.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_extension.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "compat.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "wake/mailbox.h"
#include "worker/presence.h"

static object_access_hook_type previous_access = NULL;
static ProcessUtility_hook_type previous_utility = NULL;

/* of this transaction */
static Oid	sent_away = InvalidOid; /* the database whose worker was */
static int	sent_at = 0;		/* by which savepoint */
static bool extension_changed = false;
static bool database_changed = false;

static void
call_back(void)
{
	if (OidIsValid(sent_away))
		mailbox_worker_return(sent_away);
	sent_away = InvalidOid;
}

/* a statement that was refused does not keep it away for the whole transaction */
static void
rolled_back(void)
{
	if (sent_at >= GetCurrentTransactionNestLevel())
		call_back();
}

static void
released(void)
{
	sent_at = Min(sent_at, GetCurrentTransactionNestLevel() - 1);
}

static void
transaction_ended(void)
{
	call_back();
	if (extension_changed)
		mailbox_changed(MyDatabaseId);
	if (database_changed)
		mailbox_changed(InvalidOid);
	extension_changed = false;
	database_changed = false;
}

static TransactionWatch watch = {
	.rolled_back = rolled_back,
	.released = released,
	.ended = transaction_ended,
};

/* which extension it is cannot be read yet, and looking is cheap */
static void
object_accessed(ObjectAccessType access, Oid class, Oid object, int part, void *arg)
{
	if (previous_access)
		previous_access(access, class, object, part, arg);
	if (class == ExtensionRelationId && (access == OAT_POST_CREATE || access == OAT_DROP))
	{
		transaction_watch(&watch);
		extension_changed = true;
	}
}

static const char *
option(List *options, const char *name, const char *otherwise)
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

/* the database that the statement wants for itself; NULL: none */
static const char *
wanted_database(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			return ((DropdbStmt *) statement)->dbname;
		case T_CreatedbStmt:
			return option(((CreatedbStmt *) statement)->options, "template", "template1");
		case T_RenameStmt:
			if (((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
				return ((RenameStmt *) statement)->subname;
			return NULL;
		case T_AlterDatabaseStmt:
			if (option(((AlterDatabaseStmt *) statement)->options, "tablespace", NULL))
				return ((AlterDatabaseStmt *) statement)->dbname;
			return NULL;
		default:
			return NULL;
	}
}

static void
send_away(const char *name)
{
	Oid			database = get_database_oid(name, true);

	/* others are refused it, but to copy a template, which has no worker */
	if (!OidIsValid(database) || !is_database_owner_compat(database, GetUserId()))
		return;
	/* an earlier one in this transaction is locked by now */
	call_back();
	sent_away = database;
	sent_at = GetCurrentTransactionNestLevel();
	mailbox_worker_leave(database);
}

static void
utility(PlannedStmt *plan, const char *text, bool read_only, ProcessUtilityContext context,
		ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver,
		QueryCompletion *completion)
{
	Node	   *statement = plan->utilityStmt;
	const char *wanted = wanted_database(statement);

	if (wanted != NULL || IsA(statement, AlterDatabaseStmt))
	{
		transaction_watch(&watch);
		database_changed = true;
	}
	if (wanted != NULL)
		send_away(wanted);
	if (previous_utility)
		previous_utility(plan, text, read_only, context, parameters, environment, receiver,
						 completion);
	else
		standard_ProcessUtility(plan, text, read_only, context, parameters, environment,
								receiver, completion);
}

void
presence_watch(void)
{
	previous_access = object_access_hook;
	object_access_hook = object_accessed;
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = utility;
}
