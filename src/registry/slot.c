/*-------------------------------------------------------------------------
 *
 * slot.c
 *	  Slots: each row of clutch.agent_slot is one unit of an agent's
 *	  concurrency.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "registry/slot.h"

#include "access/transam.h"
#include "base/column.h"
#include "base/guard.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "registry/load.h"
#include "registry/roster_part.h"
#include "registry/slot_row.h"

/*
 * after so many outcomes per slot, both counters are halved; this makes them
 * "recent"
 */
#define RECENT_OUTCOMES		64

/*
 * if an agent has at most so many slots, they are tried from the first one on
 */
#define FEW_SLOTS			16
/* otherwise, so many are tried before another slot is made */
#define MADE_PROBES			8
/*
 * after so many unsuccessful looks or more, as many are skipped; see
 * slot_take_made
 */
#define MOST_SPARED			8
/*
 * how many numbers above the highest are tried, because others may be doing
 * the same
 */
#define FRESH_PROBES		32

/* the newest version of a slot, which others may be changing */
typedef struct SlotState
{
	bool		made;
	bool		taken;			/* or in doubt, which is just as bad */
	ItemPointerData tid;
	int64		generation;
	int64		chosen_seq;
	int			done;
	int			failed;
} SlotState;

static void
slot_read(const RowScan *scan, SlotState *state)
{
	state->made = true;
	state->taken = TransactionIdIsValid(rows_in_doubt(scan)) ||
		!rows_is_null(scan, Anum_agent_slot_task_id);
	state->tid = rows_tid(scan);
	state->generation = rows_int8(scan, Anum_agent_slot_generation);
	state->chosen_seq = rows_int8(scan, Anum_agent_slot_chosen_seq);
	state->done = rows_int4(scan, Anum_agent_slot_done);
	state->failed = rows_int4(scan, Anum_agent_slot_failed);
}

static void
slot_probe_since(Slice agent_id, int slot_no, int64 since, RowSnapshot which, SlotState *state)
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
		slot_read(&scan, state);
	rows_end(&scan);
}

/*
 * Reads the newest version of a slot.  A scan compares all dead versions of a
 * slot that share the index page with the live one. "since", a generation that
 * the live one should have reached, ends the scan before them.  If what was
 * remembered has been rolled back, the live one has not reached it, and the
 * slot is looked up again without it.
 */
static void
slot_probe(Slice agent_id, int slot_no, int64 since, RowSnapshot which, SlotState *state)
{
	slot_probe_since(agent_id, slot_no, since, which, state);
	if (!state->made && since > 0)
		slot_probe_since(agent_id, slot_no, 0, which, state);
}

/*
 * Writes the next version of a slot and deletes the previous one.  A version
 * that is taken has at least the generation chosen_seq, on which slot_free
 * relies.
 */
static void
slot_write(Slice agent_id, int slot_no, SlotState *state, Slice task_id)
{
	Datum		values[Natts_agent_slot] = {0};
	bool		nulls[Natts_agent_slot] = {0};

	state->generation = Max(state->generation + 1, state->chosen_seq);
	values[Anum_agent_slot_agent_id - 1] = PointerGetDatum(slice_to_text(agent_id));
	values[Anum_agent_slot_slot_no - 1] = Int32GetDatum(slot_no);
	values[Anum_agent_slot_generation - 1] = Int64GetDatum(state->generation);
	column_put_text(values, nulls, Anum_agent_slot_task_id, task_id);
	values[Anum_agent_slot_chosen_seq - 1] = Int64GetDatum(state->chosen_seq);
	values[Anum_agent_slot_done - 1] = Int32GetDatum(state->done);
	values[Anum_agent_slot_failed - 1] = Int32GetDatum(state->failed);
	(void) rows_insert(TABLE_AGENT_SLOT, values, nulls);
	if (state->made)
		rows_delete(TABLE_AGENT_SLOT, &state->tid);
}

/* ------------------------------------------------------------------ taking */

/*
 * Takes the slot under its guard, so that nobody else can take it meanwhile.
 */
static bool
slot_take_guarded(Slice agent_id, int slot_no, int64 since, Slice task_id, int64 seq)
{
	uint64		guard = guard_key(GUARD_SLOT, agent_id, SLICE_NONE, slot_no);
	SlotState	state;

	if (!guard_try(guard))
		return false;
	slot_probe(agent_id, slot_no, since, ROWS_DIRTY, &state);
	if (!state.taken)
	{
		state.chosen_seq = seq;
		slot_write(agent_id, slot_no, &state, task_id);
	}
	guard_release(guard);
	return !state.taken;
}

/*
 * Returns the first number from "from" on whose slot is free, or was never
 * made.  Returns -1 if there is none below the limit, or among the first
 * "most".  *generation is that of the free slot, or 0.
 */
