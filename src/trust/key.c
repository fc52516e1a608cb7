/*-------------------------------------------------------------------------
 *
 * key.c
 *	  Public keys of agents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/guard.h"
#include "base/memo.h"
#include "base/rows.h"
#include "base/stale.h"
#include "compat.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "trust/key.h"
#include "utils/inval.h"
#include "utils/timestamp.h"

/* columns of clutch.agent_key */
enum
{
	Anum_agent_key_agent_id = 1,
	Anum_agent_key_kid,
	Anum_agent_key_public_key,
	Anum_agent_key_valid_from,
	Anum_agent_key_valid_until,
	Anum_agent_key_revoked_at,
	Anum_agent_key_added_at,
	Natts_agent_key = Anum_agent_key_added_at
};

ROWS_CHECK_COLUMNS(Natts_agent_key, AGENT_KEY);

/* --------------------------------------------------------------------- rows */

static TimestampTz
key_time_or_never(const RowScan *scan, int attno)
{
	return rows_is_null(scan, attno) ? DT_NOEND : rows_timestamp(scan, attno);
}

/*
 * Reads a row.  A row that was written by hand may have a key of any length.  It
 * is read as zeros, by which no signature is valid.
 */
static void
key_read_row(const RowScan *scan, AgentKey *key)
{
	rows_bytes(scan, Anum_agent_key_public_key, key->public_key, CRYPTO_PUBLIC_KEY_BYTES);
	key->valid_from = rows_timestamp(scan, Anum_agent_key_valid_from);
	key->valid_until = key_time_or_never(scan, Anum_agent_key_valid_until);
	key->revoked_at = key_time_or_never(scan, Anum_agent_key_revoked_at);
	key->added_at = rows_timestamp(scan, Anum_agent_key_added_at);
}

static void
key_begin(RowScan *scan, Slice agent_id, Slice kid, LOCKMODE lock)
{
	stale_if_rolled_back(STALE_KEYS);
	rows_begin(scan, TABLE_AGENT_KEY, INDEX_AGENT_KEY, ROWS_LATEST, lock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, agent_id);
	if (slice_present(kid))
		rows_key_text(scan, 2, BTEqualStrategyNumber, kid);
	rows_start(scan);
}

static bool
key_look(Slice agent_id, Slice kid, AgentKey *key)
{
	RowScan		scan;
	bool		found;

	key_begin(&scan, agent_id, kid, AccessShareLock);
	found = rows_next(&scan);
	if (found)
		key_read_row(&scan, key);
	rows_end(&scan);
	return found;
}

bool
key_agent_has_had_one(Slice agent_id)
{
	RowScan		scan;
	bool		found;

	key_begin(&scan, agent_id, SLICE_NONE, AccessShareLock);
	found = rows_next(&scan);
	rows_end(&scan);
	return found;
}

/* ------------------------------------------------------------------- memory */

/* when so many keys are cached, the cache is emptied */
#define MOST_REMEMBERED		4096

typedef struct KeyMemo
{
	uint64		hash;			/* of agent_id and kid, which are compared as
								 * well */
	Slice		agent_id;
	Slice		kid;
	AgentKey	key;
} KeyMemo;

static Memo memory;

static HTAB *
key_memory(void)
{
	AcceptInvalidationMessages();
	return memo_current(&memory, "keys of agents", sizeof(KeyMemo), MOST_REMEMBERED, stale_count(STALE_KEYS));
}

static void
key_remember(HTAB *keys, uint64 hash, Slice agent_id, Slice kid, const AgentKey *key)
{
	MemoryContext old = MemoryContextSwitchTo(memory.context);
	KeyMemo		entry = {hash, slice_copy(agent_id), slice_copy(kid), *key};

	*(KeyMemo *) hash_search(keys, &hash, HASH_ENTER, NULL) = entry;
	MemoryContextSwitchTo(old);
}

/*
 * Somebody may have searched for names with the same hash, so the names are
 * compared, too.
 */
bool
key_find(Slice agent_id, Slice kid, AgentKey *key)
{
	HTAB	   *keys = key_memory();
	uint64		hash = slice_hash(agent_id) * 31 + slice_hash(kid);
	const KeyMemo *entry = hash_search(keys, &hash, HASH_FIND, NULL);

	if (entry != NULL && slice_equal(entry->agent_id, agent_id) && slice_equal(entry->kid, kid))
	{
		*key = entry->key;
		return true;
	}
	if (!key_look(agent_id, kid, key))
		return false;
	/*
	 * if a change was announced while it was read, the count differs, and it
	 * is not cached
	 */
	if (entry == NULL && memory.changes == stale_count(STALE_KEYS))
		key_remember(keys, hash, agent_id, kid, key);
	return true;
}

