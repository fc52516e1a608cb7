/*-------------------------------------------------------------------------
 *
 * wary.h
 *	  Going on with other steps when a step on behalf of somebody has failed.
 *
 * A trigger of a user may refuse an event that the database appends, and must
 * not keep the others from what the same call does for them.  Savepoints would
 * make sure of that, but are in vain in nearly every call.  So a call runs its
 * steps without them.  If it fails, the next one in this session runs each step
 * in a savepoint.  If a step fails there, so do those after it, until two minutes
 * have passed and none has failed.  So do all calls if a trigger is deferred, which
 * would fail later, and the first call of a session, because many sessions make
 * only one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WARY_H
#define CLUTCH_WARY_H

#include "clutch.h"
#include "base/savepoint.h"
#include "datatype/timestamp.h"

/* until when calls are wary in a new session, and after a call that has failed: for one call at least */
#define WARY_AT_FIRST	DT_NOEND

/* a step that has failed may be put off for this time of clutch.clock; the calls are wary until after it */
#define WARY_PUT_OFF	USECS_PER_MINUTE

/* after so many steps that have failed by chance, a call should end */
#define WARY_MOST_CHANCES	100

typedef struct Wary
{
	TimestampTz *until;			/* until when calls of this kind are wary at
								 * least; 0 if they are not */
	bool		is_wary;		/* is this one? */
	int			refused;		/* how many of its steps have failed, */
	int			chances;		/* and how many others by chance, because of a
								 * lock for example */
} Wary;

/*
 * To be called before and after the steps.  "until" is a static variable of the
 * kind of call, at first WARY_AT_FIRST.
 */
extern Wary wary_begin(TimestampTz *until);
extern void wary_end(const Wary *wary);

/*
 * Runs a step, in a savepoint if necessary.  Returns false if it has failed in
 * its savepoint, with the error, or with NULL if it has failed by chance, which
 * is not worth reporting.
 */
extern bool wary_run(Wary *wary, void (*step) (void *arg), void *arg, ErrorData **error);

#endif							/* CLUTCH_WARY_H */
