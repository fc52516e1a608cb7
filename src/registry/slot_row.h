/*-------------------------------------------------------------------------
 *
 * slot_row.h
 *	  Rows of clutch.agent_slot, and iterating over those of one agent.
 *
 * A slot has one live version and perhaps many dead ones of lower generations,
 * which follow it in the index until they are vacuumed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SLOT_ROW_H
#define CLUTCH_SLOT_ROW_H

#include "base/rows.h"
#include "base/text.h"
#include "registry/agent_row.h"

enum
{
	Anum_agent_slot_agent_id = 1,
	Anum_agent_slot_slot_no,
	Anum_agent_slot_generation,
	Anum_agent_slot_task_id,
	Anum_agent_slot_chosen_seq,
	Anum_agent_slot_done,
	Anum_agent_slot_failed,
	Natts_agent_slot = Anum_agent_slot_failed
};

ROWS_CHECK_COLUMNS(Natts_agent_slot, AGENT_SLOT);

/*
 * The numbers from here to -2 are spare slots.  No task holds one: they count
 * the outcomes of tasks that end without a slot, so that these neither keep a
 * slot from another task nor wait for one.  There are as many as transactions
 * that have counted such an outcome at the same time.
 */
#define FIRST_SPARE_SLOT	(-1000000)

/*
 * Iterates over slots in the order of their numbers, each once, in its newest
 * version.  The columns are read from the scan.
 */
typedef struct SlotWalk
{
	RowScan    *scan;			/* begun on INDEX_AGENT_SLOT by the caller */
	Slice		agent_id;
	int			slot_no;		/* of the current slot */
	bool		jumped;			/* the scan is about to read the first version
								 * of a slot */
} SlotWalk;

/* Starts at this slot number, or continues from another number. */
extern void slot_walk_from(SlotWalk *walk, RowScan *scan, Slice agent_id, int slot_no);
extern bool slot_walk_next(SlotWalk *walk);

/*
 * Returns the highest number that a slot of the agent ever had.  "above" is a
 * number that is known to exist, or -1; it is returned if there is no higher
 * one.
 */
extern int	slot_highest(Slice agent_id, int above);

/*
 * Deletes the slots of an agent that has left the registry, but at most *n,
 * from which it subtracts them.  Never waits.  Returns false if there are more,
 * or if a task or another transaction holds one.
 */
extern bool slot_forget(Slice agent_id, int *n);

#endif							/* CLUTCH_SLOT_ROW_H */
