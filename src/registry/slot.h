/*-------------------------------------------------------------------------
 *
 * slot.h
 *	  One row of clutch.agent_slot is one piece of an agent's concurrency (P5).
 *
 * A task that is assigned or running holds one.  Slots are numbered from 0
 * and never reach the agent's limit, so the limit cannot be exceeded whatever
 * happens at the same time.  Nobody ever waits for a slot: one that another
 * transaction is taking or freeing counts as taken.
 *
 * Rows are written newest first (generation), see DESIGN 4: a row updated
 * over and over would slow every reader under a held snapshot.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SLOT_H
#define CLUTCH_SLOT_H

#include "base/text.h"
#include "nodes/pg_list.h"

/* columns of clutch.agent_slot, which registry/load.c reads too */
enum
{
	Anum_slot_agent_id = 1,
	Anum_slot_slot_no,
	Anum_slot_generation,
	Anum_slot_task_id,
	Anum_slot_chosen_seq,
	Anum_slot_done,
	Anum_slot_failed,
	Natts_slot = Anum_slot_failed
};

typedef enum SlotOutcome
{
	OUTCOME_NONE,				/* given back, cancelled: says nothing */
	OUTCOME_DONE,
	OUTCOME_FAILED
} SlotOutcome;

/* the number of the slot taken for the task, or -1: none is free */
extern int	slot_take(Slice agent_id, int max_concurrency, Slice task_id, int64 seq);

/* false: slot_take would find none now */
extern bool slot_is_likely(Slice agent_id, int max_concurrency);

/* the highest number a slot of the agent was ever given; above: known, or -1 */
extern int	slot_highest(Slice agent_id, int above);

/* ids of the tasks that hold one of the agent, as of now; a List of Slice * */
extern List *slot_list_tasks(Slice agent_id);

/* the caller has the task locked, and the task holds the slot */
extern void slot_free(Slice agent_id, int slot_no, SlotOutcome outcome);

#endif							/* CLUTCH_SLOT_H */
