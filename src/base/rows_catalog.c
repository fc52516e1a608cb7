/*-------------------------------------------------------------------------
 *
 * rows_catalog.c
 *	  Which tables, indexes and sequences there are, and where.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/*
 * How many columns C fills: with another one, a row would be read past its end.
 */
static const struct
{
	const char *name;
	int			columns;
}			tables[NUM_STATE_TABLES] = {
	{"events", 20},
	{"agent_registry", 7},
	{"group_member", 2},
	{"agent_heartbeat", 3},
	{"agent_slot", 7},
	{"agent_failure", 5},
	{"retry_policy", 5},
	{"principal", 4},
	{"run_scope", 2},
	{"task", 40},
	{"ready", 5},
	{"waiting", 5},
	{"dependency", 3},
	{"budget", 6},
	{"spending", 6},
	{"question", 2},
	{"timer", 2},
	{"epoch", 5},
	{"schedule", 11},
	{"subscription", 5},
	{"subscription_position", 8},
};

static const char *const index_names[NUM_STATE_INDEXES] = {
	"events_pkey",
	"events_seq",
	"events_task_id",
	"events_position",
	"events_idempotency_key",
	"agent_registry_pkey",
	"group_member_pkey",
	"agent_heartbeat_key",
	"agent_slot_key",
	"agent_failure_pkey",
	"retry_policy_pkey",
	"principal_pkey",
	"run_scope_pkey",
	"task_pkey",
	"task_run_id",
	"task_parent_task_id",
	"ready_pkey",
	"waiting_pkey",
	"dependency_pkey",
	"dependency_after_task_id",
	"budget_pkey",
	"spending_pkey",
	"question_pkey",
	"timer_pkey",
	"epoch_pkey",
	"schedule_pkey",
	"schedule_next_at",
	"subscription_pkey",
	"subscription_position_key",
};

static const char *const sequence_names[NUM_STATE_SEQUENCES] = {
	"event_seq", "queue_no"
};

/*
 * The oids, looked up once.  When the extension is dropped and made again its
 * schema goes with it: any change of a schema forgets them.  REINDEX
 * CONCURRENTLY gives one index another oid: what happens to a relation
 * forgets its oid.
 */
static Oid	table_oids[NUM_STATE_TABLES];
static Oid	index_oids[NUM_STATE_INDEXES];
static Oid	sequence_oids[NUM_STATE_SEQUENCES];
static bool watching_catalogs = false;

static void
forget_oids(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(table_oids, 0, sizeof(table_oids));
	memset(index_oids, 0, sizeof(index_oids));
	memset(sequence_oids, 0, sizeof(sequence_oids));
}

static void
forget_oid(Datum arg, Oid relid)
{
	int			i;

	for (i = 0; i < NUM_STATE_TABLES; i++)
		if (table_oids[i] == relid || !OidIsValid(relid))
			table_oids[i] = InvalidOid;
	for (i = 0; i < NUM_STATE_INDEXES; i++)
		if (index_oids[i] == relid || !OidIsValid(relid))
			index_oids[i] = InvalidOid;
}

static Oid
lookup_oid(const char *name)
{
	Oid			schema;
	Oid			relid;

	if (!watching_catalogs)
	{
		CacheRegisterSyscacheCallback(NAMESPACEOID, forget_oids, (Datum) 0);
		CacheRegisterRelcacheCallback(forget_oid, (Datum) 0);
		watching_catalogs = true;
	}
	schema = get_namespace_oid(CLUTCH_SCHEMA, false);
	relid = get_relname_relid(name, schema);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s.%s\" does not exist", CLUTCH_SCHEMA, name),
				 errhint("Run ALTER EXTENSION clutch UPDATE, or reinstall the extension.")));
	return relid;
}

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

/* looking up may forget all oids, this place too: it is filled afterwards */
static Oid
known_oid(Oid *place, const char *name)
{
	if (!OidIsValid(*place))
	{
		Oid			oid = lookup_oid(name);

		*place = oid;
	}
	return *place;
}

Oid
rows_table_oid(StateTable table)
{
	return known_oid(&table_oids[table], tables[table].name);
}

/* whoever drops the extension is waited for: then it is not there, or another is */
Relation
rows_open(StateTable table, LOCKMODE lock)
{
	Relation	rel;

	do
		rel = try_table_open(rows_table_oid(table), lock);
	while (rel == NULL);
	return rel;
}

Oid
rows_index_oid(StateIndex index)
{
	return known_oid(&index_oids[index], index_names[index]);
}

int64
rows_nextval(StateSequence sequence)
{
	return nextval_internal(known_oid(&sequence_oids[sequence], sequence_names[sequence]),
							false);
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
