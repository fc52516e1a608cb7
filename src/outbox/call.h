/*-------------------------------------------------------------------------
 *
 * call.h
 *	  Calls to other systems: rows of clutch.outbox.
 *
 * A call is written in the transaction that causes it.  If that commits, the call is sent
 * at least once; if not, it is never sent.  No backend opens a socket: a gateway claims
 * calls (call_claim), sends them, and reports the outcome (api/gateway_fn).
 *
 *		pending		to be sent at due_at; while a gateway has leased the call, due_at is
 *					the end of the lease, so the call of a gateway that has died becomes
 *					due again by itself
 *		sent		sent successfully; removed after clutch.outbox_keep
 *		dead		given up; stays until an operator removes it or has it sent again
 *		void		no longer needed, for example because nobody waits for the answer; removed
 *					after clutch.outbox_keep
 *
 * Gateways that listen are notified of new calls (wake/notify.h), but not when the pause
 * after a failure has ended, so they must also look from time to time.
 *
 * "attempt" counts how often a call was claimed, and is the fencing token of a gateway.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CALL_H
#define CLUTCH_CALL_H

#include "base/rows.h"
#include "outbox/endpoint.h"

typedef enum CallKind
{
	CALL_POST,					/* "post": an agent has sent it by clutch.post */
	CALL_EVENT,					/* "event": an event for a webhook */
	CALL_TASK,					/* "task": a task for its agent, which answers */
	CALL_TOOL					/* "tool": a tool.call for the server of the tool, which answers */
} CallKind;
#define NUM_CALL_KINDS	(CALL_TOOL + 1)

typedef enum CallState
{
	CALL_PENDING,
	CALL_SENT,
	CALL_DEAD,
	CALL_VOID
} CallState;
#define NUM_CALL_STATES	(CALL_VOID + 1)

/* absent Slices, NULL and 0 stand for NULL in the table */
typedef struct Call
{
	ItemPointerData tid;
	int64		no;				/* calls with the same due_at are claimed in this order */
	Slice		id;				/* sent to the other side as webhook-id */
	Slice		endpoint;
	CallState	state;
	CallKind	kind;
	int64		seq;			/* of the event that is sent, or 0 if "body" is sent */
	Jsonb	   *body;
	Slice		agent_id;		/* the sender; of a CALL_TASK, the recipient */
	Slice		run_id;
	Slice		task_id;
	int			task_attempt;
	int			attempt;
	TimestampTz due_at;
	TimestampTz lease_until;
	TimestampTz created_at;
	TimestampTz finished_at;
	TimestampTz remove_at;
	int			status;			/* the status of HTTP of the last attempt */
	Slice		failure;			/* why the last attempt failed */
	int			attempts_before;	/* of "attempt", those before call_revive */
	int			part;			/* of the answer, the last one of this attempt that has a number */
} Call;

extern const char *call_kind_name(CallKind kind);
extern const char *call_state_name(CallState state);

/* how often it was claimed since it was new, or revived */
extern int	call_attempts(const Call *call);

/* Writes a new call, and sets its no, its id if it is absent, its state and its times. */
extern void call_put(Call *call);

/*
 * Claims at most n calls that are due, leases them for so many microseconds, and counts the
 * attempts.  Returns them as a List of Call *, in the order in which they became due; while
 * any endpoint is paused, the calls of each endpoint are together.  Never waits: calls
 * that another session has locked are skipped.
 */
extern List *call_claim(int n, int64 lease);

/*
 * Locks the call, and waits for another transaction that has locked it.
 * Returns NULL if there is no such call.
 */
extern Call *call_lock(Slice id);

/* Ends a call that is locked, in this state, and saves it. */
extern void call_end(Call *call, CallState state, int status, const char *failure);

/*
 * Saves that an attempt has failed: the call is due again after the pause of its endpoint, or
 * after retry_after seconds if that is longer.  Saves nothing, and returns false, if this was
 * the last attempt, or if the next one would come after "until" (0: no limit); then the caller
 * ends the call.
 */
extern bool call_fail(Call *call, const Endpoint *endpoint, int status, const char *failure,
					  int64 retry_after, TimestampTz until);

/*
 * Makes a call that is locked due at once, in any state, with as many attempts as a new one
 * has.  The number of the next attempt is a new one, so no gateway can report it that has had
 * the call before.
 */
extern void call_revive(Call *call);

/* Extends the lease of a call of which a part of the answer has arrived. */
extern void call_extend(Call *call, int64 lease);

/* Removes a call that is locked. */
extern void call_remove(Call *call);

/* Removes at most n calls whose remove_at has passed, and returns the number of them. */
extern int	call_sweep(int n);

#endif							/* CLUTCH_CALL_H */
