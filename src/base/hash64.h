/*-------------------------------------------------------------------------
 *
 * hash64.h
 *	  Hash tables whose entries begin with a uint64 key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_HASH64_H
#define CLUTCH_HASH64_H

#include "clutch.h"

#include "utils/hsearch.h"

/*
 * Creates an empty table in the context, which must outlive it.  "expected" is
 * about how many entries it will have; it grows beyond that.
 */
extern HTAB *hash64_create(const char *name, Size entry_size, long expected, MemoryContext context);

#endif							/* CLUTCH_HASH64_H */
