/*-------------------------------------------------------------------------
 *
 * memo.h
 *	  Memos: caches of a backend with 64-bit keys, which may be emptied at any
 *	  time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MEMO_H
#define CLUTCH_MEMO_H

#include "clutch.h"

#include "utils/hsearch.h"

/*
 * Returns the table, which lives as long as the backend.  A new, empty one is
 * created if there is none yet (NULL), or if it already has "most" entries.
 * In the latter case the old one is freed, so the caller must not keep
 * pointers into it.  entry_size is the size of an entry, which begins with its
 * uint64 key.
 */
extern HTAB *memo_table(HTAB *table, const char *name, Size entry_size, int most);

/*
 * A table whose entries may point to what the caller has copied into
 * "context", which is reset whenever the table is created again.  A static
 * Memo needs no initialization other than zeros.
 */
typedef struct Memo
{
	MemoryContext context;
	HTAB	   *table;
	uint64		changes;		/* number of changes when the table was created */
} Memo;

/*
 * The same for a Memo, whose table is also created again if "changes" differs
 * from before (base/stale.h).
 */
extern HTAB *memo_current(Memo *memo, const char *name, Size entry_size, int most, uint64 changes);

#endif							/* CLUTCH_MEMO_H */
