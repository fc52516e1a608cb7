/*-------------------------------------------------------------------------
 *
 * emission.h
 *	  Requests that rules add to an event (routing/rule.h).
 *
 * Such a request belongs to the run of the event, and its task is a child of
 * the event's task.  The orchestrator sends it before the transaction commits,
 * as a consequence.  Its identifiers are derived from the rule and the event,
 * so it is sent only once.  It has the security policy of the request of the
 * event's task.  Its meta.rule holds the "name" of the rule; the ID of the
 * "event"; the "sender" on whose behalf the request is made
 * (routing/requirement.h), unless that is the rule itself; and "shared", if
 * the event is a request that was shared out.  A rule adds nothing to tasks
 * that it has requested itself, nor to tasks below them, unless it has opt_in.
 *
 * A rule that shares requests out (emit with "to": "matched") replaces the
 * request by requests of its own if there are several agents for it: each of
 * them, up to RULE_MOST_REQUESTS, gets a child, and nobody gets the request
 * itself.  That task waits for its children in the same way as for the tasks
 * of meta.clutch.after (task/edge.h).  An event of the log says that it is
 * shared out, among whom, and how many were left out.  The seq of this event
 * stays the wait_seq of the task.  The children are requested after it, as a
 * consequence.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EMISSION_H
#define CLUTCH_EMISSION_H

#include "flow/agenda.h"
#include "routing/rule.h"
#include "store/event.h"
#include "task/task.h"

/*
 * Puts the rules that add requests to an event, which is being admitted, on
 * the agenda.
 */
extern void emission_note(const Event *event);

/*
 * Handles CONSEQUENCE_EMIT.  Returns false if something was locked, so that it
 * must be tried again later.
 */
extern bool emission_settle(const Consequence *consequence);

/* --- requests that are shared out --- */

/*
 * Shares the task out if a rule says so, and returns whether it has.  The task
 * must be locked and pending; it is saved.  A task that has been given to an
 * agent, or that waits in a queue, is not shared out.
 */
extern bool emission_share(Task *task, const Envelope *request, const Requirement *requirement);

/*
 * Would a new request be shared out?  Fills in *sharing, and changes nothing.
 * A step of a workflow is recognized only if the request names it.
 */
extern bool emission_would_share(const Envelope *request, const Requirement *requirement, Sharing *sharing);

/*
 * Returns the request that the n-th recipient of the sharing would get,
 * palloc'd.
 */
extern Jsonb *emission_would_request(const Envelope *request, const Requirement *requirement,
									 const Sharing *sharing, int n);

/*
 * Does the work of emission_share in a rebuild, after the event that says so
 * has been applied.
 */
extern void emission_replay_share(const Task *task, const Envelope *event);

/*
 * Handles CONSEQUENCE_SHARE: requests the children that are missing, or fails
 * the task.
 */
extern bool emission_settle_share(const Consequence *consequence);

/*
 * Completes the task, which is locked, with the results of its children, all
 * of which are completed.
 */
extern void emission_collect(Task *task);

#endif							/* CLUTCH_EMISSION_H */
