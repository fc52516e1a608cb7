/*-------------------------------------------------------------------------
 *
 * admit_fn.h
 *	  Admitting an envelope, also for callers that do not use INSERT
 *	  (store/event.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ADMIT_FN_H
#define CLUTCH_ADMIT_FN_H

#include "store/event.h"

/*
 * Judges an envelope and applies its effect.  Fills in the event, whose row
 * the caller then writes.  Returns false if it is a resend, whose row is
 * dropped.  The receipt is left in both cases (event_leave_receipt).
 */
extern bool admit_envelope(Jsonb *document, Event *event);

/* Notifies listeners of an event, and writes the calls for webhooks. */
extern void admit_announce(const Event *event);

#endif							/* CLUTCH_ADMIT_FN_H */
