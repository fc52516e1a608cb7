/*-------------------------------------------------------------------------
 *
 * guard.c
 *	  Short locks on a name that may not have a row yet.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "base/guard.h"
#include "base/transaction.h"
#include "base/wait.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/resowner.h"

/* our part of the advisory lock space; 1 and 2 are for the users' locks */
#define GUARD_LOCK_SPACE	0x4B4C

#define NUM_HELD			(GUARD_RUN + 1)

static struct
{
	bool		held;
	uint64		key;
}			held[NUM_HELD];

/*
 * Whoever could choose the hash of a name, such as the ID of an event, could
 * take the guard of any other name, and hold it in an open transaction.
 */
uint64
guard_key(GuardKind kind, Slice a, Slice b, int64 c)
{
	uint64		h = crypto_name_hash(a);

	h = h * UINT64CONST(0x9E3779B97F4A7C15) + (slice_present(b) ? crypto_name_hash(b) : 0);
	h = h * UINT64CONST(0x9E3779B97F4A7C15) + (uint64) c;
	return h * UINT64CONST(0x9E3779B97F4A7C15) + kind;
}

/*
 * Returns false if the guard is not free and wait is false.  Raises 55P03 if
 * it would have to wait and base/wait forbids that.
 */
static bool
guard_acquire(uint64 key, bool wait)
{
	LOCKTAG		tag;
	bool		may_block = wait && wait_is_allowed();

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key,
						 GUARD_LOCK_SPACE);
	if (LockAcquire(&tag, ExclusiveLock, false, !may_block) != LOCKACQUIRE_NOT_AVAIL)
		return true;
	if (wait)
		wait_refuse("a name");
	return false;
}

/*
 * guard_take and guard_release are called in the same function call, so both
 * belong to the same portal or subtransaction, whose failure releases the guard.
 */
void
guard_take(uint64 key)
{
	(void) guard_acquire(key, true);
}

bool
guard_try(uint64 key)
{
	return guard_acquire(key, false);
}

void
guard_keep(uint64 key)
{
	(void) guard_acquire(key, true);
}

bool
guard_try_keep(uint64 key)
{
	return guard_acquire(key, false);
}

void
guard_release(uint64 key)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key,
						 GUARD_LOCK_SPACE);
	(void) LockRelease(&tag, ExclusiveLock, false);
}

/* The end of the transaction has released the locks. */
static void
guard_forget_held(void)
{
	memset(held, 0, sizeof(held));
}

/*
 * Drops the guards that are held.  The guarded rows are gone, or can be seen
 * by now.  Nobody should have to wait for the end of our transaction because
 * of a guard.
 */
static void
guard_drop_held(void)
{
	int			kind;

	for (kind = 0; kind < NUM_HELD; kind++)
		guard_drop((GuardKind) kind);
}

static TransactionWatch watch = {
	.preparing = guard_drop_held,
	.rolled_back = guard_drop_held,
	.ended = guard_forget_held
};

/*
 * The lock belongs to the whole transaction, because the next caller may run
 * in another portal.
 */
void
guard_hold(GuardKind kind, uint64 key)
{
	ResourceOwner owner = CurrentResourceOwner;

	Assert(kind < NUM_HELD);
	transaction_watch(&watch);
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
