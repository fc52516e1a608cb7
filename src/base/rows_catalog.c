/*-------------------------------------------------------------------------
 *
 * rows_catalog.c
 *	  Finding, locking and opening the relations of the schema.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "base/rows.h"
#include "base/rows_part.h"
#include "base/transaction.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#define TABLE_ENTRY(constant, name, columns)	{name, columns},
static const struct
{
	const char *name;
	int			columns;
}			tables[NUM_STATE_TABLES] = {STATE_TABLES(TABLE_ENTRY)};

#define INDEX_ENTRY(constant, name)	name,
static const char *const index_names[NUM_STATE_INDEXES] = {STATE_INDEXES(INDEX_ENTRY)};

static const char *const sequence_names[NUM_STATE_SEQUENCES] = {
	"event_seq", "queue_no", "last_tick", "copy_begun"
};

int
rows_columns(StateTable table)
{
	return tables[table].columns;
}

const char *
rows_table_name(StateTable table)
{
	return tables[table].name;
}

/* -------------------------------------------------------------------- oids */

/*
 * OIDs are looked up once.  When the extension is dropped and created again,
 * its schema goes with it, so a change of any schema discards all of them.
 * REINDEX CONCURRENTLY gives an index another OID, so a change of a relation
 * discards the OID of that relation.
 */
static Oid	table_oids[NUM_STATE_TABLES];
static Oid	index_oids[NUM_STATE_INDEXES];
static Oid	sequence_oids[NUM_STATE_SEQUENCES];
static bool watching_catalogs = false;
static bool version_is_ours = false;
static bool version_is_new = false; /* written by the current transaction */

static void
rows_forget_all_oids(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(table_oids, 0, sizeof(table_oids));
	memset(index_oids, 0, sizeof(index_oids));
	memset(sequence_oids, 0, sizeof(sequence_oids));
	version_is_ours = false;
}

static void
rows_forget_relation_oid(Datum arg, Oid relid)
{
	int			i;

	for (i = 0; i < NUM_STATE_TABLES; i++)
		if (table_oids[i] == relid || !OidIsValid(relid))
		{
			table_oids[i] = InvalidOid;
			version_is_ours = false;
		}
	for (i = 0; i < NUM_STATE_INDEXES; i++)
		if (index_oids[i] == relid || !OidIsValid(relid))
			index_oids[i] = InvalidOid;
}

/*
 * If ALTER EXTENSION UPDATE is rolled back, also to a savepoint, the tables are
 * those of the older version again, and many of them have the same OIDs.  If it
 * is prepared, it may be rolled back later.
 */
static void
rows_forget_new_version(void)
{
	if (version_is_new)
		rows_forget_all_oids((Datum) 0, 0, 0);
}

static void
rows_keep_new_version(void)
{
	version_is_new = false;
}

static TransactionWatch version_watch = {
	.rolled_back = rows_forget_new_version,
	.prepared = rows_forget_new_version,
	.ended = rows_keep_new_version,
};

/*
 * Returns the version of the extension in this database, or NULL if it is not
 * installed.  Notes whether the current transaction has written it.
 */
static char *
rows_installed_version(void)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	char	   *version = NULL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull = true;
	Datum		value = (Datum) 0;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("clutch"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		value = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(rel), &isnull);
	if (!isnull)
	{
		version = TextDatumGetCString(value);
		version_is_new = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return version;
}

/*
 * Checks the version.  The tables of another version have other columns, and
 * reading them with our definitions would crash the server.  A preloaded
 * library meets them if its files are installed before ALTER EXTENSION UPDATE
 * has run in every database.
 */
static void
rows_require_our_version(void)
{
	char	   *installed;

	if (version_is_ours)
		return;
	installed = rows_installed_version();
	if (installed == NULL || strcmp(installed, CLUTCH_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension clutch is version %s in this database, and the library that the server has loaded is version %s",
						installed != NULL ? installed : "unknown", CLUTCH_VERSION),
				 errhint("Run ALTER EXTENSION clutch UPDATE. If that changes nothing, the server still has the older library: restart it, or reconnect if clutch is not in shared_preload_libraries.")));
	version_is_ours = true;
}

