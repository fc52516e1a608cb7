/*-------------------------------------------------------------------------
 *
 * protection.c
 *	  Refusing statements that would let somebody rewrite the log, or that
 *	  would make a table useless.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_trigger.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "protocol/problem.h"
#include "settings.h"
#include "store/event.h"
#include "store/protection.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

static object_access_hook_type previous_access = NULL;
static ProcessUtility_hook_type previous_utility = NULL;

/* What the running statement does, as far as the hook below cannot tell. */
typedef struct ProtectionStatement
{
	bool		drops_extension;
	bool		changes_type;
	bool		moves;			/* it gives something another name or schema */
} ProtectionStatement;

static ProtectionStatement running;

static void
protection_refuse(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_LOG_IS_APPEND_ONLY),
			 errproblem("", "LOG_PROTECTED"),
			 errmsg("cannot %s: the log of clutch is append-only", what),
			 errhint("If you mean it, run SET clutch.allow_ddl = on first, as a superuser; clutch.verify_log() then finds what has changed in the sealed part of the log.")));
}

/* ------------------------------------------------------------ which objects */

/*
 * Is it the schema of the extension?  Where the extension is not installed, a
 * schema of that name belongs to somebody else.
 */
static bool
protection_is_schema(Oid schema)
{
	return schema == get_namespace_oid(CLUTCH_SCHEMA, true) &&
		OidIsValid(get_extension_oid("clutch", true));
}

/*
 * Is it the log?  We compare names, because the log may belong to another
 * version of the extension.
 */
static bool
protection_is_log(Oid relid)
{
	char	   *name = get_rel_name(relid);
	bool		is_log = name != NULL && strcmp(name, "events") == 0 &&
		protection_is_schema(get_rel_namespace(relid));

	if (name != NULL)
		pfree(name);
	return is_log;
}

/* Is it one of this extension's functions that guard the log? */
static bool
protection_is_guard(Oid function)
{
	char	   *name = get_func_name(function);
	bool		is_guard = name != NULL &&
		(strcmp(name, "admit") == 0 || strcmp(name, "append_only") == 0) &&
		protection_is_schema(get_func_namespace(function));

	if (name != NULL)
		pfree(name);
	return is_guard;
}

/*
 * Is it one of our triggers on the log?  With unless_always, we look at its
 * state after the statement, and do not count triggers that still fire always.
 */
static bool
protection_is_our_trigger(Oid trigger, bool unless_always)
{
	Relation	rel = table_open(TriggerRelationId, AccessShareLock);
	bool		is_ours = false;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger));
	scan = systable_beginscan(rel, TriggerOidIndexId, true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		is_ours = protection_is_guard(form->tgfoid) && protection_is_log(form->tgrelid) &&
			!(unless_always && form->tgenabled == TRIGGER_FIRES_ALWAYS);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return is_ours;
}

static bool
protection_is_our_rule(Oid rule)
{
	Relation	rel = table_open(RewriteRelationId, AccessShareLock);
	bool		is_ours = false;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_rewrite_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(rule));
	scan = systable_beginscan(rel, RewriteOidIndexId, true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		is_ours = protection_is_log(((Form_pg_rewrite) GETSTRUCT(tuple))->ev_class);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return is_ours;
}

/* ---------------------------------------------------------------- judgement */

static void
protection_judge_drop(Oid class, Oid object, int part)
{
	if (running.drops_extension)
		return;
	if (class == RelationRelationId && part == 0 && protection_is_log(object))
		protection_refuse("drop table clutch.events");
	if (class == RelationRelationId && part > 0 && part <= Natts_event && protection_is_log(object))
		protection_refuse("drop a column of clutch.events");
	if (class == TriggerRelationId && protection_is_our_trigger(object, false))
		protection_refuse("drop a trigger of clutch.events");
}

/*
 * Judges a renaming or move.  What protects the log is recognized by its name,
 * so the name must not change.
 */
