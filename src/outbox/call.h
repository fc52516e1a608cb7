/*-------------------------------------------------------------------------
 *
 * call.h
 *	  What the database has to say to others: rows of clutch.outbox.
 *
 * A call is written in the transaction that causes it, so it is made if and only if
 * that commits, at least once.  No backend opens a socket: a gateway claims calls
 * (call_claim), sends them, and says how that ended (api/outbox_fn).
 *
 *		pending		to be sent at due_at; while a gateway has it, due_at is the end of
 *					its lease, so a call whose gateway has died comes back by itself
 *		sent		it was answered with success; removed after clutch.outbox_keep
 *		dead		it was given up, and stays until an operator removes it or tries
 *					it again
 *		void		nobody wants the answer any more; removed as if it were sent
 *
 * Gateways that listen are woken when a call is due that was not (wake/notify.h), but not
 * when the pause after a failure is over: they look by themselves from time to time.
 *
 * attempt counts how often it was claimed, and is the fencing token of a gateway.
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
	CALL_EVENT,					/* "event": of a webhook */
	CALL_TASK,					/* "task": to the agent that has the task, which answers */
	CALL_TOOL					/* "tool": a tool.call to the server of the tool, which answers */
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
	int64		no;				/* in this order calls that are due at once are claimed */
	Slice		id;				/* what the other side knows it by: webhook-id */
	Slice		endpoint;
	CallState	state;
	CallKind	kind;
	int64		seq;			/* of the event that is sent; 0: */
	Jsonb	   *body;			/* the document that is sent */
	Slice		agent_id;		/* who sends it, or, of CALL_TASK, to whom it is sent */
	Slice		run_id;
	Slice		task_id;
	int			task_attempt;
	int			attempt;
	TimestampTz due_at;
	TimestampTz lease_until;
	TimestampTz created_at;
	TimestampTz finished_at;
	TimestampTz remove_at;
	int			status;			/* of HTTP, the last one */
	Slice		failure;			/* why the last attempt failed */
} Call;

extern const char *call_kind_name(CallKind kind);
extern const char *call_state_name(CallState state);

/* Writes a new one; sets no, id and the times, which are 0 so far. */
extern void call_put(Call *call);

/*
 * Claims at most n calls that are due, and leases them for so many microseconds.  Returns
 * them as a List of Call *, whose attempts have been counted, the longest due first; while
 * an endpoint is paused, those of one endpoint together.  Calls that another session
 * is claiming are passed over: this never waits.
 */
extern List *call_claim(int n, int64 lease);

/* Locks the call; waits for a transaction that has it.  NULL: there is none. */
extern Call *call_lock(Slice id);

/* How a call that is locked ends, and is saved. */
extern void call_end(Call *call, CallState state, int status, const char *failure);

/*
 * An attempt has failed.  The call is dead if it was the last one, or if the next one
 * would come after until (0: never too late); otherwise it is due after the pause of
 * its endpoint, or retry_after seconds if that is longer.
 */
extern void call_fail(Call *call, const Endpoint *endpoint, int status, const char *failure,
					  int64 retry_after, TimestampTz until);

/* It is to be sent once more, from now on: its attempts begin anew. */
extern void call_revive(Call *call);

/* The gateway goes on with the call, of which a part of the answer has come. */
extern void call_extend(Call *call, int64 lease);

/* Removes a call that is locked. */
extern void call_remove(Call *call);

/* Removes at most n calls that have been over for long enough, and returns how many it removed. */
extern int	call_sweep(int n);

#endif							/* CLUTCH_CALL_H */
