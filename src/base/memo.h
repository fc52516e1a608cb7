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

#endif							/* CLUTCH_MEMO_H */
