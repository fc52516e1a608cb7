/*-------------------------------------------------------------------------
 *
 * guard.h
 *	  Guards: short locks on a name that may not have a row yet.
 *
 * While a backend looks for a row and then inserts it, another one may do the
 * same.  A guard prevents this.  It is an advisory lock in a lock space of
 * clutch (objsubid 19276 in pg_locks).  There are three ways to use it:
 *
 *	- guard_take and guard_release, in the same function: it is held from the
 *	  lookup until a dirty snapshot can see the row, and not until commit;
 *	- guard_hold, if the row is inserted only after our function has returned:
 *	  it is held until the next one of its kind is, and at most until the end of
 *	  the transaction or until it is prepared;
 *	- guard_keep: it is held until the transaction ends, even if it is prepared
 *	  meanwhile, because others must not go on before that.
 *
 * A guard is identified by a 64-bit hash.  If two names collide by chance, one
 * of them waits for the other unnecessarily, and nothing worse happens.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_GUARD_H
#define CLUTCH_GUARD_H

#include "base/text.h"

typedef enum GuardKind
{
	GUARD_EVENT_ID,				/* may be held; see guard_hold */
	GUARD_IDEMPOTENCY_KEY,		/* may be held */
	GUARD_RUN,					/* may be held */
	GUARD_TASK,
	GUARD_AGENT,
	GUARD_SLOT,
	GUARD_SCOPE,
	GUARD_VISIBILITY,
	GUARD_HEARTBEAT,
	GUARD_BUDGET,
	GUARD_SCHEDULE,
	GUARD_SUBSCRIPTION,
	GUARD_EPOCH,
	GUARD_LEDGER,
	GUARD_WORKFLOW,
	GUARD_ARTIFACT,
	GUARD_PAUSE,
	GUARD_IMPORT,
	GUARD_KEY,
	GUARD_SIGNATURE,
	GUARD_DEPARTURE
} GuardKind;

/* Returns the key of a guard, a hash of all arguments.  b may be absent. */
extern uint64 guard_key(GuardKind kind, Slice a, Slice b, int64 c);

/*
 * The caller takes the guard before the lookup and releases it after the
 * insertion; an error in between also releases it.  guard_try returns false
 * instead of waiting.  guard_take raises 55P03 where base/wait forbids
 * waiting.
 */
extern void guard_take(uint64 key);
extern bool guard_try(uint64 key);
extern void guard_release(uint64 key);

/* The same for a guard that is kept until the transaction ends. */
extern void guard_keep(uint64 key);
extern bool guard_try_keep(uint64 key);

/*
 * Holds a guard for a row that is inserted after our function has returned,
 * until this backend holds another one of the same kind, drops it, or ends its
 * transaction.  Only for the kinds that are marked above.
 */
extern void guard_hold(GuardKind kind, uint64 key);
/* Releases the guard of this kind that guard_hold holds, if there is one. */
extern void guard_drop(GuardKind kind);

#endif							/* CLUTCH_GUARD_H */
