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
 * The document of the adapter that an envelope becomes, palloc'd, as if it had never been
 * one: it says what the envelope says, whatever its author has noted about another
 * document.  The adapter runs with the rights of the caller, because it may be a function
 * that a user has written.  The bytes of artifacts that the event of that seq attaches are
 * put back into it (api/blob.h); seq is 0 if there is no event.
 */
extern Jsonb *outbox_document(Jsonb *envelope, Slice adapter, int64 seq);

#endif							/* CLUTCH_OUTBOX_FN_H */
