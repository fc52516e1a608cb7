/*-------------------------------------------------------------------------
 *
 * pause.h
 *	  Agents and capabilities that get no new work until they are resumed:
 *	  rows of clutch.pause.
 *
 * What is paused is routed to nobody and claimed by nobody; what runs goes on.
 * The roster knows what is paused (registry/roster.h), so a choice that nothing
 * is paused for pays for one comparison.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PAUSE_H
#define CLUTCH_PAUSE_H

#include "datatype/timestamp.h"
#include "protocol/envelope.h"

/*
 * Makes others that pause or resume anything wait until this transaction ends,
 * so that the events have the order in which they take effect.
 */
extern void pause_lock(void);

/* an event that pauses or resumes something, by its move; seq and at are its own */
extern void pause_apply(const Envelope *envelope, int64 seq, TimestampTz at);

extern void pause_put(Slice what, int64 seq, TimestampTz since, Slice by_agent, Slice reason);
/* Returns false if it is not paused. */
extern bool pause_remove(Slice what);

#endif							/* CLUTCH_PAUSE_H */
