/*-------------------------------------------------------------------------
 *
 * outbox_fn.h
 *	  The documents that are sent to other systems.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTBOX_FN_H
#define CLUTCH_OUTBOX_FN_H

#include "base/text.h"
#include "utils/jsonb.h"

/*
 * The document that the adapter makes of an envelope, palloc'd.  The notes of the adapter
 * in the envelope are ignored, so the document says nothing but what the envelope says;
 * notes, an object or NULL, takes their place.
 * The adapter may be a function that a user has written, and runs with the rights of the
 * caller.  The bytes of artifacts that the event of that seq attaches are put back into the
 * document (api/blob.h); seq is 0 if there is no event.
 */
extern Jsonb *outbox_document(Jsonb *envelope, Slice adapter, Jsonb *notes, int64 seq);

#endif							/* CLUTCH_OUTBOX_FN_H */
