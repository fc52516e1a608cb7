/*-------------------------------------------------------------------------
 *
 * slot.c
 *	  One row of clutch.agent_slot is one piece of an agent's concurrency.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/guard.h"
#include "base/memo.h"
#include "base/rows.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "registry/load.h"
#include "registry/roster.h"
#include "registry/slot.h"

/* outcomes counted per slot before both counters are halved: "recent" */
#define RECENT_OUTCOMES		64

/*
 * What this backend remembers of an agent, so that one with thousands of
 * tasks does not have them all probed for each: slots that it freed itself,
 * and how far numbers have been given.  Only hints: every slot is probed
 * before it is taken.
 */
#define MAX_FREED	32

typedef struct SlotHint
{
	uint64		agent;			/* hash of agent_id */
	int			checked_max;	/* no slot was beyond this limit; -1: unknown */
	uint64		checked_at;		/* count of changes of the registry then */
	int			highest;		/* number given, as far as we know */
	int			pause;			/* see take_made */
	int			next_pause;
	int			nfreed;
	int			freed[MAX_FREED];
} SlotHint;

#define MAX_HINTS	10000

static HTAB *hints = NULL;

static SlotHint *
hint_of(Slice agent_id)
{
	uint64		key = slice_hash(agent_id);
	SlotHint   *hint;
	bool		found;

	hints = memo_table(hints, "clutch slot hints", sizeof(SlotHint), MAX_HINTS);
	hint = hash_search(hints, &key, HASH_ENTER, &found);
	if (!found)
	{
		hint->checked_max = -1;
		hint->highest = -1;
		hint->nfreed = 0;
		hint->pause = hint->next_pause = 0;
	}
	return hint;
}

/* the newest version of one slot, as others may be changing it */
typedef struct SlotState
{
	bool		made;
	bool		taken;			/* or in doubt, which is as good */
	ItemPointerData tid;
	int64		generation;
	int64		chosen_seq;
	int			done;
	int			failed;
} SlotState;

/*
 * Dead versions of a slot stay in the index until vacuum comes, and a scan
 * compares all of them that share the page of the live one.  since ends the
 * scan before them: the live version's generation is at least that.
 */
static void
probe(Slice agent_id, int slot_no, int64 since, RowSnapshot which, SlotState *state)
{
	RowScan		scan;

	memset(state, 0, sizeof(*state));
	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, which, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int4(&scan, 2, BTEqualStrategyNumber, slot_no);
	if (since > 0)
		rows_key_int8(&scan, 3, BTGreaterEqualStrategyNumber, since);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		state->made = true;
		state->taken = TransactionIdIsValid(rows_in_doubt(&scan)) ||
			!rows_is_null(&scan, Anum_slot_task_id);
		state->tid = rows_tid(&scan);
		state->generation = rows_int8(&scan, Anum_slot_generation);
		state->chosen_seq = rows_int8(&scan, Anum_slot_chosen_seq);
		state->done = rows_int4(&scan, Anum_slot_done);
		state->failed = rows_int4(&scan, Anum_slot_failed);
	}
	rows_end(&scan);
}

/*
 * Writes the next version of a slot and deletes the one before.  A version that
 * is taken has at least the generation chosen_seq, for slot_free's sake.
 */
static void
write_next(Slice agent_id, int slot_no, SlotState *state, Slice task_id)
{
	Datum		values[Natts_slot] = {0};
	bool		nulls[Natts_slot] = {0};

	values[Anum_slot_agent_id - 1] = PointerGetDatum(slice_to_text(agent_id));
	values[Anum_slot_slot_no - 1] = Int32GetDatum(slot_no);
	values[Anum_slot_generation - 1] = Int64GetDatum(Max(state->generation + 1, state->chosen_seq));
	nulls[Anum_slot_task_id - 1] = !slice_present(task_id);
	if (slice_present(task_id))
		values[Anum_slot_task_id - 1] = PointerGetDatum(slice_to_text(task_id));
	values[Anum_slot_chosen_seq - 1] = Int64GetDatum(state->chosen_seq);
	values[Anum_slot_done - 1] = Int32GetDatum(state->done);
	values[Anum_slot_failed - 1] = Int32GetDatum(state->failed);
	(void) rows_insert(TABLE_AGENT_SLOT, values, nulls);
	if (state->made)
		rows_delete(TABLE_AGENT_SLOT, &state->tid);
}

