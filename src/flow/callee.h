/*-------------------------------------------------------------------------
 *
 * callee.h
 *	  Agents, and servers of tools, that are behind an endpoint and need no process.
 *
 * A task that is given to an agent which an endpoint serves is accepted in the agent's name, for
 * as long as the endpoint has patience, and becomes a call of the outbox.  What the other
 * side answers is reported in the agent's name.  Of an answer, only what a report consists
 * of is taken: its kind, payload, attachments and notes.  Whatever it says of runs, tasks
 * and senders does not count, so the other side can end its own task and touch no other.
 *
 * A tool.call to a tool of a server that an endpoint serves, as agent:mcp.<server>, becomes a
 * call in the same way, and its answer a tool.result or tool.error.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CALLEE_H
#define CLUTCH_CALLEE_H

#include "flow/agenda.h"
#include "outbox/call.h"
#include "store/event.h"

/* The endpoints have changed: tasks that are ready for agents which they serve are called for. */
extern void callee_call_ready(void);

/* CONSEQUENCE_CALL: the task has been given to such an agent; false: to be tried later */
extern bool callee_settle(const Consequence *consequence);

/*
 * A tool.call that is at the door, and has its seq.  Raises 42501 ENDPOINT_NOT_ALLOWED if an
 * endpoint serves the tool, and its sender may not use it.
 */
extern void callee_note_tool_call(const Event *event);

/* Does anybody still want the answer?  Always true for calls that have none. */
extern bool callee_is_awaited(const Call *call);

/* What the documents of an answer are translated with: the ID of the agent or server, its run and task. */
extern Jsonb *callee_context(const Call *call, const Endpoint *endpoint);

/* The time until which an answer is awaited; 0: there is no such time. */
extern TimestampTz callee_awaited_until(const Call *call);

/* Is it a call to an agent or a tool, whose answer is reported? */
extern bool callee_answers(const Call *call);

/*
 * Reports what an envelope says that was made of an answer.  is_last: nothing follows.
 * Returns whether this ended the answer.  Raises 22023 if it cannot be an answer.
 */
extern bool callee_report(const Call *call, const Endpoint *endpoint, Jsonb *envelope, bool is_last);

/* The same for a document of no dialect: it is the payload of a result or of a progress. */
extern bool callee_report_payload(const Call *call, const Endpoint *endpoint, Jsonb *payload, bool is_last);

/* Reports a failure, which is worth trying again.  The endpoint may be gone (NULL). */
extern void callee_report_failure(const Call *call, const Endpoint *endpoint, const char *code, const char *message);

#endif							/* CLUTCH_CALLEE_H */
