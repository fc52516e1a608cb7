/*-------------------------------------------------------------------------
 *
 * load.c
 *	  Loads: how busy agents are and how they have performed, read from their
 *	  slots.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "registry/load.h"

#include "base/stale.h"
#include "miscadmin.h"
#include "registry/roster_part.h"
#include "registry/slot_row.h"
#include "utils/memutils.h"

/*
 * The load of an agent with more slots than this is cached, for so many
 * microseconds per slot.  That is some 4000 times as long as reading takes, so
 * reading costs a backend no more than a 4000th of its time for each agent.
 */
#define MANY_SLOTS		8
#define AGE_PER_SLOT	INT64CONST(4000)
#define LEAST_AGE		INT64CONST(100000)
#define MOST_AGE		INT64CONST(10000000)

/*
 * So is the load of an agent whose limit is at least this: the higher the
 * limit, the less the tasks matter that others gave to the agent in the
 * meantime.
 */
#define LARGE_LIMIT		64
#define AGE_PER_TASK	INT64CONST(1000)
#define MOST_AGE_BY_LIMIT	INT64CONST(2000000)

/*
 * If an agent with more slots than LARGE_LIMIT is full, its load is used for a
 * shorter time, because a request that is told so must wait although there may
 * be room by now.  This is still some hundred times as long as reading takes.
 * After MOST_AGE_FULL, a tick looks again at what has begun to wait (SLOT_MISSED
 * in queue/waiting_place.c).
 */
#define FULL_AGE_PER_SLOT	INT64CONST(100)
#define MOST_AGE_FULL		USECS_PER_SEC

/*
 * If an agent may have more slots than SAMPLE_FROM, only a sample of them, at
 * equal distances, is read beyond that number.  This shows well enough how
 * busy the agent is.
 */
#define SAMPLE_FROM		4096
#define SAMPLE			512

/* ---------------------------------------------------------------- reading */

static void
load_add_slot(const RowScan *scan, AgentLoad *load)
{
	if (!rows_is_null(scan, Anum_agent_slot_task_id) && load->running++ == 0)
		load->first_taken = rows_int4(scan, Anum_agent_slot_slot_no);
	load->done += rows_int4(scan, Anum_agent_slot_done);
	load->failed += rows_int4(scan, Anum_agent_slot_failed);
	load->last_chosen = Max(load->last_chosen, rows_int8(scan, Anum_agent_slot_chosen_seq));
}

/* Adds up the slots, "most" at most, and returns how many there were. */
static int
load_add_slots(RowScan *scan, Slice agent_id, int most, AgentLoad *load)
{
	SlotWalk	walk;
	int			slots = 0;

	*load = (AgentLoad) {.limit = load->limit};
	slot_walk_from(&walk, scan, agent_id, FIRST_SPARE_SLOT);
	while (slots < most && slot_walk_next(&walk))
	{
		slots++;
		load_add_slot(scan, load);
	}
	return slots;
}

/*
 * Estimates the load of an agent with many slots from SAMPLE of them, spread
 * evenly over their numbers.
 */
static void
load_sample_slots(RowScan *scan, Slice agent_id, int slots, AgentLoad *load)
{
	int			step = slots / SAMPLE;
	int			looked = 0;
	int			slot_no;
	SlotWalk	walk;

	*load = (AgentLoad) {.limit = load->limit};
	for (slot_no = step / 2; slot_no < slots; slot_no += step)
	{
		slot_walk_from(&walk, scan, agent_id, slot_no);
		if (!slot_walk_next(&walk))
			break;
		looked++;
		load_add_slot(scan, load);
	}
	load->running = looked > 0 ? (int) ((int64) load->running * slots / looked) : 0;
}

/*
 * Returns how many slots there are.  If an agent seems full according to the
 * sample, all of its slots are read, because a choice would reject it.
 */
static int
load_scan(RowScan *scan, Slice agent_id, int limit, AgentLoad *load)
{
	int			most = limit > SAMPLE_FROM ? SAMPLE_FROM : PG_INT32_MAX;
	int			slots;

	load->limit = limit;
	slots = load_add_slots(scan, agent_id, most, load);
	if (slots < most)
		return slots;
	slots = slot_highest(agent_id, SAMPLE_FROM - 1) + 1;
	load_sample_slots(scan, agent_id, slots, load);
	if (load->running >= limit)
		(void) load_add_slots(scan, agent_id, PG_INT32_MAX, load);
	return slots;
}

/*
 * Returns how long, in microseconds, a load may be used without being asked
 * for a newer one.
 */
static int64
load_age(int slots, int limit)
{
	int64		age = Min(slots * AGE_PER_SLOT, MOST_AGE);

	if (slots <= MANY_SLOTS && limit <= LARGE_LIMIT)
		return 0;
	if (limit > LARGE_LIMIT)
		age = Max(age, Min(limit * AGE_PER_TASK, MOST_AGE_BY_LIMIT));
	return Max(age, LEAST_AGE);
}

/* Returns the same for a load that says that the agent is full. */
static int64
load_age_if_full(int slots)
{
	return slots <= LARGE_LIMIT ? 0 : Min(slots * FULL_AGE_PER_SLOT, MOST_AGE_FULL);
}

/* ------------------------------------------------------------- remembering */

