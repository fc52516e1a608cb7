/*-------------------------------------------------------------------------
 *
 * outbox_fn.h
 *	  Making the documents that are sent to other systems.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTBOX_FN_H
#define CLUTCH_OUTBOX_FN_H

#include "base/text.h"
#include "utils/jsonb.h"

/*
 * Returns the document that the adapter makes from an envelope, palloc'd.  The
 * adapter's notes in the envelope are ignored, so that the document says only
 * what the envelope says; "notes", an object or NULL, is used in their place.
 * The adapter may be a user-defined function, and runs with the rights of the
 * caller.  The bytes of artifacts that the event of that seq attaches are put
 * back into the document (api/blob.h); seq is 0 if there is no event.
 */
extern Jsonb *outbox_document(Jsonb *envelope, Slice adapter, Jsonb *notes, int64 seq);

#endif							/* CLUTCH_OUTBOX_FN_H */
