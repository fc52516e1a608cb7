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
 * Returns the table, which lives as long as the backend.  A new, empty one is made if there is
 * none yet (NULL), and if it has "most" entries; the old one is freed then, so the caller keeps
 * no pointers into it.  entry_size is that of an entry, which begins with its uint64 key.
 */
extern HTAB *memo_table(HTAB *table, const char *name, Size entry_size, int most);

/*
 * A table whose entries may point to what the caller has copied into "context", which is emptied
 * whenever the table is made anew.  A static Memo needs no other initialization than zeros.
 */
typedef struct Memo
{
	MemoryContext context;
	HTAB	   *table;
	uint64		changes;		/* that were counted when the table was made */
} Memo;

/* The same for a Memo, whose table is also made anew if "changes" is not what it was (base/stale.h). */
extern HTAB *memo_current(Memo *memo, const char *name, Size entry_size, int most, uint64 changes);

#endif							/* CLUTCH_MEMO_H */
