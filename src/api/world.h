/*-------------------------------------------------------------------------
 *
 * world.h
 *	  What the translation of documents needs to know about this database, for
 *	  one call of clutch.inbound or clutch.ingest.
 *
 * The functions of a TranslationWorld (adapters/translation.h) reveal only
 * what the current role may read, with one exception: whether an ID has been
 * used.
 *
 * A call remembers the envelopes that it makes, because a stub is dropped if
 * the envelope that it stands for is in the log or has been made by the same
 * call.  The memory belongs to the memory context that is current in
 * world_begin, and nothing of it is left after world_end.  Calls may be
 * nested, because a function of a user's adapter and a trigger may call ingest
 * as well; each remembers its own envelopes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WORLD_H
#define CLUTCH_WORLD_H

#include "adapters/translation.h"
#include "utils/hsearch.h"

/*
 * One call.  The contents are private to world.c; the caller only provides the
 * memory.
 */
typedef struct WorldCall
{
	MemoryContext context;
	HTAB	   *made;			/* MadeEnvelope by hash, or NULL if nothing has
								 * been made yet */
	struct WorldCall *outer;	/* the call during which this one runs, or NULL */
} WorldCall;

/*
 * Returns the world of the current role for a document with that context.
 * Raises 42501 if the context names an agent that the role does not speak for.
 */
extern TranslationWorld world_get(const Json *context);

/*
 * Begin and end a call.  A call must be ended even if an error is raised, so
 * both are placed around a PG_TRY.
 */
extern void world_begin(WorldCall *call);
extern void world_end(const WorldCall *call);

/*
 * Notes that the innermost call has made this envelope, which must have an ID
 * and a run.
 */
extern void world_note_made(const Json *envelope);

#endif							/* CLUTCH_WORLD_H */
