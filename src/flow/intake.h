/*-------------------------------------------------------------------------
 *
 * intake.h
 *	  What a task event does: it is judged under its task's lock, then applied.
 *
 * Each function takes an event that is well formed and whose sender is the agent
 * it names, and fills in seq, scope, attempt and late.  It returns false if the
 * event was there already.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_INTAKE_H
#define CLUTCH_INTAKE_H

#include "store/event.h"

extern bool intake_request(Event *event);
extern bool intake_report(Event *event);

#endif							/* CLUTCH_INTAKE_H */
