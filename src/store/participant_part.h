/*-------------------------------------------------------------------------
 *
 * participant_part.h
 *	  Private declarations of participant.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PARTICIPANT_PART_H
#define CLUTCH_PARTICIPANT_PART_H

/* columns of clutch.participant */
enum
{
	Anum_participant_name = 1,
	Anum_participant_run_id,
	Natts_participant = Anum_participant_run_id
};

/* Empties the cache of this backend. */
extern void participant_forget_all(void);

#endif							/* CLUTCH_PARTICIPANT_PART_H */
