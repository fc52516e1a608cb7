/*-------------------------------------------------------------------------
 *
 * memo.h
 *	  What a backend remembers under a 64-bit key, and may forget at any time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MEMO_H
#define CLUTCH_MEMO_H

#include "clutch.h"

#include "utils/hsearch.h"

/*
 * The table, for as long as the backend lives; made at first (NULL), and anew,
 * empty, when it has that many entries.  An entry begins with its uint64 key.
 */
extern HTAB *memo_table(HTAB *table, const char *name, Size entry_size, int most);

/* A table whose entries point into a memory context, which is emptied with it; a static one begins as {0}. */
typedef struct Memo
{
	MemoryContext context;
	HTAB	   *table;
	uint64		changes;		/* that were counted when the table was made */
} Memo;

/* The table, as above; made anew also when another number of changes has been counted (base/stale.h). */
extern HTAB *memo_current(Memo *memo, const char *name, Size entry_size, int most, uint64 changes);

#endif							/* CLUTCH_MEMO_H */
