/*-------------------------------------------------------------------------
 *
 * outgoing.h
 *	  The document that is sent for a call.
 *
 * The adapter of the endpoint makes the document of the event.  If the dialect has a
 * recipient, it is the agent at the other end.  If the event answers a question of that
 * agent, the document names the task by the ID that the other side has for it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTGOING_H
#define CLUTCH_OUTGOING_H

#include "outbox/call.h"

/* the header with the version of A2A of a request; servers take a request without it for one of 0.3 */
#define A2A_VERSION	"a2a-version"

/*
 * Returns the value of that header, whose name may be in any case, among the
 * headers of the endpoint, or absent if there is none.
 */
extern Slice outgoing_a2a_version(const Endpoint *endpoint);

/* The document, palloc'd.  Raises 02000 if the event is not in the log any more, and the errors of the adapter. */
extern Jsonb *outgoing_document(const Call *call, const Endpoint *endpoint);

/*
 * The headers of a call with this document, whose bytes are the body.  Those of the endpoint
 * replace content-type, accept and a2a-version.
 */
extern Jsonb *outgoing_headers(const Call *call, const Endpoint *endpoint, Jsonb *document, Slice body);

#endif							/* CLUTCH_OUTGOING_H */