static int
slot_first_free(Slice agent_id, int from, int limit, int most, int64 *generation)
{
	int			expected = from;
	int			free_slot = -1;
	RowScan		scan;
	SlotWalk	walk;
	SlotState	state;

	*generation = 0;
	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_DIRTY, RowExclusiveLock);
	slot_walk_from(&walk, &scan, agent_id, from);
	for (; most > 0 && expected < limit; most--)
	{
		/* the end, or a gap */
		if (!slot_walk_next(&walk) || walk.slot_no > expected)
		{
			free_slot = expected;
			break;
		}
		slot_read(&scan, &state);
		if (!state.taken)
		{
			free_slot = expected;
			*generation = state.generation;
			break;
		}
		expected++;
	}
	rows_end(&scan);
	return free_slot;
}

/*
 * Returns how many slots, from 0, may be taken under the limit.  Normally
 * these are all slots below it.  If the limit was lowered while tasks hold
 * slots beyond it, there are correspondingly fewer, so that the total stays
 * within the limit.
 */
static int
slot_usable(AgentMemory *memory, Slice agent_id, int max_concurrency)
{
	int			beyond = 0;
	int			n;

	/* after a change of the registry, others may have filled slots beyond */
	if (memory->checked && memory->checked_max == max_concurrency &&
		memory->checked_at == roster_changes())
		return max_concurrency;
	memory->checked_at = roster_changes();
	memory->highest = slot_highest(agent_id, -1);
	if (memory->highest < max_concurrency)
	{
		memory->checked = true;
		memory->checked_max = max_concurrency;
		return max_concurrency;
	}
	for (n = memory->highest; n >= 0; n--)
	{
		SlotState	state;

		CHECK_FOR_INTERRUPTS();
		if (n < max_concurrency && n + 1 + beyond <= max_concurrency)
			return n + 1;
		slot_probe(agent_id, n, 0, ROWS_DIRTY, &state);
		if (state.taken)
			beyond++;
	}
	return 0;
}

/*
 * If there are many slots, some existing ones are tried, different ones each
 * time, so that the numbers do not grow while slots are free.  The longer no
 * look has found a free one, the more slots are made without looking, because
 * a look costs more than a slot, and an agent whose tasks take long has hardly
 * any free ones.
 */
static int
slot_take_made(AgentMemory *memory, Slice agent_id, int limit, Slice task_id, int64 seq)
{
	int			made = Min(memory->highest + 1, limit);
	int			from = memory->next < made ? memory->next : 0;
	int64		generation;
	int			slot_no;

	if (memory->looks_spared > 0 && made < limit)
	{
		memory->looks_spared--;
		return -1;
	}
	memory->next = from + MADE_PROBES;
	slot_no = slot_first_free(agent_id, from, made, MADE_PROBES, &generation);
	memory->vain_looks = slot_no >= 0 ? 0 : Min(memory->vain_looks + 1, MOST_SPARED);
	memory->looks_spared = memory->vain_looks;
	if (slot_no < 0 || !slot_take_guarded(agent_id, slot_no, generation, task_id, seq))
		return -1;
	memory->next = slot_no + 1;
	return slot_no;
}

/* Takes a slot that was never made, above the existing ones. */
static int
slot_take_fresh(AgentMemory *memory, Slice agent_id, int limit, Slice task_id, int64 seq)
{
	int			i;

	for (i = 0; i < FRESH_PROBES && memory->highest + 1 < limit; i++)
	{
		int			slot_no = ++memory->highest;

		if (slot_take_guarded(agent_id, slot_no, 0, task_id, seq))
			return slot_no;
		/* others have gone further than we know */
		if (i == 0)
			memory->highest = slot_highest(agent_id, memory->highest);
	}
	return -1;
}

/*
 * Tries the slots one after the other, because there are few, or nearly all
 * are taken.
 */
static int
slot_take_first(Slice agent_id, int from, int limit, Slice task_id, int64 seq)
{
	int64		generation;
	int			slot_no = from - 1;

	do
	{
		slot_no = slot_first_free(agent_id, slot_no + 1, limit, PG_INT32_MAX, &generation);
		if (slot_no != -1 && slot_take_guarded(agent_id, slot_no, generation, task_id, seq))
			return slot_no;
	} while (slot_no != -1);
	return -1;
}

/* Returns the agent's memory, or an empty one in its place if it has none. */
static AgentMemory *
slot_memory(Slice agent_id, AgentMemory *empty)
{
	AgentMemory *memory = roster_memory(agent_id);

	if (memory != NULL)
		return memory;
	memset(empty, 0, sizeof(*empty));
	empty->free_slot = -1;
	empty->highest = -1;
	return empty;
}

