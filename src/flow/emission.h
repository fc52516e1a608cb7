/*-------------------------------------------------------------------------
 *
 * emission.h
 *	  The requests that rules add to an event (routing/rule.h).
 *
 * Such a request belongs to the run of the event, and its task is a child of the event's
 * task.  The orchestrator sends it before the transaction commits, as a consequence.  Its
 * identifiers are derived from the rule and the event, so it exists only once.  It has the
 * security policy of the request of the event's task.  Its meta.rule has the "name" of the
 * rule, the ID of the "event", the "sender" on whose behalf the request is made
 * (routing/requirement.h), if it is not made on behalf of the rule, and "shared", if the event
 * is a request that was shared out.  A rule adds nothing to tasks that it has requested itself,
 * nor to tasks below them, unless it has opt_in.
 *
 * A rule that shares requests out (emit with "to": "matched") puts its requests in the place
 * of the one that it fits, if there are several agents for it: each of them, up to
 * RULE_MOST_REQUESTS, gets a child, and the request is given to nobody.  It waits for its
 * children as it would wait for the tasks of meta.clutch.after (task/edge.h).  That it is
 * shared out, among whom, and how many were left out, is an event of the log, whose seq is
 * the wait_seq of the task for good; only then are the children requested, as a consequence.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EMISSION_H
#define CLUTCH_EMISSION_H

#include "flow/agenda.h"
#include "routing/rule.h"
#include "store/event.h"
#include "task/task.h"

/* Puts the rules that add requests to an event, which is being admitted, on the agenda. */
extern void emission_note(const Event *event);

/* Handles CONSEQUENCE_EMIT.  Returns false if it must be tried again later, because something was locked. */
extern bool emission_settle(const Consequence *consequence);

/* --- requests that are shared out --- */

/*
 * Shares the task out if a rule says so, and returns whether it has.  The task is locked
 * and pending; it is saved.  One that has been given to an agent, or waits in a queue, is
 * not shared out.
 */
extern bool emission_share(Task *task, const Envelope *request, const Requirement *requirement);

/*
 * Would a request that has just come be shared out?  Fills the sharing; nothing happens.  A
 * step of a workflow is recognized only if the request names it.
 */
extern bool emission_would_share(const Envelope *request, const Requirement *requirement, Sharing *sharing);

/* emission_share in a rebuild, after the event was applied; the event is that which says so. */
extern void emission_replay_share(const Task *task, const Envelope *event);

/* Handles CONSEQUENCE_SHARE: requests the children that are missing, or fails the task. */
extern bool emission_settle_share(const Consequence *consequence);

/* All children of the task, which is locked, are completed: it is completed with their results. */
extern void emission_collect(Task *task);

#endif							/* CLUTCH_EMISSION_H */
