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

static bool
acquire(uint64 key, bool wait)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key,
						 GUARD_LOCK_SPACE);
	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * Taken and released by one function, so both times on behalf of the same
 * portal or subtransaction, whose failure lets go of it.
 */
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

bool
guard_keep(uint64 key, bool wait)
{
	return acquire(key, wait);
}

void
guard_release(uint64 key)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key,
						 GUARD_LOCK_SPACE);
	(void) LockRelease(&tag, ExclusiveLock, false);
}

/* the transaction's end has let go of the locks: forget them */
static void
forget_held(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE)
		memset(held, 0, sizeof(held));
}

/*
 * The row that was guarded is gone, or was in before and can be seen: nobody
 * shall wait for the end of our transaction because of the guard.
 */
static void
drop_held(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
		  void *arg)
{
	int			kind;

	if (event == SUBXACT_EVENT_ABORT_SUB)
		for (kind = 0; kind < NUM_HELD; kind++)
			guard_drop((GuardKind) kind);
}

/* of the whole transaction: the next to call us may be another portal */
void
guard_hold(GuardKind kind, uint64 key)
{
	ResourceOwner owner = CurrentResourceOwner;

	Assert(kind < NUM_HELD);
	if (!watching_transactions)
	{
		RegisterXactCallback(forget_held, NULL);
		RegisterSubXactCallback(drop_held, NULL);
		watching_transactions = true;
	}
	guard_drop(kind);
	CurrentResourceOwner = TopTransactionResourceOwner;
	PG_TRY();
	{
		guard_take(key);
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();
	held[kind].key = key;
	held[kind].held = true;
}

void
guard_drop(GuardKind kind)
{
	ResourceOwner owner = CurrentResourceOwner;

	if (!held[kind].held)
		return;
	held[kind].held = false;
	CurrentResourceOwner = TopTransactionResourceOwner;
	guard_release(held[kind].key);
	CurrentResourceOwner = owner;
}
