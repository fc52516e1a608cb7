/*-------------------------------------------------------------------------
 *
 * participant.c
 *	  Participants: which agents take part in which run.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/hash64.h"
#include "base/rows.h"
#include "base/transaction.h"
#include "miscadmin.h"
#include "settings.h"
#include "store/event.h"
#include "store/participant.h"
#include "store/participant_part.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

ROWS_CHECK_COLUMNS(Natts_participant, PARTICIPANT);

/*
 * Is this a name to record?  The orchestrator is addressed in nearly every
 * run, and may write into all of them, so it is not.
 */
static bool
participant_is_name(Slice name)
{
	return (slice_starts(name, SLICE_OF("agent:")) || slice_starts(name, SLICE_OF("group:"))) &&
		!slice_is(name, clutch_orchestrator);
}

/* ----------------------------------------------------------------- memory */

/*
 * Pairs of a name and a run that are cached.  When the cache is full, it is
 * emptied.
 */
#define MEMORY_MAX	4096

/*
 * The texts are compared, too.  Otherwise somebody who finds two pairs with
 * the same hash could pass for a participant.
 */
typedef struct Remembered
{
	uint64		hash;			/* key */
	char	   *pair;			/* the name and the run, without a separator */
	int			name_len;
	int			run_len;
} Remembered;

static HTAB *memory = NULL;
static const Remembered *found_last = NULL;	/* asked for again by the next event of a batch */
static MemoryContext memory_context = NULL;
static Oid	memory_relation = InvalidOid;	/* OID of clutch.participant */
static bool added_in_transaction = false;

void
participant_forget_all(void)
{
	if (memory_context != NULL)
		MemoryContextDelete(memory_context);
	memory = NULL;
	found_last = NULL;
	memory_context = NULL;
}

static void
participant_rolled_back(void)
{
	if (added_in_transaction)
		participant_forget_all();
}

static void
participant_transaction_ended(void)
{
	added_in_transaction = false;
}

/* A transaction that has pruned a run tells us in this way. */
static void
participant_relation_changed(Datum arg, Oid relid)
{
	if (relid == memory_relation || !OidIsValid(relid))
		participant_forget_all();
}

static void
participant_memory_begin(void)
{
	static bool watching_relation = false;

	if (!watching_relation)
		CacheRegisterRelcacheCallback(participant_relation_changed, (Datum) 0);
	watching_relation = true;
	participant_forget_all();
	memory_relation = rows_table_oid(TABLE_PARTICIPANT);
	memory_context = AllocSetContextCreate(TopMemoryContext, "clutch participants",
										   ALLOCSET_DEFAULT_SIZES);
	memory = hash64_create("clutch participants", sizeof(Remembered), 256, memory_context);
}

static uint64
participant_hash(Slice name, Slice run_id)
{
	return slice_hash(name) * UINT64CONST(0x9E3779B97F4A7C15) + slice_hash(run_id);
}

static bool
participant_is_pair(const Remembered *entry, Slice name, Slice run_id)
{
	return slice_equal((Slice) {entry->pair, entry->name_len}, name) &&
		slice_equal((Slice) {entry->pair + entry->name_len, entry->run_len}, run_id);
}

bool
participant_is_remembered(Slice name, Slice run_id)
{
	uint64		hash;
	const Remembered *entry;

	if (memory == NULL)
		return false;
	if (found_last != NULL && participant_is_pair(found_last, name, run_id))
		return true;
	hash = participant_hash(name, run_id);
	entry = hash_search(memory, &hash, HASH_FIND, NULL);
	if (entry == NULL || !participant_is_pair(entry, name, run_id))
		return false;
	found_last = entry;
	return true;
}

void
participant_remember(Slice name, Slice run_id)
{
	static TransactionWatch watch = {
		.rolled_back = participant_rolled_back,
		.prepared = participant_rolled_back,
		.ended = participant_transaction_ended
	};
	uint64		hash = participant_hash(name, run_id);
	char	   *pair;
	Remembered *entry;

	if (memory == NULL || hash_get_num_entries(memory) >= MEMORY_MAX)
		participant_memory_begin();
	transaction_watch(&watch);
	added_in_transaction = true;
	pair = MemoryContextAlloc(memory_context, name.len + run_id.len + 1);
	memcpy(pair, name.s, name.len);
	memcpy(pair + name.len, run_id.s, run_id.len);
	entry = hash_search(memory, &hash, HASH_ENTER, NULL);
	*entry = (Remembered) {hash, pair, name.len, run_id.len};
}

/* ------------------------------------------------------------------ looking */

/* Begins a scan of the rows of a name in a run, in clutch.participant or in the log. */
static void
participant_begin(RowScan *scan, StateTable table, Slice name, Slice run_id, RowSnapshot which)
{
	rows_begin(scan, table, table == TABLE_EVENTS ? INDEX_EVENTS_FROM_AGENT : INDEX_PARTICIPANT, which,
			   table == TABLE_EVENTS && which == ROWS_DIRTY ? RowExclusiveLock : AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, name);
	rows_key_text(scan, 2, BTEqualStrategyNumber, run_id);
}

