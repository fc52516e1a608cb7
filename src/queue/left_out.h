/*-------------------------------------------------------------------------
 *
 * left_out.h
 *	  Runs whose waiting tasks a look leaves out.
 *
 * A card may limit what its agent spends on one run.  When an agent has spent
 * that, no task of the run fits it any more, and any number of them may wait
 * before a task that does.  To try each of them would be expensive, so a look
 * that has tried one in vain reads only the rows of the others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LEFT_OUT_H
#define CLUTCH_LEFT_OUT_H

#include "base/text_map.h"

/* The caller sets the members.  Several queues may share one. */
typedef struct LeftOut
{
	Slice		agent_id;		/* the look is for this agent; absent if it is
								 * for all of them */
	int64	   *rows;			/* number of rows that may still be left out.
								 * To ask what an agent has spent on a run
								 * counts as several.  At 0, the look must end.
								 * Several LeftOuts may share this. */
	TextMap    *runs;			/* what is known of each run; NULL at first */
} LeftOut;

/*
 * To be called when a task was tried in vain.  From now on, the runs on which
 * the agent has spent what its card allows are left out.
 */
extern void left_out_begin(LeftOut *left_out);

/* Leaves out a run, whatever has been spent on it. */
extern void left_out_add(LeftOut *left_out, Slice run_id);

/* Is a row of this run left out? */
extern bool left_out_has(LeftOut *left_out, Slice run_id);

#endif							/* CLUTCH_LEFT_OUT_H */
