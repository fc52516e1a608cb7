/*-------------------------------------------------------------------------
 *
 * callee.h
 *	  Agents and tool servers that are reached through an endpoint, and need no
 *	  process of their own here.
 *
 * If an endpoint serves an agent, a task that the agent gets is accepted in
 * its name, with the patience of the endpoint as the lease, and becomes a call
 * in the outbox.  The answer is reported in the name of the agent.  Only its
 * type, payload, attachments and notes are used.  What it says about runs,
 * tasks and senders is ignored, so that the other side can report only on this
 * task.
 *
 * If an endpoint serves agent:mcp.<server>, a tool.call to a tool of that
 * server becomes a call in the same way, and its answer becomes a tool.result
 * or tool.error.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CALLEE_H
#define CLUTCH_CALLEE_H

#include "flow/agenda.h"
#include "outbox/call.h"
#include "store/event.h"

/*
 * Writes the calls for tasks that are ready for agents with endpoints, and
 * makes those agents available again that were declared UNAVAILABLE.  To be
 * called after endpoints have changed, or something was resumed.
 */
extern void callee_take_up(void);

/*
 * As part of a tick, writes the calls that callee_take_up could not write,
 * because the transaction that gave the agent the task and the one that made
 * the endpoint did not see each other.  Takes up at most n tasks of each
 * agent; the next tick continues.  Does nothing if the last look was only a
 * short time ago.
 */
extern void callee_watch(int n);

/* Returns when to look again, or DT_NOEND if no agent is served. */
extern TimestampTz callee_next(void);

/*
 * Handles CONSEQUENCE_CALL, that is, a task that such an agent has got.
 * Returns false if it must be tried again later.
 */
extern bool callee_settle(const Consequence *consequence);

/*
 * Returns the agent that stands for the server of a tool, "mcp:<server>" or
 * "mcp:<server>/<tool>", palloc'd, or an absent slice for any other tool.
 */
extern Slice callee_server_of(Slice tool);

/*
 * If an endpoint serves the tool, writes the call for a tool.call that is
 * being admitted and has its seq.  Raises 42501 ENDPOINT_NOT_ALLOWED if the
 * sender may not use the endpoint.
 */
extern void callee_note_tool_call(const Event *event);

/*
 * To be called when a call is handed out.  The call may have waited for a
 * gateway, so the patience begins anew with its first attempt.  Does not wait
 * for a transaction that has locked the task.
 */
extern void callee_note_claimed(const Call *call, const Endpoint *endpoint);

/*
 * Is anybody still waiting for the answer?  True for calls that expect no
 * answer.
 */
extern bool callee_is_awaited(const Call *call);

/*
 * Has the agent asked a question in this attempt that nobody has answered?  An
 * A2A agent that waits for a login may go on by itself, so its further documents
 * are accepted; but the call is not sent again.
 */
extern bool callee_has_asked(const Call *call);

/*
 * Is it a cancellation of a task that has been taken up again since?  Its agent
 * may be at work on it.
 */
extern bool callee_goes_on(const Call *call);

/*
 * Is it the cancellation of a task whose agent has ended all its attempts
 * itself?  False if the events of the task are no longer in the log.
 */
extern bool callee_has_ended(const Call *call);

/*
 * Is it the call of a tool for a task that has been cancelled or has timed out
 * since, so that the effect of the tool is no longer wanted?  A task that
 * ended normally may leave calls behind.
 */
extern bool callee_is_called_off(const Call *call);

/*
 * Returns the context in which the documents of an answer are translated: the
 * agent or server, the run and the task.
 */
extern Jsonb *callee_context(const Call *call, const Endpoint *endpoint);

/* Does a progress with this payload, which may be NULL, ask for something? */
extern bool callee_asks(JsonbContainer *payload);

/*
 * Returns the event with the agent's question that the call answers, or NULL
 * if it answers none.
 */
extern Jsonb *callee_question(const Call *call);

/*
 * Returns the seq of the event that requested the task, or 0 if nobody is
 * waiting for the answer any more.
 */
extern int64 callee_request_seq(const Call *call);

/* Returns the thread of this task, or an absent slice. */
extern Slice callee_thread(const Call *call);

/* the events that the agent was sent for a task; all 0 if there is no such task */
typedef struct CalleeSent
{
	int64		seq;			/* the last one: the request or an answer */
	int64		question_seq;	/* the question that the answer is for, or 0 */
	int64		request_seq;
} CalleeSent;

/* Returns what the agent has been sent for the task. */
extern CalleeSent callee_sent(Slice task_id);

/* Returns how long the answer is awaited, or 0 if there is no limit. */
extern TimestampTz callee_awaited_until(const Call *call);

/* Is it a call to an agent or a tool, whose answer is reported? */
extern bool callee_answers(const Call *call);

/* how far an answer has got */
typedef enum CalleeState
{
	CALLEE_GOES_ON,				/* the report was progress */
	CALLEE_ENDED,
	CALLEE_UNWANTED				/* the task was taken from the agent, perhaps
								 * while the report was waiting for it */
} CalleeState;

/*
 * Is the envelope to be left out of what is reported?  True for stubs, which
 * only stand for what was sent, and for calls of tools that are in the message
 * before them.
 */
extern bool callee_passes_over(const Endpoint *endpoint, Jsonb *envelope);

/*
 * Reports an envelope that was made from an answer.  is_last says that it is
 * the last one.  Of the artifacts that the envelope attaches, it may use those
 * that "made" refers to, a List of Slice *, and those that the agent may read.
 * Raises 22023 if such an envelope cannot be an answer.
 */
extern CalleeState callee_report(const Call *call, const Endpoint *endpoint, Jsonb *envelope, const List *made, bool is_last);

/*
 * The same for a document of no particular dialect, which is an object and
 * becomes the payload of a result or of progress.  "meta" may be NULL.
 */
extern CalleeState callee_report_payload(const Call *call, const Endpoint *endpoint, Jsonb *payload, Jsonb *meta, bool is_last);

/* the code of a failure after which nobody knows whether the call has arrived */
#define CALLEE_UNAVAILABLE	"UNAVAILABLE"

/* the code of a failure that blames the request, which would fail again */
#define CALLEE_REJECTED	"REJECTED"

/*
 * Makes a call a dead letter, and reports the failure to whoever waits for the
 * answer.  The failure is retryable unless its code is CALLEE_REJECTED.  If the
 * report comes too late to change anything, the call becomes void instead.  The
 * endpoint is NULL if it has been deleted.
 */
extern void callee_give_up(Call *call, const Endpoint *endpoint, int status, const char *code, const char *failure);

#endif							/* CLUTCH_CALLEE_H */