/* Provides the loads of a roster; they are empty if they have become stale. */
static void
load_provide(Roster *roster)
{
	uint64		changes = stale_count(STALE_SLOTS);
	Size		n = Max(roster->nagents, 1);

	stale_if_rolled_back(STALE_SLOTS);
	if (roster->loads == NULL)
	{
		roster->loads = MemoryContextAllocHuge(roster->context, n * sizeof(KnownLoad));
		roster->load_keys = MemoryContextAllocExtended(roster->context, n * sizeof(LoadKey),
													   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	}
	else if (roster->loads_built_at != changes)
		memset(roster->load_keys, 0, n * sizeof(LoadKey));
	roster->loads_built_at = changes;
}

uint64
load_key(const AgentLoad *load, int limit)
{
	uint64		key;

	if (load->running >= limit)
		return LOAD_KEY_FULL;
	key = load_key_fraction((double) load->running / limit) << LOAD_KEY_BITS;
	return key | (LOAD_KEY_MAX - load_key_fraction(load_success_rate(load)));
}

void
load_reader_begin(LoadReader *reader, Roster *roster, int64 max_age)
{
	load_provide(roster);
	reader->roster = roster;
	reader->keys = roster->load_keys;
	reader->loads = roster->loads;
	reader->now = GetCurrentTimestamp();
	reader->oldest = max_age > 0 ? reader->now - max_age : PG_INT64_MAX;
	reader->scanning = false;
}

void
load_reader_end(LoadReader *reader)
{
	if (reader->scanning)
		rows_end(&reader->scan);
}

static RowScan *
load_reader_scan(LoadReader *reader)
{
	if (!reader->scanning)
		rows_begin(&reader->scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_LATEST, AccessShareLock);
	reader->scanning = true;
	return &reader->scan;
}

void
load_reader_read(LoadReader *reader, int ordinal)
{
	const RosterAgent *agent = roster_agent(reader->roster, ordinal);
	KnownLoad  *known = &reader->loads[ordinal];
	int			limit = agent->card.max_concurrency;
	int			slots;

	CHECK_FOR_INTERRUPTS();
	reader->keys[ordinal].read_at = 0;
	slots = load_scan(load_reader_scan(reader), agent->agent_id, limit, &known->load);
	known->good_until = reader->now + load_age(slots, limit);
	known->full_until = reader->now + load_age_if_full(slots);
	reader->keys[ordinal].key = load_key(&known->load, limit);
	reader->keys[ordinal].read_at = reader->now;
}

void
load_reader_refresh(LoadReader *reader, int ordinal)
{
	const LoadKey *key = &reader->keys[ordinal];
	const KnownLoad *known = &reader->loads[ordinal];

	/* if the clock was set back, everything is old */
	if (key->read_at == 0 || key->read_at > reader->now ||
		reader->now >= (key->key == LOAD_KEY_FULL ? known->full_until : known->good_until))
		load_reader_read(reader, ordinal);
}

/*
 * Is an agent still full that was full under a lower limit than its card's, the
 * one of a breaker?  Others may have ended its tasks since its load was cached.
 * It is if as many slots as before are taken from the first one on; only if not,
 * all are read again.  Otherwise a tick that tries a thousand tasks would read
 * all slots of all such agents a thousand times.
 */
static bool
load_reader_stays_full(LoadReader *reader, int ordinal, int limit)
{
	int			running = 0;
	SlotWalk	walk;

	if (load_reader_read_at(reader, ordinal) == reader->now)
		return true;
	slot_walk_from(&walk, load_reader_scan(reader), roster_agent(reader->roster, ordinal)->agent_id,
				   load_reader_load(reader, ordinal)->first_taken);
	while (running < limit && slot_walk_next(&walk))
		running += !rows_is_null(&reader->scan, Anum_agent_slot_task_id);
	return running == limit;
}

void
load_read(Slice agent_id, int limit, AgentLoad *load)
{
	Roster	   *roster = roster_current();
	int			ordinal = roster == NULL ? -1 : roster_find(roster, agent_id);
	LoadReader	reader;
	RowScan		scan;

	if (ordinal < 0)
	{
		rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_LATEST, AccessShareLock);
		(void) load_scan(&scan, agent_id, limit, load);
		rows_end(&scan);
		return;
	}
	load_reader_begin(&reader, roster, 0);
	(void) load_reader_key(&reader, ordinal);
	if (load_reader_load(&reader, ordinal)->running >= limit && !load_reader_stays_full(&reader, ordinal, limit))
		load_reader_read(&reader, ordinal);
	*load = *load_reader_load(&reader, ordinal);
	load_reader_end(&reader);
}

/* Returns what is cached about an agent, or NULL. */
static KnownLoad *
load_known(Slice agent_id, LoadKey **key, int *limit)
{
	Roster	   *roster = roster_current();
	int			ordinal;

	if (roster == NULL || roster->loads == NULL)
		return NULL;
	load_provide(roster);
	ordinal = roster_find(roster, agent_id);
	if (ordinal < 0 || roster->load_keys[ordinal].read_at == 0)
		return NULL;
	*key = &roster->load_keys[ordinal];
	*limit = roster->agents[ordinal].card.max_concurrency;
	return &roster->loads[ordinal];
}

void
load_note_chosen(Slice agent_id, int64 seq)
{
	LoadKey    *key;
	int			limit;
	KnownLoad  *known = load_known(agent_id, &key, &limit);

	if (known == NULL)
		return;
	known->load.running++;
	known->load.last_chosen = Max(known->load.last_chosen, seq);
	key->key = load_key(&known->load, limit);
}

void
load_note_ended(Slice agent_id, int done, int failed)
{
	LoadKey    *key;
	int			limit;
	KnownLoad  *known = load_known(agent_id, &key, &limit);

	if (known == NULL)
		return;
	known->load.running--;
	known->load.done += done;
	known->load.failed += failed;
	key->key = load_key(&known->load, limit);
}

void
load_note_full(Slice agent_id)
{
	LoadKey    *key;
	int			limit;

	if (load_known(agent_id, &key, &limit) != NULL)
		key->read_at = 0;
}

double
load_success_rate(const AgentLoad *load)
{
	int			ended = load->done + load->failed;

	return ended > 0 ? (double) load->done / ended : 1.0;
}
