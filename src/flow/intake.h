/*-------------------------------------------------------------------------
 *
 * intake.h
 *	  What a task event does: judged under the task's lock, then applied.
 *
 * Each takes an event that is well formed and whose sender is who it says,
 * and fills seq, scope, attempt and late.  false: it was there already.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_INTAKE_H
#define CLUTCH_INTAKE_H

#include "store/event.h"

extern bool intake_request(Event *event);
extern bool intake_report(Event *event);

#endif							/* CLUTCH_INTAKE_H */
