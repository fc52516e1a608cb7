/*-------------------------------------------------------------------------
 *
 * reply.h
 *	  The end of a task as the response to the document that requested it.
 *
 * An end is the task.result, task.error, task.cancel or task.timeout with which
 * a task is over.  Whoever requested the task in another dialect waits for a
 * document of that dialect, and recognizes it by an ID of its own:
 *
 *	- A call gets a response, which in JSON-RPC has the ID of the call.
 *	- In some dialects, a document names the one that it answers
 *	  (names_request in adapter.h).
 *
 * A cancellation would be a demand and not an answer in most dialects, and a
 * timeout has no form there.  Both become errors, unless the dialect can tell
 * them (tells_ends in adapter.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REPLY_H
#define CLUTCH_REPLY_H

#include "adapters/adapter.h"

typedef struct Reply
{
	const Adapter *adapter;
	const Json *request;		/* the envelope that requested the task */
	Slice		task_id;
	Slice		thread_id;		/* of the task */
	const Json *card;			/* of the agent that has ended the task; NULL
								 * if it is not registered */

	/* Set by reply_begin: */
	const Json *asked;			/* the document of the request, or an empty
								 * object if it was in another dialect */
	bool		is_response;	/* to a call (is_call in adapter.h) */
} Reply;

/*
 * Begins the reply, whose first five members the caller has set.  This
 * translates the request back into its document, without artifacts.
 */
extern void reply_begin(Reply *reply);

/*
 * Returns the envelope to translate into the document, for the one that has
 * ended the task.  It shares values with that envelope.
 */
extern Json *reply_envelope(const Reply *reply, const Json *end);

/*
 * Returns the state of the task, which need not be over, as a document of the
 * dialect, which must have one (task_form in adapter.h).  The envelope is the
 * one that has ended the task, or a task.progress that says what it is doing.
 */
extern Json *reply_task(const Reply *reply, const Json *envelope);

/*
 * Names the request in the document of its end, in place.  If the end came as a
 * document of the dialect itself, its sender may have named what it was sent by
 * an endpoint, or nothing.
 */
extern void reply_name_request(const Reply *reply, Json *document);

#endif							/* CLUTCH_REPLY_H */
