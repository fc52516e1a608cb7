/*-------------------------------------------------------------------------
 *
 * callee_part.h
 *	  Private declarations of callee.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CALLEE_PART_H
#define CLUTCH_CALLEE_PART_H

#include "flow/callee.h"
#include "task/task.h"

/* Returns the task of a CALL_TASK while it runs in the attempt of the call; otherwise NULL. */
extern Task *callee_task(const Call *call);

/* The same, but also returns a task that waits for the answer to a question of this attempt. */
extern Task *callee_held_task(const Call *call);

/* --- callee_answer.c --- */

/* the parts of an answer that are reported */
typedef struct CalleeAnswer
{
	MessageType type;			/* for a task: task.progress, task.result or
								 * task.error */
	Jsonb	   *payload;
	Slice		payload_type;
	Jsonb	   *attachments;
	Jsonb	   *meta;
	const List *made;			/* the references of the artifacts that its bytes have become */
	bool		is_last;		/* nothing follows it */
} CalleeAnswer;

/*
 * Reads an envelope that was made from an answer.  Returns false if it says
 * nothing that is to be reported.  Raises an error if it is no answer.  The
 * caller has set "made" and "is_last".
 */
extern bool callee_read_answer(const Call *call, const Endpoint *endpoint, Jsonb *document, CalleeAnswer *answer);

/*
 * Returns the payload of a progress.  If it would suspend the task, it is moved
 * into "data": what the task would wait for is an order to the database, which
 * nobody outside can give.
 */
extern Jsonb *callee_progress(Jsonb *payload);

extern Jsonb *callee_error_payload(const char *code, const char *message, bool retryable);

/*
 * Returns the meta of a report.  Orders to the database are removed, except
 * for the usage.
 */
extern Jsonb *callee_meta(JsonbContainer *meta, Slice reply_to);

#endif							/* CLUTCH_CALLEE_PART_H */
