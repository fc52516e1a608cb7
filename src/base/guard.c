/*-------------------------------------------------------------------------
 *
 * guard.c
 *	  Short locks on a name that may not have a row yet.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/guard.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/resowner.h"

/* our part of the advisory lock space; 1 and 2 are the users' */
#define GUARD_LOCK_SPACE	0x4B4C

#define NUM_HELD			(GUARD_IDEMPOTENCY_KEY + 1)

static struct
{
	bool		held;
	uint64		key;
}			held[NUM_HELD];

static bool watching_transactions = false;

uint64
guard_key(GuardKind kind, Slice a, Slice b, int64 c)
{
	uint64		h = slice_hash(a);

	h = h * UINT64CONST(0x9E3779B97F4A7C15) + (slice_present(b) ? slice_hash(b) : 0);
	h = h * UINT64CONST(0x9E3779B97F4A7C15) + (uint64) c;
	return h * UINT64CONST(0x9E3779B97F4A7C15) + kind;
}

/*
 * The lock belongs to the whole transaction, whichever portal or
 * subtransaction we are called from, so that any of them can let go of it.
 */
static bool
acquire(uint64 key, bool wait)
{
	ResourceOwner owner = CurrentResourceOwner;
	LockAcquireResult result;
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key,
						 GUARD_LOCK_SPACE);
	CurrentResourceOwner = TopTransactionResourceOwner;
	PG_TRY();
	{
		result = LockAcquire(&tag, ExclusiveLock, false, !wait);
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();
	return result != LOCKACQUIRE_NOT_AVAIL;
}

void
guard_take(uint64 key)
{
	(void) acquire(key, true);
}

bool
guard_try(uint64 key)
{
	return acquire(key, false);
}

void
guard_release(uint64 key)
{
	ResourceOwner owner = CurrentResourceOwner;
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key,
						 GUARD_LOCK_SPACE);
	CurrentResourceOwner = TopTransactionResourceOwner;
	(void) LockRelease(&tag, ExclusiveLock, false);
	CurrentResourceOwner = owner;
}

/* the transaction's end has let go of the locks: forget them */
static void
forget_held(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE)
		memset(held, 0, sizeof(held));
}

void
guard_hold(GuardKind kind, uint64 key)
{
	Assert(kind < NUM_HELD);
	if (!watching_transactions)
	{
		RegisterXactCallback(forget_held, NULL);
		watching_transactions = true;
	}
	guard_drop(kind);
	guard_take(key);
	held[kind].key = key;
	held[kind].held = true;
}

void
guard_drop(GuardKind kind)
{
	if (held[kind].held)
	{
		held[kind].held = false;
		guard_release(held[kind].key);
	}
}