static Oid
rows_lookup_oid(const char *name)
{
	Oid			schema;
	Oid			relid;

	if (!watching_catalogs)
	{
		CacheRegisterSyscacheCallback(NAMESPACEOID, rows_forget_all_oids, (Datum) 0);
		CacheRegisterRelcacheCallback(rows_forget_relation_oid, (Datum) 0);
		transaction_watch(&version_watch);
		watching_catalogs = true;
	}
	schema = get_namespace_oid(CLUTCH_SCHEMA, false);
	rows_require_our_version();
	relid = get_relname_relid(name, schema);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s.%s\" does not exist", CLUTCH_SCHEMA, name),
				 errhint("It was dropped or renamed. Give it its name back, or create it again by its statement in the script of the extension, extension/clutch--%s.sql in the directory that pg_config --sharedir names. Do not drop the extension, which would remove the log.",
						 CLUTCH_VERSION)));
	return relid;
}

/* The lookup itself may discard all OIDs, so *place is set afterwards. */
static Oid
rows_known_oid(Oid *place, const char *name)
{
	if (!OidIsValid(*place))
	{
		Oid			oid = rows_lookup_oid(name);

		*place = oid;
	}
	return *place;
}

bool
rows_table_is_there(StateTable table)
{
	Oid			schema;

	if (OidIsValid(table_oids[table]))
		return true;
	schema = get_namespace_oid(CLUTCH_SCHEMA, true);
	return OidIsValid(schema) && OidIsValid(get_relname_relid(tables[table].name, schema));
}

Oid
rows_table_oid(StateTable table)
{
	return rows_known_oid(&table_oids[table], tables[table].name);
}

/* ------------------------------------------------------------------- locks */

/*
 * The locks on relations that this transaction has requested here.  They are
 * kept until it ends, so a second request would only cost time, and locking
 * takes most of the time of opening a relation.  Relations whose OIDs collide
 * share an entry, and are then locked repeatedly.
 *
 * An entry is valid only if its generation is the current one.  A generation
 * ends with the transaction, and with the rollback of any savepoint, because
 * that releases the locks taken since.
 */
#define HELD_LOCKS	256

typedef struct HeldLock
{
	Oid			relid;
	LOCKMODE	mode;			/* AccessShareLock or RowExclusiveLock */
	uint64		generation;
} HeldLock;

static HeldLock held_locks[HELD_LOCKS];
static uint64 lock_generation = 1;
static uint64 writing_generation = 0;	/* see rows_expect_writing */

static void
rows_forget_held_locks(void)
{
	lock_generation++;
}

static TransactionWatch lock_watch = {
	.rolled_back = rows_forget_held_locks,
	.ended = rows_forget_held_locks,
};

static bool
rows_lock_is_held(Oid relid, LOCKMODE mode)
{
	const HeldLock *held = &held_locks[relid % HELD_LOCKS];

	return held->relid == relid && held->generation == lock_generation && mode <= held->mode;
}

static void
rows_note_held_lock(Oid relid, LOCKMODE mode)
{
	/* stronger modes are rare, and are not ordered by strength */
	if (mode != AccessShareLock && mode != RowExclusiveLock)
		return;
	transaction_watch(&lock_watch);
	held_locks[relid % HELD_LOCKS] = (HeldLock) {relid, mode, lock_generation};
}

/* ------------------------------------------------------------------ opening */

void
rows_expect_writing(void)
{
	transaction_watch(&lock_watch);
	writing_generation = lock_generation;
}

void
rows_expect_reading(void)
{
	writing_generation = 0;
}

/*
 * Requests a lock unless this transaction holds it already.  A lock for
 * reading is requested as one for writing after rows_expect_writing.  Returns
 * the lock that was taken, or NoLock.
 */
