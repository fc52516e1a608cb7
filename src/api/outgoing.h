/*-------------------------------------------------------------------------
 *
 * outgoing.h
 *	  Making the document that is sent for a call.
 *
 * The adapter of the endpoint makes the document from the event.  If the
 * dialect has a recipient, it is the agent at the other end.  If the event
 * answers a question of that agent, the document names the task by the ID that
 * the other side uses.  So does the cancellation of a task.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTGOING_H
#define CLUTCH_OUTGOING_H

#include "outbox/call.h"

/*
 * the header with the A2A version of a request; servers assume 0.3 if it is
 * missing
 */
#define A2A_VERSION	"a2a-version"

/*
 * Returns the value of that header among those of the endpoint, where its name
 * is not case-sensitive, or an absent slice if there is none.
 */
extern Slice outgoing_a2a_version(const Endpoint *endpoint);

/*
 * Returns the ID by which the other side calls the task in a report that the
 * adapter has made, or an absent slice if it does not name the task.
 */
extern Slice outgoing_task_in(Jsonb *report, const char *adapter);

/*
 * Returns the document, palloc'd.  Returns NULL for a cancellation if the other
 * side has not said by which ID it knows the task, and the dialect cannot name
 * the task in another way.  Raises 02000 if the event is no longer in the log,
 * and the errors of the adapter.
 */
extern Jsonb *outgoing_document(const Call *call, const Endpoint *endpoint);

/*
 * Returns the headers of a call with this document, whose bytes are the body.
 * Headers of the endpoint replace content-type, accept and a2a-version.
 */
extern Jsonb *outgoing_headers(const Call *call, const Endpoint *endpoint, Jsonb *document, Slice body);

#endif							/* CLUTCH_OUTGOING_H */
