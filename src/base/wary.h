/*-------------------------------------------------------------------------
 *
 * wary.h
 *	  Going on with other steps when a step on behalf of somebody has failed.
 *
 * A trigger of a user may refuse an event that the database appends, and must
 * not keep the others from what the same call does for them.  Savepoints would
 * make sure of that, but are in vain in nearly every call.  So a call runs its
 * steps without them, and if it fails, those of the next minute in this session
 * run each step in a savepoint.  So do all calls if a trigger is deferred, which
 * would fail later.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WARY_H
#define CLUTCH_WARY_H

#include "clutch.h"
#include "base/savepoint.h"
#include "datatype/timestamp.h"

typedef struct Wary
{
	TimestampTz *until;			/* until when calls of this kind are wary */
	bool		is_wary;		/* is this one? */
	int			failed;			/* how many of its steps have failed */
} Wary;

/*
 * To be called before and after the steps.  "until" is a static variable of the
 * kind of call, at first 0.
 */
extern Wary wary_begin(TimestampTz *until);
extern void wary_end(const Wary *wary);

/*
 * Runs a step, in a savepoint if necessary.  Returns NULL, or the error with
 * which it has failed in its savepoint.
 */
extern ErrorData *wary_run(Wary *wary, void (*step) (void *arg), void *arg);

#endif							/* CLUTCH_WARY_H */
