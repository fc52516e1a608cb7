/*-------------------------------------------------------------------------
 *
 * callee.h
 *	  Agents and servers of tools that are reached through an endpoint, and need no
 *	  process of their own here.
 *
 * If an endpoint serves an agent, a task that the agent gets is accepted in its name, with
 * the patience of the endpoint as the lease, and becomes a call of the outbox.  The answer
 * is reported in the name of the agent.  Only its type, payload, attachments and notes are
 * used.  What it says about runs, tasks and senders is ignored, so the other side can
 * report on this task and on no other.
 *
 * If an endpoint serves agent:mcp.<server>, a tool.call to a tool of that server becomes a
 * call in the same way, and its answer becomes a tool.result or tool.error.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CALLEE_H
#define CLUTCH_CALLEE_H

#include "flow/agenda.h"
#include "outbox/call.h"
#include "store/event.h"

/*
 * After the endpoints have changed, or something was resumed: writes the calls for tasks that
 * are ready for agents with endpoints, and lets those that were not heard of take work again.
 */
extern void callee_take_up(void);

/*
 * A part of a tick: writes the calls that callee_take_up could not, because the transaction that
 * gave the agent the task did not see the endpoint, nor was it seen.  Takes up at most n tasks of
 * each agent; the next tick goes on.  Looks only if the last look is some time ago.  Returns 0.
 */
extern int	callee_watch(int n);

/* when to look again; DT_NOEND: no agent is served */
extern TimestampTz callee_next(void);

/* Handles CONSEQUENCE_CALL: such an agent has got a task.  Returns false if it must be tried again later. */
extern bool callee_settle(const Consequence *consequence);

/*
 * Writes the call for a tool.call that is being admitted and has its seq, if an endpoint
 * serves the tool.  Raises 42501 ENDPOINT_NOT_ALLOWED if the sender may not use it.
 */
extern void callee_note_tool_call(const Event *event);

/* Does anybody still wait for the answer?  True for calls without an answer. */
extern bool callee_is_awaited(const Call *call);

/*
 * Is it the call of a tool for a task that was cancelled or has timed out since, so that what the
 * tool would do is not wanted any more?  A task that has ended by itself may leave calls behind.
 */
extern bool callee_is_called_off(const Call *call);

/* The context in which the documents of an answer are translated: the agent or server, the run and the task. */
extern Jsonb *callee_context(const Call *call, const Endpoint *endpoint);

/* The event with the question of the agent that the call answers; NULL: the call answers none. */
extern Jsonb *callee_question(const Call *call);

/* The event that requested the task; 0: nobody waits for the answer any more. */
extern int64 callee_request_seq(const Call *call);

/* The time until which the answer is awaited; 0: there is no limit. */
extern TimestampTz callee_awaited_until(const Call *call);

/* Is it a call to an agent or a tool, so that its answer is reported? */
extern bool callee_answers(const Call *call);

/* how far an answer has got */
typedef enum CalleeState
{
	CALLEE_GOES_ON,				/* that was its progress */
	CALLEE_ENDED,
	CALLEE_UNWANTED				/* the task was taken from the agent, perhaps while the report waited for it */
} CalleeState;

/*
 * Reports an envelope that was made of an answer.  is_last: it is the last one.  Raises
 * 22023 if such an envelope cannot be an answer.  Of the artifacts that the envelope attaches,
 * it may use those that "made" refers to, a List of Slice *, and those that the agent may read.
 */
extern CalleeState callee_report(const Call *call, const Endpoint *endpoint, Jsonb *envelope, const List *made, bool is_last);

/* The same for a document of no dialect, which becomes the payload of a result or of progress. */
extern CalleeState callee_report_payload(const Call *call, const Endpoint *endpoint, Jsonb *payload, bool is_last);

/*
 * Reports a failure that may be retried.  The endpoint is NULL if it has been deleted.  Returns
 * CALLEE_UNWANTED if the report came too late to change anything.
 */
extern CalleeState callee_report_failure(const Call *call, const Endpoint *endpoint, const char *code, const char *message);

#endif							/* CLUTCH_CALLEE_H */