void
key_announce(void)
{
	stale_announce(STALE_KEYS);
}

/* ------------------------------------------------------------------ changes */

static void
key_put_time(Datum *values, bool *nulls, int attno, TimestampTz time)
{
	values[attno - 1] = TimestampTzGetDatum(time);
	nulls[attno - 1] = time == DT_NOEND;
}

static void
key_fill_row(Datum *values, bool *nulls, Slice agent_id, Slice kid, const AgentKey *key)
{
	column_put_text(values, nulls, Anum_agent_key_agent_id, agent_id);
	column_put_text(values, nulls, Anum_agent_key_kid, kid);
	values[Anum_agent_key_public_key - 1] = column_of_bytes(key->public_key, CRYPTO_PUBLIC_KEY_BYTES);
	key_put_time(values, nulls, Anum_agent_key_valid_from, key->valid_from);
	key_put_time(values, nulls, Anum_agent_key_valid_until, key->valid_until);
	key_put_time(values, nulls, Anum_agent_key_revoked_at, key->revoked_at);
	key_put_time(values, nulls, Anum_agent_key_added_at, key->added_at);
}

static bool
key_is_same(const AgentKey *there, const AgentKey *key, bool any_from, bool any_until)
{
	return memcmp(there->public_key, key->public_key, CRYPTO_PUBLIC_KEY_BYTES) == 0 &&
		(any_from || there->valid_from == key->valid_from) &&
		(any_until || there->valid_until == key->valid_until) &&
		there->revoked_at == key->revoked_at;
}

/* Says in which respect the key that is there is another one. */
static void
key_refuse_existing(Slice agent_id, Slice kid, const AgentKey *there, const AgentKey *key)
{
	bool		same = memcmp(there->public_key, key->public_key, CRYPTO_PUBLIC_KEY_BYTES) == 0;
	bool		revoked = there->revoked_at != DT_NOEND;

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errproblem("kid", "KEY_EXISTS"),
			 !same ?
			 errmsg("\"%.*s\" has another key \"%.*s\" already", agent_id.len, agent_id.s, kid.len, kid.s) :
			 revoked ?
			 errmsg("\"%.*s\" has had the key \"%.*s\", which was revoked", agent_id.len, agent_id.s, kid.len, kid.s) :
			 errmsg("\"%.*s\" has the key \"%.*s\" with other times", agent_id.len, agent_id.s, kid.len, kid.s),
			 errhint("Give each key a kid of its own; events that were signed by the first one are verified by it.")));
}

bool
key_add(Slice agent_id, Slice kid, const AgentKey *key, bool any_from, bool any_until)
{
	Datum		values[Natts_agent_key] = {0};
	bool		nulls[Natts_agent_key] = {0};
	AgentKey	there;

	guard_keep(guard_key(GUARD_KEY, agent_id, kid, 0));
	if (key_look(agent_id, kid, &there))
	{
		if (key_is_same(&there, key, any_from, any_until))
			return false;
		key_refuse_existing(agent_id, kid, &there, key);
	}
	/*
	 * Backends cache only keys that they have found, so nothing need be
	 * announced.
	 */
	key_fill_row(values, nulls, agent_id, kid, key);
	(void) rows_insert(TABLE_AGENT_KEY, values, nulls);
	return true;
}

static void
key_refuse_unknown(Slice agent_id, Slice kid)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errproblem("kid", "KEY_NOT_FOUND"),
			 errmsg("%s has no key %s", place_quote(agent_id), place_quote(kid)),
			 errhint("The view clutch.keys lists the keys of each agent.")));
}

bool
key_revoke(Slice agent_id, Slice kid, TimestampTz now)
{
	bool		revoked = false;
	RowScan		scan;

	key_begin(&scan, agent_id, kid, RowExclusiveLock);
	if (!rows_next(&scan))
		key_refuse_unknown(agent_id, kid);
	if (rows_lock(&scan, ROW_LOCK_CHANGE, true) == ROW_LOCKED &&
		rows_is_null(&scan, Anum_agent_key_revoked_at))
	{
		Datum		values[Natts_agent_key];
		bool		nulls[Natts_agent_key];
		ItemPointerData tid = rows_tid(&scan);

		rows_keep(&scan, values, nulls);
		key_put_time(values, nulls, Anum_agent_key_revoked_at, now);
		rows_update(TABLE_AGENT_KEY, &tid, values, nulls);
		revoked = true;
	}
	rows_end(&scan);
	if (revoked)
		key_announce();
	return revoked;
}