static void
protection_judge_move(Oid class, Oid object, int part)
{
	if (class == NamespaceRelationId && protection_is_schema(object))
		protection_refuse("rename schema clutch");
	if (class == RelationRelationId && part <= Natts_event && protection_is_log(object))
		protection_refuse(part == 0 ? "rename or move table clutch.events" : "rename a column of clutch.events");
	if (class == TriggerRelationId && protection_is_our_trigger(object, false))
		protection_refuse("rename a trigger of clutch.events");
	if (class == ProcedureRelationId && protection_is_guard(object))
		protection_refuse("rename or move a trigger function of clutch");
}

static void
protection_judge_change(Oid class, Oid object, int part)
{
	if (running.moves)
		protection_judge_move(class, object, part);
	if (class == TriggerRelationId && protection_is_our_trigger(object, true))
		protection_refuse("disable a trigger of clutch.events");
	if (class == RelationRelationId && part > 0 && part <= Natts_event && running.changes_type &&
		protection_is_log(object))
		protection_refuse("change the type of a column of clutch.events");
}

static void
protection_judge(ObjectAccessType access, Oid class, Oid object, int part)
{
	switch (access)
	{
		case OAT_DROP:
			protection_judge_drop(class, object, part);
			break;
		case OAT_POST_ALTER:
			protection_judge_change(class, object, part);
			break;
		case OAT_TRUNCATE:
			if (class == RelationRelationId && protection_is_log(object))
				protection_refuse("truncate clutch.events");
			break;
		case OAT_POST_CREATE:
			if (class == RewriteRelationId && protection_is_our_rule(object))
				protection_refuse("make a rule on clutch.events");
			if (class == ProcedureRelationId && protection_is_guard(object))
				protection_refuse("replace a trigger function of clutch");
			break;
		default:
			break;
	}
}

/*
 * Judges inheritance.  The rows of a child table would appear in the log to
 * anybody who reads it by SQL.
 */
static void
protection_judge_heir(const ObjectAccessPostAlter *inheritance)
{
	if (inheritance != NULL && protection_is_log(inheritance->auxiliary_id))
		protection_refuse("inherit from table clutch.events");
}

static bool
protection_is_off(void)
{
	return clutch_allow_ddl || creating_extension || IsBinaryUpgrade;
}

static void
protection_object_access(ObjectAccessType access, Oid class, Oid object, int part, void *arg)
{
	if (previous_access)
		previous_access(access, class, object, part, arg);
	if (protection_is_off())
		return;
	if (class == RelationRelationId || class == TriggerRelationId ||
		class == RewriteRelationId || class == ProcedureRelationId || class == NamespaceRelationId)
		protection_judge(access, class, object, part);
	if (class == InheritsRelationId && access == OAT_POST_ALTER)
		protection_judge_heir(arg);
}

/* ---------------------------------------------------------------- statements */

static bool
protection_changes_type(const AlterTableStmt *statement)
{
	ListCell   *cell;

	foreach(cell, statement->cmds)
		if (((AlterTableCmd *) lfirst(cell))->subtype == AT_AlterColumnType)
			return true;
	return false;
}

/*
 * Reads a statement.  A member of the extension can be dropped only together
 * with it.
 */
static ProtectionStatement
protection_read(Node *statement)
{
	ProtectionStatement read = {0};

	if (IsA(statement, DropStmt))
		read.drops_extension = ((DropStmt *) statement)->removeType == OBJECT_EXTENSION ||
			((DropStmt *) statement)->removeType == OBJECT_SCHEMA;
	else if (IsA(statement, DropOwnedStmt))
		read.drops_extension = true;
	else if (IsA(statement, RenameStmt) || IsA(statement, AlterObjectSchemaStmt))
		read.moves = true;
	else if (IsA(statement, AlterTableStmt))
		read.changes_type = protection_changes_type((AlterTableStmt *) statement);
	return read;
}

/* Is it a table or a sequence of the extension? */
static bool
protection_is_member(Oid relid)
{
	Oid			extension = OidIsValid(relid) ? getExtensionOfObject(RelationRelationId, relid) : InvalidOid;

	return OidIsValid(extension) && extension == get_extension_oid("clutch", true);
}

/* Returns how the change adds columns to a table, now or later, or NULL if it does not. */
static const char *
protection_adds_columns(AlterTableType change)
{
	switch (change)
	{
		case AT_AddColumn:
			return "add a column to";
		case AT_AddInherit:
		case AT_AttachPartition:
			return "give a parent to";
		case AT_AddOf:
			return "give a type to";
		default:
			return NULL;
	}
}

