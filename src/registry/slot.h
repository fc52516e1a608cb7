/*-------------------------------------------------------------------------
 *
 * slot.h
 *	  Slots: each row of clutch.agent_slot is one unit of an agent's
 *	  concurrency (P5).
 *
 * A task that is assigned or running holds a slot.  Slots are numbered from 0,
 * and the numbers stay below the agent's limit, so the limit cannot be
 * exceeded, whatever happens concurrently.  Nothing ever waits for a slot: one
 * that another transaction is taking or freeing counts as taken.
 *
 * Changing a slot inserts a new version of its row with a higher generation
 * and deletes the old one, because under an old snapshot, a row that is
 * updated over and over would slow down every reader.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SLOT_H
#define CLUTCH_SLOT_H

#include "base/text.h"
#include "nodes/pg_list.h"

typedef enum SlotOutcome
{
	OUTCOME_NONE,				/* given back or cancelled, which says nothing */
	OUTCOME_DONE,
	OUTCOME_FAILED
} SlotOutcome;

/*
 * Takes a slot for the task and returns its number, or -1 if none is free. seq
 * is the position of the task in the log; slot_free must be passed the same or
 * a lower one.
 */
extern int	slot_take(Slice agent_id, int max_concurrency, Slice task_id, int64 seq);

/* Returns false if slot_take would find no slot now. */
extern bool slot_is_likely(Slice agent_id, int max_concurrency);

/*
 * Returns the IDs of the tasks that hold a slot of the agent at present, in
 * the order of their slots, as a List of Slice *.  Looks at "most" slots at
 * most, beginning with *from, which is set to the slot after the last one.
 * Returns NIL if there is none from there on.
 */
extern List *slot_list_tasks(Slice agent_id, int *from, int most);
extern bool slot_has_task(Slice agent_id);
extern int	slot_count_tasks(Slice agent_id);

/*
 * Returns the IDs of the agents that have a slot, registered or not, as a List
 * of Slice *.
 */
extern List *slot_list_agents(void);

/*
 * Frees the slot.  The caller must have locked the task that holds it.
 * since_seq is the seq that was passed to slot_take, or any lower one; older
 * versions of the slot are dead and are not looked at.
 */
extern void slot_free(Slice agent_id, int slot_no, int64 since_seq, SlotOutcome outcome);

/*
 * Counts the outcome of a task that holds no slot, because it is suspended or
 * waits for an answer.  seq is its position in the log.
 */
extern void slot_count(Slice agent_id, Slice task_id, int64 seq, SlotOutcome outcome);

/*
 * Writes the record of an agent that has no slots yet, in a rebuild: how its
 * tasks ended, and the seq of the last one.
 */
extern void slot_restore(Slice agent_id, int64 done, int64 failed, int64 chosen_seq);

#endif							/* CLUTCH_SLOT_H */
