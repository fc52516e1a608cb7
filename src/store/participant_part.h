/*-------------------------------------------------------------------------
 *
 * participant_part.h
 *	  Private declarations of participant.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PARTICIPANT_PART_H
#define CLUTCH_PARTICIPANT_PART_H

#include "base/rows.h"
#include "store/participant.h"

/* columns of clutch.participant */
enum
{
	Anum_participant_name = 1,
	Anum_participant_run_id,
	Natts_participant = Anum_participant_run_id
};

/* Empties the cache of this backend. */
extern void participant_forget_all(void);

/*
 * Runs a scan with ROWS_DIRTY to its end.  Returns RUN_IS_FOUNDED if there is a
 * row that no open transaction of others is writing or removing, and
 * RUN_IS_DOUBTFUL if there are only others.
 */
extern RunState participant_look_for_certain(RowScan *scan);

#endif							/* CLUTCH_PARTICIPANT_PART_H */
