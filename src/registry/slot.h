/*-------------------------------------------------------------------------
 *
 * slot.h
 *	  One row of clutch.agent_slot is one piece of an agent's concurrency (P5).
 *
 * A task that is assigned or running holds a slot.  Slots are numbered from 0
 * and stay below the agent's limit, so the limit cannot be exceeded whatever
 * happens at the same time.  Nothing ever waits for a slot: one that another
 * transaction is taking or freeing counts as taken.
 *
 * A change of a slot is a new version of its row with a higher generation, and
 * the old one is deleted: a row that is updated over and over would slow every
 * reader under a held snapshot.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SLOT_H
#define CLUTCH_SLOT_H

#include "base/text.h"
#include "nodes/pg_list.h"

typedef enum SlotOutcome
{
	OUTCOME_NONE,				/* given back or cancelled: says nothing */
	OUTCOME_DONE,
	OUTCOME_FAILED
} SlotOutcome;

/*
 * Takes a slot for the task and returns its number, or -1 if none is free.  seq
 * is the task's place in the log; slot_free needs it, or an earlier one, again.
 */
extern int	slot_take(Slice agent_id, int max_concurrency, Slice task_id, int64 seq);

/* false: slot_take would find no slot now */
extern bool slot_is_likely(Slice agent_id, int max_concurrency);

/*
 * Ids of the tasks that hold a slot of the agent, as of now, in the order of their slots:
 * of so many slots at most, beginning with *from, which becomes the slot behind the
 * last one.  A List of Slice *; NIL if there is none from there on.
 */
extern List *slot_list_tasks(Slice agent_id, int *from, int most);
extern bool slot_has_task(Slice agent_id);
extern int	slot_count_tasks(Slice agent_id);

/* ids of the agents that have a slot, registered or not; a List of Slice * */
extern List *slot_list_agents(void);

/*
 * The caller has locked the task that holds the slot.  since_seq is the seq that
 * slot_take was given, or any lower one: older versions of the slot are dead and
 * are not looked at.
 */
extern void slot_free(Slice agent_id, int slot_no, int64 since_seq, SlotOutcome outcome);

/*
 * Writes the record of an agent that has no slots yet, when the state is made
 * anew from the log: how its tasks ended, and the seq of the last one.
 */
extern void slot_restore(Slice agent_id, int64 done, int64 failed, int64 chosen_seq);

#endif							/* CLUTCH_SLOT_H */