static LOCKMODE
rows_request_lock(Oid relid, LOCKMODE mode)
{
	if (mode == AccessShareLock && writing_generation == lock_generation)
		mode = RowExclusiveLock;
	if (rows_lock_is_held(relid, mode))
		return NoLock;
	LockRelationOid(relid, mode);
	rows_note_held_lock(relid, mode);
	return mode;
}

/*
 * If the extension is being dropped, this waits for that, and then finds
 * either no table or that of another CREATE EXTENSION.  As table_open does, it
 * initializes the statistics for the table, because autovacuum depends on
 * them.
 */
Relation
rows_open(StateTable table, LOCKMODE lock)
{
	for (;;)
	{
		Oid			relid = rows_table_oid(table);
		LOCKMODE	taken = rows_request_lock(relid, lock);
		Relation	rel = RelationIdGetRelation(relid);

		if (rel != NULL)
		{
			pgstat_init_relation(rel);
			return rel;
		}
		if (taken != NoLock)
			UnlockRelationOid(relid, taken);
		rows_forget_held_locks();
		rows_forget_relation_oid((Datum) 0, relid);
	}
}

/*
 * Is the block in the table?  VACUUM may truncate blocks at the end.  Asking
 * the file system each time would take long, so the number of blocks that this
 * backend last found is tried first.  It is never too large, because whoever
 * truncates the file locks the table, and announces the change before the lock
 * is released.
 */
bool
rows_has_block(Relation rel, BlockNumber block)
{
	BlockNumber known = RelationGetSmgr(rel)->smgr_cached_nblocks[MAIN_FORKNUM];

	return (known != InvalidBlockNumber && block < known) || block < RelationGetNumberOfBlocks(rel);
}

/*
 * Indexes are locked although their table is locked already, because ALTER
 * INDEX ...  SET TABLESPACE and REINDEX INDEX rely on a lock on the index
 * alone to keep out readers and, in the former case, also writers.
 *
 * The caller must have locked the table, which keeps the index from being
 * dropped.
 */
Relation
rows_open_index_by_oid(Oid relid, LOCKMODE lock)
{
	rows_request_lock(relid, lock);
	return index_open(relid, NoLock);
}

Relation
rows_open_index(StateIndex index, LOCKMODE lock)
{
	return rows_open_index_by_oid(rows_known_oid(&index_oids[index], index_names[index]), lock);
}

static Oid
rows_sequence_oid(StateSequence sequence)
{
	return rows_known_oid(&sequence_oids[sequence], sequence_names[sequence]);
}

int64
rows_nextval(StateSequence sequence)
{
	rows_require_writable();
	(void) GetTopTransactionId();
	return nextval_internal(rows_sequence_oid(sequence), false);
}

/*
 * PostgreSQL checks the rights of the current role, so this is called as the
 * owner.
 */
static Datum
rows_sequence_call(PGFunction function, FunctionCallInfo fcinfo)
{
	Datum		result;
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rows_owner(), context | SECURITY_LOCAL_USERID_CHANGE);
	result = function(fcinfo);
	SetUserIdAndSecContext(user, context);
	return result;
}

int64
rows_sequence_get(StateSequence sequence)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum		value;

	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = ObjectIdGetDatum(rows_sequence_oid(sequence));
	fcinfo->args[0].isnull = false;
	value = rows_sequence_call(pg_sequence_last_value, fcinfo);
	return fcinfo->isnull ? 0 : DatumGetInt64(value);
}

void
rows_sequence_set(StateSequence sequence, int64 value)
{
	LOCAL_FCINFO(fcinfo, 2);

	InitFunctionCallInfoData(*fcinfo, NULL, 2, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = ObjectIdGetDatum(rows_sequence_oid(sequence));
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = Int64GetDatum(value);
	fcinfo->args[1].isnull = false;
	(void) rows_sequence_call(setval_oid, fcinfo);
}

Oid
rows_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(rows_table_oid(TABLE_EVENTS)));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s.%s\" does not exist", CLUTCH_SCHEMA, tables[TABLE_EVENTS].name)));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}
