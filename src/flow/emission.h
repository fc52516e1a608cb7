/*-------------------------------------------------------------------------
 *
 * emission.h
 *	  The requests that rules add to an event (routing/rule.h).
 *
 * Such a request belongs to the run of the event, and its task is a child of the event's
 * task.  The orchestrator sends it before the transaction commits, as a consequence.  Its
 * identifiers are derived from the rule and the event, so it exists only once.  It has the
 * security policy of the request of the event's task, and its meta.rule, {"name",
 * "event"}, names the rule and the event.  A rule adds nothing to tasks that it has
 * requested itself, nor to tasks below them, unless it has opt_in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EMISSION_H
#define CLUTCH_EMISSION_H

#include "flow/agenda.h"
#include "store/event.h"

/* Puts the rules that add requests to an event, which is being admitted, on the agenda. */
extern void emission_note(const Event *event);

/* Handles CONSEQUENCE_EMIT.  Returns false if it must be tried again later, because something was locked. */
extern bool emission_settle(const Consequence *consequence);

#endif							/* CLUTCH_EMISSION_H */
