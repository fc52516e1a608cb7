/*-------------------------------------------------------------------------
 *
 * payload_type.c
 *	  The registry of schemas, as each backend caches it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/payload_type.h"

#include "base/array.h"
#include "base/hash64.h"
#include "base/order.h"
#include "base/transaction.h"
#include "contract/payload_type_part.h"
#include "utils/inval.h"
#include "utils/memutils.h"

/* a schema that was looked up by its name and version, or version 0 */
typedef struct RememberedType
{
	uint64		key;
	Slice		asked;
	int			asked_version;
	PayloadType type;			/* schema is NULL if there is none */
} RememberedType;

static struct
{
	MemoryContext context;		/* of all that follows; NULL if nothing is
								 * cached */
	HTAB	   *types;			/* of RememberedType */
	Size		size;			/* total size of their schemas */
	bool		knows_enforced;
	SliceList	enforced;		/* the types with ENFORCE_ALWAYS, sorted */
	bool		stale;			/* must be read again */
	bool		used;			/* used in the current transaction */
	Oid			relid;			/* OID of the table that was read */
}			memory;

/* -------------------------------------------------------------- staleness */

/* This may be called at any moment, so it only sets a flag. */
static void
payload_type_invalidated(Datum arg, Oid relid)
{
	if (relid == InvalidOid || relid == memory.relid)
		memory.stale = true;
}

/*
 * What was read may have been the work of the transaction that is rolled back.
 */
static void
payload_type_rolled_back(void)
{
	if (memory.used)
		memory.stale = true;
}

static void
payload_type_transaction_ended(void)
{
	memory.used = false;
}

static void
payload_type_watch(void)
{
	static TransactionWatch watch = {
		.rolled_back = payload_type_rolled_back,
		.ended = payload_type_transaction_ended
	};

	if (watch.watching)
		return;
	CacheRegisterRelcacheCallback(payload_type_invalidated, (Datum) 0);
	transaction_watch(&watch);
}

static void
payload_type_forget(void)
{
	MemoryContext context = memory.context;

	memory.context = NULL;
	memory.types = NULL;
	memory.size = 0;
	memory.knows_enforced = false;
	memory.stale = false;
	if (context != NULL)
		MemoryContextDelete(context);
}

static void
payload_type_begin_memory(void)
{
	memory.context = AllocSetContextCreate(TopMemoryContext, "clutch payload types",
										   ALLOCSET_SMALL_SIZES);
	memory.types = hash64_create("clutch payload types", sizeof(RememberedType), 64, memory.context);
}

/* Makes sure that the cache is valid. */
static void
payload_type_refresh(void)
{
	Oid			relid = rows_table_oid(TABLE_PAYLOAD_TYPE);

	payload_type_watch();
	if (memory.stale || memory.relid != relid || memory.size > PAYLOAD_TYPE_MEMORY)
		payload_type_forget();
	memory.relid = relid;
	memory.used = true;
	if (memory.context == NULL)
		payload_type_begin_memory();
}

void
payload_type_changed(void)
{
	payload_type_watch();
	CacheInvalidateRelcacheByRelid(rows_table_oid(TABLE_PAYLOAD_TYPE));
	memory.stale = true;
	memory.used = true;
}

/* ----------------------------------------------------------------- schemas */

pg_noreturn static void
payload_type_raise_unusable(const PayloadTypeRow *row, const ProblemList *list)
{
	problem_raise(list, ERRCODE_CLUTCH_SCHEMA_INVALID,
				  psprintf("schema of payload type \"%.*s\"", row->name.len, row->name.s));
}

