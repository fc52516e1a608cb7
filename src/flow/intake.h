/*-------------------------------------------------------------------------
 *
 * intake.h
 *	  Taking task events in: each is judged under the lock of its task, and
 *	  then applied.
 *
 * The event passed to these functions must be well formed, and its sender must
 * have been checked.  They fill in seq, scope, attempt and late.  They return
 * false if the event was already in the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_INTAKE_H
#define CLUTCH_INTAKE_H

#include "store/event.h"

extern bool intake_request(Event *event);
extern bool intake_report(Event *event);

/*
 * Would one of them return false?  For an event that will be refused otherwise.
 */
extern bool intake_was_seen(Event *event);

#endif							/* CLUTCH_INTAKE_H */
