/*-------------------------------------------------------------------------
 *
 * payload_type_register.c
 *	  Registering a schema.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/payload_type.h"

#include "access/table.h"
#include "base/clock.h"
#include "base/column.h"
#include "base/document.h"
#include "contract/compatibility.h"
#include "contract/payload_type_part.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* so many bytes fit into an entry of the index of $ids */
#define MOST_ID_BYTES	2000

typedef struct Registration
{
	Slice		name;
	int			version;
	Jsonb	   *document;
	JsonSchema *schema;
	Compatibility compatibility;
	PayloadEnforcement enforcement;
} Registration;

/* ------------------------------------------------------------------- rules */

static bool
payload_type_is_same(const PayloadTypeRow *row, Jsonb *document)
{
	return compareJsonbContainers(&row->schema->root, &document->root) == 0;
}

pg_noreturn static void
payload_type_raise_version(const char *code, int sqlstate, int version, const char *what,
						   const char *hint)
{
	ereport(ERROR,
			(errcode(sqlstate),
			 errproblem("version", code),
			 errmsg("version %d %s", version, what),
			 errhint("%s", hint)));
}

/*
 * Returns the version number for the schema. newest is NULL for the first one.
 */
static int
payload_type_next_version(Slice name, int version, const PayloadTypeRow *newest)
{
	PayloadTypeRow old;

	if (newest == NULL)
		return version > 0 ? version : 1;
	if (version == 0)
	{
		if (newest->version == PG_INT32_MAX)
			payload_type_raise_version("NUMBER_OUT_OF_RANGE", ERRCODE_INVALID_PARAMETER_VALUE,
									   newest->version, "is the last one that there can be",
									   "Register the schema under another payload type.");
		return newest->version + 1;
	}
	if (payload_type_row(name, version, &old))
		payload_type_raise_version("VERSION_EXISTS", ERRCODE_UNIQUE_VIOLATION, version,
								   "is registered with another schema",
								   "A version never changes; leave version out to register the next one.");
	if (version < newest->version)
		payload_type_raise_version("WRONG_VALUE", ERRCODE_INVALID_PARAMETER_VALUE, version,
								   psprintf("is older than the newest one, %d", newest->version),
								   "Leave version out to register the next one.");
	return version;
}

/*
 * Checks the $id.  An $id belongs to one payload type, and one under
 * schema://clutch/ only to its own version.
 */
static void
payload_type_check_id(const Registration *r)
{
	Slice		id = json_schema_uri(r->schema);
	PayloadTypeRow other;

	if (slice_equal(id, payload_type_uri(r->name, r->version)))
		return;
	if (id.len > MOST_ID_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_SCHEMA_INVALID),
				 errproblem("/$id", "TOO_LONG"),
				 errmsg("\"$id\" has %d bytes; the limit is %d", id.len, MOST_ID_BYTES),
				 errhint("Use a shorter \"$id\", or leave it out.")));
	if (slice_starts(id, SLICE_OF("schema://clutch/")) ||
		(payload_type_row_of_ref(id, &other) && !slice_equal(other.name, r->name)))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_SCHEMA_INVALID),
				 errproblem("/$id", "DUPLICATE_VALUE"),
				 errmsg("\"$id\" %s belongs to another payload type", place_quote(id)),
				 errhint("Use an \"$id\" of your own, or leave it out.")));
}

/*
 * Compiles a schema as it will be compiled when another one, or it itself, is
 * registered under this $id.  Returns NULL, and adds faults, if it is not valid.
 */
static JsonSchema *
payload_type_compile_beside(const PayloadTypeRow *row, const PayloadTypeRow *beside, Slice id,
							ProblemList *list)
{
	JsonSchema *volatile schema = NULL;

	payload_type_pretend(beside, id);
	PG_TRY();
	{
		schema = json_schema_compile(row->schema, payload_type_uri(row->name, row->version),
									 payload_type_find_document, CurrentMemoryContext, list);
	}
	PG_FINALLY();
	{
		payload_type_pretend(NULL, SLICE_NONE);
	}
	PG_END_TRY();
	return schema;
}

