/*-------------------------------------------------------------------------
 *
 * slot_row.c
 *	  Rows of clutch.agent_slot, and iterating over those of one agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/guard.h"
#include "miscadmin.h"
#include "registry/slot_row.h"

/*
 * How many dead versions of a slot are passed over before the next slot is
 * looked up by its number.  Passing over a few marks them in the index, so
 * that later scans do not compare them.  Under an old snapshot they cannot be
 * marked, and there may be thousands.
 */
#define MOST_DEAD		16

void
slot_walk_from(SlotWalk *walk, RowScan *scan, Slice agent_id, int slot_no)
{
	walk->scan = scan;
	walk->agent_id = agent_id;
	walk->slot_no = slot_no - 1;
	walk->jumped = true;
	scan->nkeys = 0;
	rows_key_text(scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int4(scan, 2, BTGreaterEqualStrategyNumber, slot_no);
	rows_restart(scan);
}

bool
slot_walk_next(SlotWalk *walk)
{
	for (;;)
	{
		bool		found;

		CHECK_FOR_INTERRUPTS();
		walk->scan->dead = 0;
		walk->scan->most_dead = walk->jumped ? PG_INT64_MAX : MOST_DEAD;
		found = rows_next(walk->scan);
		walk->jumped = false;
		if (!found && walk->scan->dead < walk->scan->most_dead)
			return false;
		if (!found)
		{
			if (walk->slot_no == PG_INT32_MAX)
				return false;
			slot_walk_from(walk, walk->scan, walk->agent_id, walk->slot_no + 1);
			continue;
		}
		/* a dirty scan also sees an older version that is being deleted */
		if (rows_int4(walk->scan, Anum_agent_slot_slot_no) == walk->slot_no)
			continue;
		walk->slot_no = rows_int4(walk->scan, Anum_agent_slot_slot_no);
		return true;
	}
}

/*
 * Searches upwards with doubling steps, and then by halving them.  We do not
 * start at the other end, because there are the oldest versions of the last
 * slot, which are dead, and under an old snapshot there may be any number of
 * them.
 */
int
slot_highest(Slice agent_id, int above)
{
	int64		step = 1;
	int64		highest = above;
	RowScan		scan;
	SlotWalk	walk;

	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_DIRTY, AccessShareLock);
	while (step > 0)
	{
		bool		found = false;

		if (highest + step <= PG_INT32_MAX)
		{
			slot_walk_from(&walk, &scan, agent_id, (int) (highest + step));
			found = slot_walk_next(&walk);
		}
		if (found)
			highest = walk.slot_no;
		step = found ? step * 2 : step / 2;
	}
	rows_end(&scan);
	return (int) highest;
}

/*
 * Deletes the current slot of the scan unless it is taken, or in doubt.  Under
 * its guard, nobody else takes it meanwhile.
 */
static bool
slot_row_delete_free(const RowScan *scan, Slice agent_id, int slot_no)
{
	uint64		guard = guard_key(GUARD_SLOT, agent_id, SLICE_NONE, slot_no);
	ItemPointerData tid = rows_tid(scan);
	bool		deleted;

	if (TransactionIdIsValid(rows_in_doubt(scan)) || !rows_is_null(scan, Anum_agent_slot_task_id) ||
		!guard_try(guard))
		return false;
	deleted = rows_delete_if_free(TABLE_AGENT_SLOT, &tid);
	guard_release(guard);
	return deleted;
}

bool
slot_forget(Slice agent_id, int *n)
{
	bool		all = true;
	RowScan		scan;
	SlotWalk	walk;

	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_DIRTY, RowExclusiveLock);
	slot_walk_from(&walk, &scan, agent_id, FIRST_SPARE_SLOT);
	while (all && slot_walk_next(&walk))
	{
		all = *n > 0 && slot_row_delete_free(&scan, agent_id, walk.slot_no);
		*n -= all;
	}
	rows_end(&scan);
	return all;
}