int
slot_take(Slice agent_id, int max_concurrency, Slice task_id, int64 seq)
{
	AgentMemory empty;
	AgentMemory *memory = slot_memory(agent_id, &empty);
	int			limit = slot_usable(memory, agent_id, max_concurrency);
	int			slot_no = memory->free_slot;

	memory->free_slot = -1;
	if (slot_no >= limit || (slot_no >= 0 &&
							 !slot_take_guarded(agent_id, slot_no, memory->free_generation,
												task_id, seq)))
		slot_no = -1;
	if (slot_no < 0 && limit > FEW_SLOTS)
	{
		slot_no = slot_take_made(memory, agent_id, limit, task_id, seq);
		if (slot_no < 0)
			slot_no = slot_take_fresh(memory, agent_id, limit, task_id, seq);
	}
	if (slot_no < 0)
		slot_no = slot_take_first(agent_id, 0, limit, task_id, seq);
	if (slot_no < 0)
	{
		load_note_full(agent_id);
		return -1;
	}
	memory->highest = Max(memory->highest, slot_no);
	load_note_chosen(agent_id, seq);
	return slot_no;
}

bool
slot_is_likely(Slice agent_id, int max_concurrency)
{
	AgentMemory empty;
	AgentMemory *memory = slot_memory(agent_id, &empty);
	int			limit = slot_usable(memory, agent_id, max_concurrency);
	int64		generation;

	/* with many slots, looking would cost as much as taking one */
	return limit > FEW_SLOTS ||
		slot_first_free(agent_id, 0, limit, PG_INT32_MAX, &generation) >= 0;
}

/* ----------------------------------------------------------------- freeing */

void
slot_free(Slice agent_id, int slot_no, int64 since_seq, SlotOutcome outcome)
{
	AgentMemory *memory = roster_memory(agent_id);
	SlotState	state;
	int			done = outcome == OUTCOME_DONE ? 1 : 0;
	int			failed = outcome == OUTCOME_FAILED ? 1 : 0;

	slot_probe(agent_id, slot_no, since_seq, ROWS_LATEST, &state);
	if (!state.made)
		return;
	state.done += done;
	state.failed += failed;
	if (state.done + state.failed >= RECENT_OUTCOMES)
	{
		state.done /= 2;
		state.failed /= 2;
	}
	slot_write(agent_id, slot_no, &state, SLICE_NONE);
	if (memory != NULL && slot_no >= 0)
	{
		memory->free_slot = slot_no;
		memory->free_generation = state.generation;
	}
	load_note_ended(agent_id, done, failed);
}

void
slot_count(Slice agent_id, Slice task_id, int64 seq, SlotOutcome outcome)
{
	int			slot_no = slot_take_first(agent_id, FIRST_SPARE_SLOT, -1, task_id, seq);

	if (slot_no == -1)
		return;
	load_note_chosen(agent_id, seq);
	slot_free(agent_id, slot_no, seq, outcome);
}

static void
slot_begin_held(RowScan *scan, Slice agent_id, int from)
{
	rows_begin(scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_LATEST, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int4(scan, 2, BTGreaterEqualStrategyNumber, from);
	rows_start(scan);
}

static bool
slot_next_held(RowScan *scan)
{
	while (rows_next(scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!rows_is_null(scan, Anum_agent_slot_task_id))
			return true;
	}
	return false;
}

List *
slot_list_tasks(Slice agent_id, int *from, int most)
{
	List	   *tasks = NIL;
	RowScan		scan;

	slot_begin_held(&scan, agent_id, *from);
	while (list_length(tasks) < most && slot_next_held(&scan))
	{
		tasks = slice_list_add(tasks, rows_text(&scan, Anum_agent_slot_task_id));
		*from = rows_int4(&scan, Anum_agent_slot_slot_no) + 1;
	}
	rows_end(&scan);
	return tasks;
}

bool
slot_has_task(Slice agent_id)
{
	int			from = 0;

	return slot_list_tasks(agent_id, &from, 1) != NIL;
}

int
slot_count_tasks(Slice agent_id)
{
	int			n = 0;
	RowScan		scan;

	slot_begin_held(&scan, agent_id, 0);
	while (slot_next_held(&scan))
		n++;
	rows_end(&scan);
	return n;
}

List *
slot_list_agents(void)
{
	return rows_list_different_texts(TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, Anum_agent_slot_agent_id);
}

void
slot_restore(Slice agent_id, int64 done, int64 failed, int64 chosen_seq)
{
	SlotState	state = {0};

	while (done + failed >= RECENT_OUTCOMES)
	{
		done /= 2;
		failed /= 2;
	}
	state.generation = chosen_seq;
	state.chosen_seq = chosen_seq;
	state.done = (int) done;
	state.failed = (int) failed;
	slot_write(agent_id, 0, &state, SLICE_NONE);
}
