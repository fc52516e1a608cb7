/*-------------------------------------------------------------------------
 *
 * pause_row.h
 *	  The columns of clutch.pause.  Private to this room.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PAUSE_ROW_H
#define CLUTCH_PAUSE_ROW_H

#include "base/rows.h"

enum
{
	Anum_pause_what = 1,
	Anum_pause_seq,
	Anum_pause_since,
	Anum_pause_by_agent,
	Anum_pause_reason,
	Natts_pause = Anum_pause_reason
};

ROWS_CHECK_COLUMNS(Natts_pause, PAUSE);

#endif							/* CLUTCH_PAUSE_ROW_H */
