/*-------------------------------------------------------------------------
 *
 * load.c
 *	  How busy an agent is and how it has done, read from its slot rows.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/memo.h"
#include "base/rows.h"
#include "base/transaction.h"
#include "miscadmin.h"
#include "registry/load.h"
#include "registry/slot.h"
#include "utils/timestamp.h"

/*
 * An agent with more slots than this is remembered, and one that may have so
 * many that a few do not count ...
 */
#define MANY_SLOTS		8
#define LARGE_LIMIT		64
/*
 * ... for 4000 times as long as the reading took, so that reading costs a
 * backend no more than a part in 4000 of its time for each agent (there may be
 * a hundred of them), but at least and at most so many microseconds
 */
#define KEEP_FACTOR		4000
#define LEAST_AGE		INT64CONST(100000)
#define MOST_AGE		INT64CONST(10000000)

typedef struct RememberedLoad
{
	uint64		agent;			/* hash of agent_id */
	TimestampTz read_at;
	TimestampTz good_until;
	AgentLoad	load;
} RememberedLoad;

#define MAX_REMEMBERED	10000

static HTAB *remembered = NULL;

static void
forget(void)
{
	if (remembered != NULL)
		hash_destroy(remembered);
	remembered = NULL;
}

/* what was read or noted in a transaction does not outlive its abort */
static TransactionWatch watch = {forget};

static RememberedLoad *
find(Slice agent_id, HASHACTION action)
{
	uint64		key = slice_hash(agent_id);

	if (remembered == NULL && action != HASH_ENTER)
		return NULL;
	if (action == HASH_ENTER)
	{
		transaction_watch(&watch);
		remembered = memo_table(remembered, "clutch remembered loads", sizeof(RememberedLoad),
								MAX_REMEMBERED);
	}
	return hash_search(remembered, &key, action, NULL);
}

static void
add_slot(const RowScan *scan, AgentLoad *load)
{
	if (!rows_is_null(scan, Anum_slot_task_id))
		load->running++;
	load->done += rows_int4(scan, Anum_slot_done);
	load->failed += rows_int4(scan, Anum_slot_failed);
	load->last_chosen = Max(load->last_chosen, rows_int8(scan, Anum_slot_chosen_seq));
}

/*
 * A slot has one live row and perhaps many dead ones before it.  Going to
 * the next slot by its key, not to the next entry, passes over the dead.
 * Answers how many slots there are.
 */
static int
read_slots(Slice agent_id, AgentLoad *load)
{
	RowScan		scan;
	int			slots = 0;

	memset(load, 0, sizeof(*load));
	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int4(&scan, 2, BTGreaterStrategyNumber, -1);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int			slot_no = rows_int4(&scan, Anum_slot_slot_no);

		CHECK_FOR_INTERRUPTS();
		slots++;
		add_slot(&scan, load);
		scan.nkeys = 1;
		rows_key_int4(&scan, 2, BTGreaterStrategyNumber, slot_no);
		rows_restart(&scan);
	}
	rows_end(&scan);
	return slots;
}

/*
 * Of very many slots a part says how busy the agent is, nearly, and how it has
 * done.  They are taken at even distances.
 */
#define SAMPLE			512
#define SAMPLE_FROM		4096

static void
sample_slots(Slice agent_id, int slots, AgentLoad *load)
{
	int			step = slots / SAMPLE;
	int			looked = 0;
	int			slot_no;
	RowScan		scan;

	memset(load, 0, sizeof(*load));
	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_LATEST, AccessShareLock);
	for (slot_no = step / 2; slot_no < slots; slot_no += step)
	{
		CHECK_FOR_INTERRUPTS();
		scan.nkeys = 0;
		rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
		rows_key_int4(&scan, 2, BTGreaterEqualStrategyNumber, slot_no);
		rows_restart(&scan);
		if (!rows_next(&scan))
			break;
		looked++;
		add_slot(&scan, load);
	}
	rows_end(&scan);
	load->running = looked > 0 ? (int) ((int64) load->running * slots / looked) : 0;
}

/* answers how many slots there are; who seems full is read in full */
static int
read_load(Slice agent_id, int limit, AgentLoad *load)
{
	int			slots;

	if (limit > SAMPLE_FROM)
	{
		slots = slot_highest(agent_id, SAMPLE_FROM - 1) + 1;
		if (slots > SAMPLE_FROM)
		{
			sample_slots(agent_id, slots, load);
			if (load->running < limit)
				return slots;
		}
	}
	return read_slots(agent_id, load);
}

void
load_read(Slice agent_id, int limit, AgentLoad *load)
{
	RememberedLoad *known = find(agent_id, HASH_FIND);
	TimestampTz begun = 0;

	if (known != NULL)
	{
		begun = GetCurrentTimestamp();
		/* a clock that was set back makes it old */
		if (begun >= known->read_at && begun <= known->good_until &&
			known->load.running < limit)
		{
			*load = known->load;
			return;
		}
		(void) find(agent_id, HASH_REMOVE);
	}
	if (begun == 0)
		begun = GetCurrentTimestamp();
	if (read_load(agent_id, limit, load) > MANY_SLOTS || limit > LARGE_LIMIT)
	{
		known = find(agent_id, HASH_ENTER);
		known->read_at = GetCurrentTimestamp();
		known->good_until = known->read_at +
			Min(Max((known->read_at - begun) * KEEP_FACTOR, LEAST_AGE), MOST_AGE);
		known->load = *load;
	}
}

void
load_note_chosen(Slice agent_id, int64 seq)
{
	RememberedLoad *known = find(agent_id, HASH_FIND);

	if (known == NULL)
		return;
	known->load.running++;
	known->load.last_chosen = Max(known->load.last_chosen, seq);
}

void
load_note_ended(Slice agent_id, int done, int failed)
{
	RememberedLoad *known = find(agent_id, HASH_FIND);

	if (known == NULL)
		return;
	known->load.running--;
	known->load.done += done;
	known->load.failed += failed;
}

double
load_success_rate(const AgentLoad *load)
{
	int			ended = load->done + load->failed;

	return ended > 0 ? (double) load->done / ended : 1.0;
}