/* under the guard of the slot: nobody else can take it meanwhile */
static bool
take_guarded(Slice agent_id, int slot_no, Slice task_id, int64 seq)
{
	uint64		guard = guard_key(GUARD_SLOT, agent_id, SLICE_NONE, slot_no);
	SlotState	state;

	if (!guard_try(guard))
		return false;
	probe(agent_id, slot_no, 0, ROWS_DIRTY, &state);
	if (!state.taken)
	{
		state.chosen_seq = seq;
		write_next(agent_id, slot_no, &state, task_id);
	}
	guard_release(guard);
	return !state.taken;
}

/* a look without the guard first: for slots that are rather taken */
static bool
try_slot(Slice agent_id, int slot_no, Slice task_id, int64 seq)
{
	SlotState	state;

	probe(agent_id, slot_no, 0, ROWS_DIRTY, &state);
	return !state.taken && take_guarded(agent_id, slot_no, task_id, seq);
}

/* the number of the first slot that was made from this one on, or -1 */
static int
made_from(RowScan *scan, Slice agent_id, int64 slot_no)
{
	if (slot_no > PG_INT32_MAX)
		return -1;
	scan->nkeys = 0;
	rows_key_text(scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int4(scan, 2, BTGreaterEqualStrategyNumber, (int32) slot_no);
	rows_restart(scan);
	return rows_next(scan) ? rows_int4(scan, Anum_slot_slot_no) : -1;
}

/*
 * Not from the other end: there the oldest generations of the last slot stand,
 * which are dead, and under a held snapshot there is no end of them.
 */
int
slot_highest(Slice agent_id, int above)
{
	int64		step = 1;
	int			highest = above;
	RowScan		scan;

	/* who only reads asks, too */
	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_DIRTY, AccessShareLock);
	while (step > 0)
	{
		int			made = made_from(&scan, agent_id, highest + step);

		CHECK_FOR_INTERRUPTS();
		/* none so far up: half as far, down to the next number */
		step = made >= 0 ? step * 2 : step / 2;
		highest = Max(highest, made);
	}
	rows_end(&scan);
	return highest;
}

/*
 * How many slots, from 0, may be taken under the limit.  Ordinarily all
 * below it; when the limit was lowered while tasks hold slots beyond it, so
 * many fewer that all together stay within the limit.
 */
static int
usable(SlotHint *hint, Slice agent_id, int max_concurrency)
{
	int			beyond = 0;
	int			n;

	/* since the registry changed, others may have filled slots beyond */
	if (hint->checked_max == max_concurrency && hint->checked_at == roster_changes())
		return max_concurrency;
	hint->checked_at = roster_changes();
	hint->highest = slot_highest(agent_id, -1);
	if (hint->highest < max_concurrency)
	{
		hint->checked_max = max_concurrency;
		return max_concurrency;
	}
	for (n = hint->highest; n >= 0; n--)
	{
		SlotState	state;

		CHECK_FOR_INTERRUPTS();
		if (n < max_concurrency && n + 1 + beyond <= max_concurrency)
			return n + 1;
		probe(agent_id, n, 0, ROWS_DIRTY, &state);
		if (state.taken)
			beyond++;
	}
	return 0;
}

/* up to here the slots are simply tried one after the other */
#define FEW_SLOTS		16
/* made slots looked at by chance before another is made */
#define RANDOM_PROBES	4
/* takes without looking at made ones, after these were all taken */
#define MOST_PAUSE		64
/* numbers tried above the highest: as many others may be doing the same */
#define FRESH_PROBES	32

/*
 * A made slot by chance.  Where that failed it is not tried again for a
 * while, twice as long each time: all of them may be taken.
 */