static void
protection_judge_change_of_table(Oid relid, AlterTableType change)
{
	const char *adding = protection_adds_columns(change);

	if (change == AT_SetUnLogged)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_LOG_IS_APPEND_ONLY),
				 errproblem("", "TABLE_PROTECTED"),
				 errmsg("cannot make clutch.%s unlogged: it would be lost in a crash", get_rel_name(relid)),
				 errhint("If you mean it, run SET clutch.allow_ddl = on first, as a superuser.")));
	if (adding != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_LOG_IS_APPEND_ONLY),
				 errproblem("", "TABLE_PROTECTED"),
				 errmsg("cannot %s clutch.%s: clutch does not know the columns that it would get", adding, get_rel_name(relid)),
				 errhint("Keep your own data in a table of your own.")));
}

/*
 * Judges a statement that does not touch the protection of the log, but makes a
 * table useless.  No hook would tell us before the table has been rewritten.
 */
static void
protection_judge_table(const AlterTableStmt *statement)
{
	Oid			altered = RangeVarGetRelid(statement->relation, NoLock, true);
	ListCell   *cell;

	foreach(cell, statement->cmds)
	{
		const AlterTableCmd *change = lfirst(cell);
		Oid			relid = altered;

		if (change->subtype == AT_AttachPartition)
			relid = RangeVarGetRelid(((PartitionCmd *) change->def)->name, NoLock, true);
		if (protection_is_member(relid))
			protection_judge_change_of_table(relid, change->subtype);
	}
}

/* the tables whose rows are written by SQL, which fires triggers */
static const char *const written_by_sql[] = {
	"adapter", "checkpoint", "endpoint", "endpoint_secret", "event_count", "event_count_place", "events",
	"group_member", "principal", "privilege", "quota", "registry_document", "retry_policy", "routing_rule", "secret"
};

static bool
protection_fires_triggers(Oid relid)
{
	const char *name = get_rel_name(relid);

	for (int i = 0; i < lengthof(written_by_sql); i++)
		if (strcmp(written_by_sql[i], name) == 0)
			return true;
	return get_rel_relkind(relid) != RELKIND_RELATION;
}

/*
 * Judges CREATE TRIGGER.  A trigger that is never fired would only mislead
 * people, but pg_repack relies on one: it would put a copy of the table in its
 * place that lacks whatever has been written meanwhile.
 */
static void
protection_judge_trigger(const CreateTrigStmt *statement)
{
	Oid			relid = RangeVarGetRelid(statement->relation, NoLock, true);

	if (!protection_is_member(relid) || protection_fires_triggers(relid))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_LOG_IS_APPEND_ONLY),
			 errproblem("", "TABLE_PROTECTED"),
			 errmsg("cannot create a trigger on clutch.%s: it would never be fired", get_rel_name(relid)),
			 errhint("Create it on clutch.events. If pg_repack wants to create it, use VACUUM FULL for this table instead.")));
}

static void
protection_process_utility(PlannedStmt *plan, const char *text, bool read_only,
						   ProcessUtilityContext context, ParamListInfo parameters,
						   QueryEnvironment *environment, DestReceiver *receiver,
						   QueryCompletion *completion)
{
	ProtectionStatement outer = running;

	if (IsA(plan->utilityStmt, AlterTableStmt) && !protection_is_off())
		protection_judge_table((AlterTableStmt *) plan->utilityStmt);
	if (IsA(plan->utilityStmt, CreateTrigStmt) && !protection_is_off())
		protection_judge_trigger((CreateTrigStmt *) plan->utilityStmt);
	running = protection_read(plan->utilityStmt);
	PG_TRY();
	{
		if (previous_utility != NULL)
			previous_utility(plan, text, read_only, context, parameters, environment, receiver, completion);
		else
			standard_ProcessUtility(plan, text, read_only, context, parameters, environment, receiver, completion);
	}
	PG_FINALLY();
	{
		running = outer;
	}
	PG_END_TRY();
}

void
protection_watch(void)
{
	previous_access = object_access_hook;
	object_access_hook = protection_object_access;
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = protection_process_utility;
}