static bool
participant_has_row(StateTable table, Slice name, Slice run_id, RowSnapshot which)
{
	RowScan		scan;

	participant_begin(&scan, table, name, run_id, which);
	return rows_look(&scan, NULL);
}

bool
participant_has_sent(Slice agent_id, Slice run_id)
{
	return participant_has_row(TABLE_EVENTS, agent_id, run_id, ROWS_DIRTY);
}

bool
participant_was_addressed(Slice name, Slice run_id)
{
	return participant_has_row(TABLE_PARTICIPANT, name, run_id, ROWS_LATEST);
}

bool
participant_look(Slice name, Slice run_id)
{
	return participant_has_row(TABLE_PARTICIPANT, name, run_id, ROWS_ACTIVE) ||
		participant_has_row(TABLE_EVENTS, name, run_id, ROWS_ACTIVE);
}

/*
 * The oldest event is read first, so usually the very first one is committed.
 */
RunState
participant_run_state(Slice run_id, TransactionId *founder)
{
	RunState	state = RUN_IS_OPEN;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_RUN_ID, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (state != RUN_IS_FOUNDED && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		state = rows_is_being_inserted(&scan) ? RUN_IS_DOUBTFUL : RUN_IS_FOUNDED;
		if (state == RUN_IS_DOUBTFUL)
			*founder = rows_in_doubt(&scan);
	}
	rows_end(&scan);
	return state;
}

/* ------------------------------------------------------------------ adding */

/* Is there a row that no open transaction of others is writing or removing? */
static bool
participant_has_certain_row(StateTable table, Slice name, Slice run_id)
{
	bool		found = false;
	RowScan		scan;

	participant_begin(&scan, table, name, run_id, ROWS_DIRTY);
	rows_start(&scan);
	while (!found && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		found = !TransactionIdIsValid(rows_in_doubt(&scan));
	}
	rows_end(&scan);
	return found;
}

/*
 * Will it be known that this name takes part in the run?  Rows that a prune is
 * removing do not count.
 */
static bool
participant_is_known(Slice name, Slice run_id)
{
	return participant_has_certain_row(TABLE_PARTICIPANT, name, run_id) ||
		participant_has_certain_row(TABLE_EVENTS, name, run_id);
}

static void
participant_insert(Slice name, Slice run_id)
{
	Datum		values[Natts_participant];
	bool		nulls[Natts_participant] = {0};

	column_put_text(values, nulls, Anum_participant_name, name);
	column_put_text(values, nulls, Anum_participant_run_id, run_id);
	(void) rows_insert(TABLE_PARTICIPANT, values, nulls);
}

void
participant_add(Slice name, Slice run_id)
{
	if (!participant_is_name(name))
		return;
	/* hears at once of a prune that is still open */
	AcceptInvalidationMessages();
	if (participant_is_remembered(name, run_id))
		return;
	if (!participant_is_known(name, run_id))
		participant_insert(name, run_id);
	participant_remember(name, run_id);
}

void
participant_add_recipients(const Envelope *envelope, Slice assigned_to)
{
	int			i;

	for (i = 0; i < envelope->to_agents.n; i++)
		if (!slice_equal(envelope->to_agents.items[i], assigned_to))
			participant_add(envelope->to_agents.items[i], envelope->run_id);
}

/* ------------------------------------------------------------- enumerating */

/*
 * Adds the runs of a name.  The scan of the index returns the runs in order,
 * so each is looked for after the previous one.
 */
static List *
participant_list_runs_of(List *runs, Slice name, StateTable table, StateIndex index, int run_attno)
{
	Slice		last = SLICE_OF("");
	RowScan		scan;

	rows_begin(&scan, table, index, ROWS_ACTIVE, AccessShareLock);
	for (;;)
	{
		scan.nkeys = 0;
		rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
		rows_key_text(&scan, 2, BTGreaterStrategyNumber, last);
		rows_restart(&scan);
		CHECK_FOR_INTERRUPTS();
		if (!rows_next(&scan))
			break;
		runs = slice_list_add(runs, rows_text(&scan, run_attno));
		last = *(Slice *) llast(runs);
	}
	rows_end(&scan);
	return runs;
}

List *
participant_list_runs(List *runs, const SliceList *names)
{
	int			i;

	for (i = 0; i < names->n; i++)
	{
		Slice		name = names->items[i];

		runs = participant_list_runs_of(runs, name, TABLE_PARTICIPANT, INDEX_PARTICIPANT,
										Anum_participant_run_id);
		if (slice_starts(name, SLICE_OF("agent:")))
			runs = participant_list_runs_of(runs, name, TABLE_EVENTS, INDEX_EVENTS_FROM_AGENT,
											Anum_event_run_id);
	}
	return slice_list_sort_unique(runs);
}