static int
take_made(SlotHint *hint, Slice agent_id, int made, Slice task_id, int64 seq)
{
	int			i;

	if (made == 0)
		return -1;
	if (hint->pause > 0)
	{
		hint->pause--;
		return -1;
	}
	for (i = 0; i < RANDOM_PROBES; i++)
	{
		int			slot_no = (int) pg_prng_uint64_range(&pg_global_prng_state, 0, made - 1);

		if (try_slot(agent_id, slot_no, task_id, seq))
		{
			hint->next_pause = 0;
			return slot_no;
		}
	}
	hint->next_pause = Min(hint->next_pause * 2 + 1, MOST_PAUSE);
	hint->pause = hint->next_pause;
	return -1;
}

/* one that was never made, above those that were */
static int
take_fresh(SlotHint *hint, Slice agent_id, int limit, Slice task_id, int64 seq)
{
	int			i;

	for (i = 0; i < FRESH_PROBES && hint->highest + 1 < limit; i++)
	{
		int			slot_no = ++hint->highest;

		if (take_guarded(agent_id, slot_no, task_id, seq))
			return slot_no;
		/* others have gone further than we know */
		if (i == 0)
			hint->highest = slot_highest(agent_id, hint->highest);
	}
	return -1;
}

/*
 * Where a free slot is likely, in the order of likelihood.  Answers it taken,
 * or -1 when luck did not help.
 */
static int
take_likely(SlotHint *hint, Slice agent_id, int limit, Slice task_id, int64 seq)
{
	int			slot_no;

	while (hint->nfreed > 0)
	{
		slot_no = hint->freed[--hint->nfreed];
		if (slot_no < limit && take_guarded(agent_id, slot_no, task_id, seq))
			return slot_no;
	}
	slot_no = take_made(hint, agent_id, Min(hint->highest + 1, limit), task_id, seq);
	if (slot_no < 0)
		slot_no = take_fresh(hint, agent_id, limit, task_id, seq);
	return slot_no;
}

int
slot_take(Slice agent_id, int max_concurrency, Slice task_id, int64 seq)
{
	SlotHint   *hint = hint_of(agent_id);
	int			limit = usable(hint, agent_id, max_concurrency);
	int			slot_no = -1;

	if (limit > FEW_SLOTS)
		slot_no = take_likely(hint, agent_id, limit, task_id, seq);
	if (slot_no < 0)
	{
		/* nearly full, or few: one after the other */
		for (slot_no = 0; slot_no < limit; slot_no++)
		{
			CHECK_FOR_INTERRUPTS();
			if (try_slot(agent_id, slot_no, task_id, seq))
				break;
		}
		if (slot_no == limit)
			return -1;
	}
	hint->highest = Max(hint->highest, slot_no);
	load_note_chosen(agent_id, seq);
	return slot_no;
}

bool
slot_is_likely(Slice agent_id, int max_concurrency)
{
	int			limit = usable(hint_of(agent_id), agent_id, max_concurrency);
	int			slot_no;

	/* of many it would cost as much as taking one */
	if (limit > FEW_SLOTS)
		return true;
	for (slot_no = 0; slot_no < limit; slot_no++)
	{
		SlotState	state;

		probe(agent_id, slot_no, 0, ROWS_DIRTY, &state);
		if (!state.taken)
			return true;
	}
	return false;
}

void
slot_free(Slice agent_id, int slot_no, int64 since_seq, SlotOutcome outcome)
{
	SlotHint   *hint = hint_of(agent_id);
	SlotState	state;
	int			done = outcome == OUTCOME_DONE ? 1 : 0;
	int			failed = outcome == OUTCOME_FAILED ? 1 : 0;

	probe(agent_id, slot_no, since_seq, ROWS_LATEST, &state);
	if (!state.made)
		probe(agent_id, slot_no, 0, ROWS_LATEST, &state);
	if (!state.made)
		return;
	state.done += done;
	state.failed += failed;
	if (state.done + state.failed >= RECENT_OUTCOMES)
	{
		state.done /= 2;
		state.failed /= 2;
	}
	write_next(agent_id, slot_no, &state, SLICE_NONE);
	if (hint->nfreed < MAX_FREED)
		hint->freed[hint->nfreed++] = slot_no;
	load_note_ended(agent_id, done, failed);
}

List *
slot_list_tasks(Slice agent_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	return rows_list_texts(&scan, Anum_slot_task_id, NIL);
}
