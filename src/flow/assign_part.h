/*-------------------------------------------------------------------------
 *
 * assign_part.h
 *	  Private declarations of assign.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ASSIGN_PART_H
#define CLUTCH_ASSIGN_PART_H

#include "flow/assign.h"

/* Takes a slot of one candidate.  Returns its number, or -1 if there is none. */
extern int	assign_candidate_take_slot(const Task *task, const Candidate *candidate);

/*
 * Gives the task to the selected candidate, of which a slot has been taken. at
 * is the time when its request was received.
 */
extern void assign_give(Task *task, const Requirement *requirement, const Choice *choice,
						int selected, int slot_no, Slice request_id, TimestampTz at);

#endif							/* CLUTCH_ASSIGN_PART_H */
