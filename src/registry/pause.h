/*-------------------------------------------------------------------------
 *
 * pause.h
 *	  Pauses: agents and capabilities that get no new work until they are
 *	  resumed.  These are rows of clutch.pause.
 *
 * While something is paused, no tasks for it are routed or claimed; running
 * tasks continue.  The roster knows what is paused (registry/roster.h), so if
 * nothing is paused, this costs a choice one comparison.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PAUSE_H
#define CLUTCH_PAUSE_H

#include "datatype/timestamp.h"
#include "protocol/envelope.h"

/*
 * Makes other transactions that pause or resume the same wait until this one
 * ends, so that its events are in the order in which they take effect.  To be
 * called before the row of an agent is locked.
 */
extern void pause_lock(Slice what);

/*
 * Applies an event that pauses or resumes something, as its move says. seq and
 * at are those of the event.
 */
extern void pause_apply(const Envelope *envelope, int64 seq, TimestampTz at);

extern void pause_put(Slice what, int64 seq, TimestampTz since, Slice by_agent, Slice reason);
/* Returns false if it is not paused. */
extern bool pause_remove(Slice what);

#endif							/* CLUTCH_PAUSE_H */
