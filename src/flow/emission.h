/*-------------------------------------------------------------------------
 *
 * emission.h
 *	  The requests that rules add to an event (routing/rule.h).
 *
 * Such a request belongs to the run of the event, and its task is a child of the
 * event's.  It is sent by the orchestrator before the transaction commits, as a
 * consequence, and its identifiers are derived from the rule and the event, so it is
 * there once.  It has the policy of the request of the event's task.  In
 * meta.rule, {"name", "event"}, it says where it comes from: a rule adds nothing to
 * the tasks that it has requested itself, nor to those below them, unless the workflow
 * of the run opts into it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EMISSION_H
#define CLUTCH_EMISSION_H

#include "flow/agenda.h"
#include "store/event.h"

/* An event is admitted: what rules add to it goes to the agenda. */
extern void emission_note(const Event *event);

/* CONSEQUENCE_EMIT; false: something is busy, so this is to be tried later */
extern bool emission_settle(const Consequence *consequence);

#endif							/* CLUTCH_EMISSION_H */