/* A reference to the newest version of its payload type leads to the schema itself. */
static void
payload_type_compile(Registration *r)
{
	ProblemList *list = problem_list();
	PayloadTypeRow row = {.name = r->name, .version = r->version, .schema = r->document};

	r->schema = payload_type_compile_beside(&row, &row, SLICE_NONE, list);
	if (r->schema == NULL)
		problem_raise(list, ERRCODE_CLUTCH_SCHEMA_INVALID, "schema");
	payload_type_check_id(r);
}

/* ----------------------------------------------------------- compatibility */

static void
payload_type_raise_incompatible(const ProblemList *list, const PayloadTypeRow *newest)
{
	problem_raise_advised(list, ERRCODE_CLUTCH_SCHEMA_INCOMPATIBLE,
						  psprintf("schema, which is to replace version %d of payload type \"%.*s\",",
								   newest->version, newest->name.len, newest->name.s),
						  " Change the schema, register it under another payload type, or pass compatibility => 'none'.");
}

/* Compares in the directions that the compatibility requires. */
static void
payload_type_compare(const Registration *r, const PayloadTypeRow *newest)
{
	ProblemList *list = problem_list();
	JsonSchema *old;

	if (r->compatibility == COMPATIBLE_NONE || payload_type_is_same(newest, r->document))
		return;
	old = json_schema_compile(newest->schema, payload_type_uri(newest->name, newest->version),
							  payload_type_find_document, CurrentMemoryContext, list);
	if (old == NULL)
		problem_raise(list, ERRCODE_CLUTCH_SCHEMA_INVALID, "schema of the version before");
	if (r->compatibility == COMPATIBLE_BACKWARD || r->compatibility == COMPATIBLE_FULL)
		compatibility_check(old, r->schema, "NOT_BACKWARD", list);
	if (r->compatibility == COMPATIBLE_FORWARD || r->compatibility == COMPATIBLE_FULL)
		compatibility_check(r->schema, old, "NOT_FORWARD", list);
	if (list->n > 0)
		payload_type_raise_incompatible(list, newest);
	json_schema_free(old);
}

/*
 * Raises an error if another payload type refers to something that the newest
 * version has and this one does not have, because its payloads would all be
 * refused.
 */
static void
payload_type_check_dependents(const Registration *r)
{
	PayloadTypeRow row = {.name = r->name, .version = r->version, .schema = r->document};
	ListCell   *cell;

	foreach(cell, r->compatibility == COMPATIBLE_NONE ? NIL : payload_type_list_names())
	{
		ProblemList *list = problem_list();
		PayloadTypeRow other;
		JsonSchema *schema;

		CHECK_FOR_INTERRUPTS();
		if (slice_equal(*(Slice *) lfirst(cell), r->name) || !payload_type_row(*(Slice *) lfirst(cell), 0, &other))
			continue;
		schema = payload_type_compile_beside(&other, &row, json_schema_uri(r->schema), list);
		if (schema != NULL)
			json_schema_free(schema);
		else if (payload_type_compile_beside(&other, NULL, SLICE_NONE, problem_list()) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_CLUTCH_SCHEMA_INCOMPATIBLE),
					 errproblem("", "REFERENCE_BROKEN"),
					 errmsg("payload type \"%.*s\" refers to this one, and its schema would not be valid any more at \"%s\"",
							other.name.len, other.name.s, list->items[0].path),
					 errhint("Register a schema of that payload type first that does not need what is missing here, or pass compatibility => 'none'.")));
	}
}

/* -------------------------------------------------------------------- rows */

static Datum
payload_type_text(const char *text)
{
	return CStringGetTextDatum(text);
}

