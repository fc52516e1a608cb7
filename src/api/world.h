/*-------------------------------------------------------------------------
 *
 * world.h
 *	  What the translation of documents asks of this database, for one call of
 *	  clutch.inbound or clutch.ingest.
 *
 * The functions of a TranslationWorld (adapters/translation.h) return only what the
 * current role may read, with one exception: whether an ID has been used.
 *
 * A call that makes several envelopes remembers them, because a stub is left out if the
 * envelope that it stands for is in the log or has been made by the same call.  The
 * memory belongs to the memory context that is current in world_begin, and nothing of
 * it is left after world_end.  Calls may be nested, because a function of a user's
 * adapter and a trigger may call ingest as well; each remembers its own envelopes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WORLD_H
#define CLUTCH_WORLD_H

#include "adapters/translation.h"
#include "utils/hsearch.h"

/* one call; private to world.c, the caller only has room for it */
typedef struct WorldCall
{
	MemoryContext context;
	HTAB	   *made;			/* MadeEnvelope, by hash, or NULL if nothing
								 * has been made yet */
	struct WorldCall *outer;	/* the call during which this one runs, or NULL */
} WorldCall;

/*
 * The world of the current role, for a document with that context.  Raises 42501 if the
 * context names an agent that the role does not speak for.
 */
extern TranslationWorld world_get(const Json *context);

/*
 * The call begins, and ends.  A call that has begun must be ended even if an error is
 * raised, so both stand around a PG_TRY.
 */
extern void world_begin(WorldCall *call);
extern void world_end(const WorldCall *call);

/* The call that has begun last has made the envelope, which has an ID and a run. */
extern void world_note_made(const Json *envelope);

#endif							/* CLUTCH_WORLD_H */
