/*-------------------------------------------------------------------------
 *
 * outgoing.h
 *	  The document that is sent for a call.
 *
 * It is what the adapter of the endpoint makes of the event, and names the agent at the other
 * end as the recipient where the dialect has one.  If the event answers a question which that
 * agent has asked, the document names the task as the other side does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTGOING_H
#define CLUTCH_OUTGOING_H

#include "outbox/call.h"

/* the header that says in which version of A2A a request is written; without it, 0.3 is understood */
#define A2A_VERSION	"a2a-version"

/* the value of that header among those of the endpoint, in which its name may be in any case; absent: there is none */
extern Slice outgoing_a2a_version(const Endpoint *endpoint);

/* Raises 02000 if the event is not in the log any more, and what the adapter raises. */
extern Jsonb *outgoing_document(const Call *call, const Endpoint *endpoint);

#endif							/* CLUTCH_OUTGOING_H */
