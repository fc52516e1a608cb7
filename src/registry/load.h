/*-------------------------------------------------------------------------
 *
 * load.h
 *	  How busy an agent is and how it has done, read from its slot rows.
 *
 * A hint: the slot decides (registry/slot.h).  Read on the latest snapshot,
 * plus what the own transaction has done.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LOAD_H
#define CLUTCH_LOAD_H

#include "base/text.h"

typedef struct AgentLoad
{
	int			running;		/* slots taken: tasks assigned or running */
	int			done;			/* recent tasks completed ... */
	int			failed;			/* ... and failed or timed out */
	int64		last_chosen;	/* seq of the last task given; 0: never */
} AgentLoad;

/*
 * Reads all slots of the agent, about a microsecond each, but of one with
 * thousands only some, unless these say that it is full (limit).  Of an agent
 * with many, what was read a tenth of a second ago (seconds, if it has
 * thousands) serves again, unless that says that it is full.
 */
extern void load_read(Slice agent_id, int limit, AgentLoad *load);

/* what this backend itself has just changed of a remembered load */
extern void load_note_chosen(Slice agent_id, int64 seq);
extern void load_note_ended(Slice agent_id, int done, int failed);

/* done / (done + failed), 1 when nothing ended yet */
extern double load_success_rate(const AgentLoad *load);

#endif							/* CLUTCH_LOAD_H */
