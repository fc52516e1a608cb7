/*-------------------------------------------------------------------------
 *
 * call.h
 *	  Calls to other systems: rows of clutch.outbox.
 *
 * A call is written in the transaction that causes it.  If that transaction
 * commits, the call is sent at least once; otherwise it is never sent.  No
 * backend opens a socket.  Gateways, which are separate programs, claim calls
 * (call_claim), send them, and report the outcome (api/gateway_fn).
 *
 *		pending		to be sent at due_at; while a gateway has leased the call,
 *					due_at is the end of the lease, so the call of a crashed
 *					gateway becomes due again by itself
 *		sent		sent successfully; removed after clutch.outbox_keep
 *		dead		given up; stays until an operator removes it or has it sent
 *					again
 *		void		no longer needed, for example because nobody waits for the
 *					answer; removed after clutch.outbox_keep
 *
 * Gateways that listen are notified of new calls (wake/notify.h), but not of
 * the end of the pause after a failure, so they must also poll from time to
 * time.
 *
 * "attempt" counts how often a call was claimed.  Gateways use it as a fencing
 * token.
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
	CALL_TOOL,					/* "tool": a tool.call for the server of the tool, which answers */
	CALL_CANCEL					/* "cancel": the end of a CALL_TASK that its agent has not reported */
} CallKind;
#define NUM_CALL_KINDS	(CALL_CANCEL + 1)

typedef enum CallState
{
	CALL_PENDING,
	CALL_SENT,
	CALL_DEAD,
	CALL_VOID
} CallState;
#define NUM_CALL_STATES	(CALL_VOID + 1)

/* the failure of a call that has become void because its task is over */
#define CALL_UNWANTED	"nobody waits for the answer any more"

/* In the table, absent Slices, NULL pointers and zeros are stored as NULL. */
typedef struct Call
{
	ItemPointerData tid;
	int64		no;				/* calls with the same due_at are claimed in this order */
	Slice		id;				/* sent to the other side as webhook-id */
	Slice		endpoint;
	CallState	state;
	CallKind	kind;
	int64		seq;			/* of the event to send, or 0 if "body" is sent */
	Jsonb	   *body;
	Slice		agent_id;		/* the sender; for a CALL_TASK or CALL_CANCEL,
								 * the recipient */
	Slice		run_id;
	Slice		task_id;
	int			task_attempt;
	int			attempt;
	TimestampTz due_at;
	TimestampTz lease_until;
	TimestampTz created_at;
	TimestampTz finished_at;
	TimestampTz remove_at;
	int			status;			/* HTTP status of the last attempt */
	Slice		failure;			/* why the last attempt failed */
	int			attempts_before;	/* value of "attempt" before call_revive */
	int			part;			/* number of the last part of the answer that
								 * this attempt has reported */
} Call;

extern const char *call_kind_name(CallKind kind);
extern const char *call_state_name(CallState state);

/*
 * Returns how often the call has been claimed since it was created or revived.
 */
extern int	call_attempts(const Call *call);

/*
 * Inserts a new call, and sets its no, its id if that is absent, its state and
 * its times.
 */
extern void call_put(Call *call);

/*
 * Inserts a call that has an id, unless there is one with this id.  If that one
 * has become void or was given up, it is to be sent after all, with the event of
 * the new one, to its endpoint.
 */
extern void call_put_again(Call *call);

/*
 * Claims at most n calls that are due, leases them for "lease" microseconds,
 * and counts the attempts.  Returns a List of Call *, in the order in which
 * they became due; while any endpoint is paused, the calls are grouped by
 * endpoint.  Never waits: calls that another session has locked are skipped.
 */
extern List *call_claim(int n, int64 lease);

/*
 * Is there a call for this attempt of a task that no gateway has claimed yet?
 * "since" is a time before the call was written.  Only the next calls of the
 * endpoint after it are looked at.
 */
extern bool call_is_unclaimed(Slice endpoint, Slice task_id, int task_attempt, TimestampTz since);

/*
 * If there is such a call, and no gateway is claiming it right now, ends it as
 * CALL_VOID, and returns the seq of the event that it would have sent.
 * Returns 0 otherwise, and also if a gateway had claimed the call before
 * call_revive.
 */
extern int64 call_withdraw(Slice endpoint, Slice task_id, int task_attempt, TimestampTz since);

/*
 * Locks the call, waiting for another transaction that has locked it.  Returns
 * NULL if there is no such call.
 */
extern Call *call_lock(Slice id);

/*
 * Returns the beginning of a failure text, as much of it as is kept.  The other
 * side may have written the text, and it may be some megabytes long.
 */
extern Slice call_clip_failure(const char *failure);

/* Ends a locked call in this state, and saves it. */
extern void call_end(Call *call, CallState state, int status, const char *failure);

/*
 * Saves that an attempt has failed.  The call becomes due again after the
 * pause of its endpoint, or after retry_after seconds if that is longer.  If
 * this was the last attempt, or if the next one would come after "until" (0
 * means no limit), saves nothing and returns false; the caller must end the
 * call then.
 */
extern bool call_fail(Call *call, const Endpoint *endpoint, int status, const char *failure,
					  int64 retry_after, TimestampTz until);

/*
 * Makes a locked call due at once, whatever its state, with as many attempts
 * left as a new call has.  Its next attempt gets a new number, so that no
 * gateway that had the call before can report on it.
 */
extern void call_revive(Call *call);

/*
 * Returns the endpoint that a call goes to although the one that it names does
 * not exist, or NULL if there is none.  The transaction that wrote the call may
 * not have seen that the endpoint was renamed.  A call to an agent goes to the
 * endpoint that serves the agent now.
 */
extern const Endpoint *call_successor(const Call *call);

/* Sends a locked call to another endpoint. */
extern void call_redirect(Call *call, Slice endpoint);

/* Extends the lease of a call after part of its answer has arrived. */
extern void call_extend(Call *call, int64 lease);

/* Removes a locked call. */
extern void call_remove(Call *call);

/* Removes at most n calls whose remove_at has passed, and returns how many. */
extern int	call_sweep(int n);

#endif							/* CLUTCH_CALL_H */
