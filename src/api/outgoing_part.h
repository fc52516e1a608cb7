/*-------------------------------------------------------------------------
 *
 * outgoing_part.h
 *	  Private declarations of outgoing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OUTGOING_PART_H
#define CLUTCH_OUTGOING_PART_H

#include "api/outgoing.h"
#include "utils/jsonb.h"

/* Reads an event.  Raises 02000 if it is no longer in the log. */
extern Jsonb *outgoing_event(int64 seq);

/*
 * Raises 42704 if the endpoint does not serve the agent or the server that is
 * called.  It may have been given to another one while the call was waiting,
 * which must not see what was sent to the first.
 */
extern void outgoing_require_callee(const Call *call, const Endpoint *endpoint, Jsonb *envelope);

/*
 * Was the question a request of an MCP server, to which the answer is the
 * response?  If so, sets *id to the ID of the request.
 */
extern bool outgoing_is_asked_by_request(JsonbContainer *asked, JsonbValue *id);

/* --- outgoing_push.c --- */

/* Does the call tell a client of A2A what has become of its task? */
extern bool outgoing_is_push(const Call *call, const Endpoint *endpoint);
extern Jsonb *outgoing_push(const Call *call, const Endpoint *endpoint, Jsonb *event);

/* --- outgoing_cancel.c --- */

/* Returns the document of a CALL_CANCEL, or NULL if the dialect cannot name the task. */
extern Jsonb *outgoing_cancel(const Call *call, const Endpoint *endpoint);

#endif							/* CLUTCH_OUTGOING_PART_H */