static void
payload_type_insert(const Registration *r)
{
	Datum		values[Natts_payload_type] = {0};
	bool		nulls[Natts_payload_type] = {false};
	Slice		id = json_schema_uri(r->schema);

	column_put_text(values, nulls, Anum_payload_type_payload_type, r->name);
	values[Anum_payload_type_version - 1] = Int32GetDatum(r->version);
	values[Anum_payload_type_schema - 1] = JsonbPGetDatum(r->document);
	column_put_text(values, nulls, Anum_payload_type_schema_id,
					slice_equal(id, payload_type_uri(r->name, r->version)) ? SLICE_NONE : id);
	values[Anum_payload_type_compatibility - 1] =
		payload_type_text(payload_type_compatibilities[r->compatibility]);
	values[Anum_payload_type_enforce - 1] =
		payload_type_text(payload_type_enforcements[r->enforcement]);
	values[Anum_payload_type_builtin - 1] = BoolGetDatum(false);
	values[Anum_payload_type_registered_at - 1] = TimestampTzGetDatum(clock_now());
	values[Anum_payload_type_registered_by - 1] =
		payload_type_text(GetUserNameFromId(GetUserId(), false));
	(void) rows_insert(TABLE_PAYLOAD_TYPE, values, nulls);
}

/*
 * Updates a row whose schema is unchanged; only how it is enforced and
 * compared later changes.
 */
static void
payload_type_update(const PayloadTypeRow *row, const Registration *r)
{
	Datum		values[Natts_payload_type];
	bool		nulls[Natts_payload_type];
	RowScan		scan;
	ItemPointerData tid;

	rows_begin(&scan, TABLE_PAYLOAD_TYPE, INDEX_PAYLOAD_TYPE, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, row->name);
	rows_key_int4(&scan, 2, BTEqualStrategyNumber, row->version);
	rows_start(&scan);
	if (rows_next(&scan) && rows_lock(&scan, ROW_LOCK_CHANGE, true) == ROW_LOCKED)
	{
		rows_keep(&scan, values, nulls);
		values[Anum_payload_type_compatibility - 1] =
			payload_type_text(payload_type_compatibilities[r->compatibility]);
		values[Anum_payload_type_enforce - 1] =
			payload_type_text(payload_type_enforcements[r->enforcement]);
		tid = rows_tid(&scan);
		rows_update(TABLE_PAYLOAD_TYPE, &tid, values, nulls);
	}
	rows_end(&scan);
}

/*
 * Is the schema equal to the one that the caller means, so that nothing need
 * be added?  A row of the extension itself never changes, because it is not
 * dumped.
 */
static bool
payload_type_repeats(const Registration *r, int version, const PayloadTypeRow *newest)
{
	PayloadTypeRow old;
	bool		unchanged;

	if (version > 0 && version != newest->version)
		return payload_type_row(r->name, version, &old) && payload_type_is_same(&old, r->document);
	if (!payload_type_is_same(newest, r->document))
		return false;
	unchanged = newest->enforcement == r->enforcement && newest->compatibility == r->compatibility;
	if (newest->builtin)
		return unchanged;
	if (!unchanged)
		payload_type_update(newest, r);
	return true;
}

int
payload_type_register(Slice name, Jsonb *schema, int version, Compatibility compatibility,
					  PayloadEnforcement enforcement)
{
	Registration r = {.name = name, .document = schema, .compatibility = compatibility,
	.enforcement = enforcement};
	PayloadTypeRow newest;
	bool		exists;

	rows_require_writable();
	/*
	 * one at a time, so that no version is assigned twice.  Every transaction
	 * that has sent something locks the tables that it reads as if it wrote to
	 * them, so this mode must not conflict with that of writers.
	 */
	table_close(rows_open(TABLE_PAYLOAD_TYPE, ShareUpdateExclusiveLock), NoLock);
	exists = payload_type_row(name, 0, &newest);
	if (exists && payload_type_repeats(&r, version, &newest))
	{
		payload_type_changed();
		return version > 0 ? version : newest.version;
	}
	r.version = payload_type_next_version(name, version, exists ? &newest : NULL);
	payload_type_compile(&r);
	if (exists)
	{
		payload_type_compare(&r, &newest);
		payload_type_check_dependents(&r);
	}
	payload_type_insert(&r);
	payload_type_changed();
	return r.version;
}
