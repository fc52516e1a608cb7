/*-------------------------------------------------------------------------
 *
 * guard.h
 *	  Short locks on a name that may not have a row yet.
 *
 * Looking whether a row is there and then inserting it leaves an instant in
 * which another backend does the same.  A guard closes it: it is an advisory
 * lock of our own lock space (objsubid 19276 in pg_locks), held from the look
 * until the row can be seen by a dirty snapshot, never until commit for the
 * sake of the guard alone.
 *
 * Names of different kinds cannot collide but by chance of a 64-bit hash, and
 * then all that happens is a wait.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_GUARD_H
#define CLUTCH_GUARD_H

#include "base/text.h"

typedef enum GuardKind
{
	GUARD_EVENT_ID,				/* held: see guard_hold */
	GUARD_IDEMPOTENCY_KEY,		/* held */
	GUARD_TASK,
	GUARD_AGENT,
	GUARD_SLOT,
	GUARD_SCOPE,
	GUARD_HEARTBEAT,
	GUARD_BUDGET,
	GUARD_SCHEDULE,
	GUARD_SUBSCRIPTION,
	GUARD_EPOCH
} GuardKind;

extern uint64 guard_key(GuardKind kind, Slice a, Slice b, int64 c);

/*
 * Taken and let go by the caller around the insert.  guard_try: false if
 * somebody else has it.  An error in between lets go by itself.
 */
extern void guard_take(uint64 key);
extern bool guard_try(uint64 key);
extern void guard_release(uint64 key);

/*
 * The same, but kept until the transaction ends.  guard_take, and this with
 * wait, raise 55P03 where base/wait forbids to wait.
 */
extern bool guard_keep(uint64 key, bool wait);

/*
 * For a row that the executor inserts after our trigger has returned: held
 * until this backend holds another of the same kind, drops it, or ends its
 * transaction.  Only the two kinds marked above.
 */
extern void guard_hold(GuardKind kind, uint64 key);
extern void guard_drop(GuardKind kind);

#endif							/* CLUTCH_GUARD_H */