/* Compiles the schema of a row and caches it. */
static void
payload_type_remember(RememberedType *entry, const PayloadTypeRow *row)
{
	ProblemList *list = problem_list();
	MemoryContext caller;
	JsonSchema *schema = json_schema_compile(row->schema, payload_type_uri(row->name, row->version),
											 payload_type_find_document, memory.context, list);

	if (schema == NULL)
		payload_type_raise_unusable(row, list);
	caller = MemoryContextSwitchTo(memory.context);
	entry->type.name = slice_copy(row->name);
	MemoryContextSwitchTo(caller);
	entry->type.version = row->version;
	entry->type.enforcement = row->enforcement;
	entry->type.schema = schema;
	memory.size += json_schema_size(schema) + sizeof(RememberedType) + row->name.len;
}

/*
 * Returns the entry for a name, filling it if necessary.  If two names
 * collide, the one that was looked up last is cached.
 */
static RememberedType *
payload_type_entry(Slice asked, int version)
{
	uint64		key;
	RememberedType *entry;
	MemoryContext caller;
	bool		found;

	payload_type_refresh();
	key = slice_hash(asked) + (uint64) version * UINT64CONST(0x9E3779B97F4A7C15);
	entry = hash_search(memory.types, &key, HASH_ENTER, &found);
	if (found && entry->asked_version == version && slice_equal(entry->asked, asked))
		return entry;
	entry->asked = SLICE_NONE;
	entry->type.schema = NULL;
	caller = MemoryContextSwitchTo(memory.context);
	entry->asked = slice_copy(asked);
	entry->asked_version = version;
	MemoryContextSwitchTo(caller);
	memory.size += asked.len + sizeof(RememberedType);
	return entry;
}

const PayloadType *
payload_type_find(Slice name, int version)
{
	RememberedType *entry = payload_type_entry(name, version);
	PayloadTypeRow row;

	if (entry->type.schema == NULL && payload_type_row(name, version, &row))
		payload_type_remember(entry, &row);
	return entry->type.schema != NULL ? &entry->type : NULL;
}

bool
payload_type_check(const PayloadType *type, const JsonbValue *payload, const char *base,
				   ProblemList *list)
{
	return json_schema_validate(type->schema, payload, base, list);
}

/* ------------------------------------------------------------- enforcement */

/*
 * Reads the types whose newest version has ENFORCE_ALWAYS, in the order of the
 * index.
 */
static void
payload_type_read_enforced(void)
{
	MemoryContext caller = MemoryContextSwitchTo(memory.context);
	SliceList	list = {0};
	int			room = 0;
	bool		last = false;	/* list.items[list.n] is the previous type, and
								 * it is enforced */
	RowScan		scan;

	rows_begin(&scan, TABLE_PAYLOAD_TYPE, INDEX_PAYLOAD_TYPE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Slice		name = rows_text(&scan, Anum_payload_type_payload_type);

		if (last && !slice_equal(list.items[list.n], name))
			list.n++;
		array_make_room(list.items, list.n, room);
		last = slice_equal(rows_text(&scan, Anum_payload_type_enforce), SLICE_OF("always"));
		if (last)
			list.items[list.n] = slice_copy(name);
	}
	rows_end(&scan);
	list.n += last;
	qsort(list.items, list.n, sizeof(Slice), order_slices);
	MemoryContextSwitchTo(caller);
	memory.enforced = list;
	memory.knows_enforced = true;
}

static bool
payload_type_is_enforced(Slice name)
{
	if (!memory.knows_enforced || memory.stale)
	{
		payload_type_refresh();
		payload_type_read_enforced();
	}
	return memory.enforced.n > 0 &&
		bsearch(&name, memory.enforced.items, memory.enforced.n, sizeof(Slice), order_slices) != NULL;
}

ProblemList *
payload_type_enforce(const Envelope *envelope)
{
	const PayloadType *type;
	ProblemList *list;

	if (!slice_present(envelope->payload_type) || !payload_type_is_enforced(envelope->payload_type))
		return NULL;
	type = payload_type_find(envelope->payload_type, 0);
	if (type == NULL)
		return NULL;			/* it has just been deleted */
	list = problem_list();
	return payload_type_check(type, &envelope->payload, "/payload", list) ? NULL : list;
}
