/*-------------------------------------------------------------------------
 *
 * mailbox.c
 *	  Mailboxes, in shared memory between sessions and background workers: the
 *	  hints and orders in them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"
#include "wake/mailbox_part.h"

Mailboxes  *mailbox_shared = NULL;
Mailbox    *mailbox_mine = NULL;

/* the mailbox in which this session last found its database */
static Mailbox *remembered = NULL;

static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

/* ------------------------------------------------------------------- memory */

/* There cannot be more workers than this. */
static int
mailbox_most(void)
{
	return max_worker_processes;
}

static Size
mailbox_shared_size(void)
{
	return add_size(offsetof(Mailboxes, boxes), mul_size(mailbox_most(), sizeof(Mailbox)));
}

static void
mailbox_shmem_request(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(mailbox_shared_size());
	RequestNamedLWLockTranche("clutch", mailbox_most() + 1);
}

static void
mailbox_shmem_startup(void)
{
	LWLockPadded *locks;
	bool		found;
	int			i;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	mailbox_shared = ShmemInitStruct("clutch mailboxes", mailbox_shared_size(), &found);
	if (!found)
	{
		memset(mailbox_shared, 0, mailbox_shared_size());
		locks = GetNamedLWLockTranche("clutch");
		mailbox_shared->lock = &locks[0].lock;
		for (i = 0; i < MAILBOX_LISTENERS; i++)
			pg_atomic_init_u32(&mailbox_shared->listeners[i], 0);
		mailbox_shared->n = mailbox_most();
		for (i = 0; i < mailbox_shared->n; i++)
			mailbox_shared->boxes[i].lock = &locks[i + 1].lock;
	}
	LWLockRelease(AddinShmemInitLock);
}

void
mailbox_request(void)
{
	previous_request = shmem_request_hook;
	shmem_request_hook = mailbox_shmem_request;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = mailbox_shmem_startup;
}

bool
mailbox_is_there(void)
{
	return mailbox_shared != NULL;
}

bool
mailbox_is_served(void)
{
	bool		has_room = false;
	int			i;

	for (i = 0; mailbox_shared != NULL && i < mailbox_shared->n; i++)
	{
		const Mailbox *box = &mailbox_shared->boxes[i];

		LWLockAcquire(box->lock, LW_SHARED);
		if (box->state != MAILBOX_FREE && box->database == MyDatabaseId)
		{
			bool		is_served = box->state != MAILBOX_NOT_STARTED;

			LWLockRelease(box->lock);
			return is_served;
		}
		/*
		 * the launcher will give it to the next database that creates the
		 * extension
		 */
		has_room = has_room || box->state == MAILBOX_FREE;
		LWLockRelease(box->lock);
	}
	return has_room;
}

/* Locks the mailbox if it belongs to the database. */
static bool
mailbox_try_lock(Mailbox *box, Oid database)
{
	/* reading this without the lock tells whether it is worth locking */
	if (box->database != database)
		return false;
	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	if (box->database == database && box->state != MAILBOX_FREE)
		return true;
	LWLockRelease(box->lock);
	return false;
}

Mailbox *
mailbox_lock(Oid database)
{
	int			i;

	if (mailbox_shared == NULL)
		return NULL;
	if (remembered != NULL && mailbox_try_lock(remembered, database))
		return remembered;
	for (i = 0; i < mailbox_shared->n; i++)
	{
		Mailbox    *box = &mailbox_shared->boxes[i];

		if (!mailbox_try_lock(box, database))
			continue;
		if (database == MyDatabaseId)
			remembered = box;
		return box;
	}
	return NULL;
}

void
mailbox_unlock_and_wake(Mailbox *box)
{
	Latch	   *latch = box->worker;

	LWLockRelease(box->lock);
	if (latch != NULL)
		SetLatch(latch);
}

void
mailbox_empty(Mailbox *box)
{
	box->nhints = 0;
	memset(box->places, 0xff, sizeof(box->places));
}

/* ----------------------------------------------------------------- sessions */

bool
mailbox_reserve(int n)
{
	Mailbox    *box = mailbox_lock(MyDatabaseId);
	bool		fits;

	if (box == NULL)
		return false;
	fits = box->accepts && box->nhints + box->taken + box->reserved + n <= MAILBOX_HINTS;
	if (fits)
		box->reserved += n;
	LWLockRelease(box->lock);
	return fits;
}

/*
 * Uses room that was reserved.  If the extension was dropped and created
 * again, the mailbox may have been closed and opened since the reservation.
 * In that case the room in it is not ours.
 */
static void
mailbox_reservation_use(Mailbox *box, int n)
{
	box->reserved = Max(0, box->reserved - n);
}

/* Adds a hint to a locked mailbox, unless it is there already. */
static void
mailbox_hint_add(Mailbox *box, const Hint *hint)
{
	uint32		place = (uint32) (hint->key ^ (hint->key >> 32)) % MAILBOX_PLACES;

	while (box->places[place] != MAILBOX_NO_HINT)
	{
		if (box->hints[box->places[place]].key == hint->key &&
			box->hints[box->places[place]].kind == hint->kind)
			return;
		place = (place + 1) % MAILBOX_PLACES;
	}
	if (box->nhints == MAILBOX_HINTS)
		return;
	box->places[place] = (uint16) box->nhints;
	box->hints[box->nhints++] = *hint;
}

void
mailbox_put(const Hint *hints, int n, int reserved)
{
	Mailbox    *box = mailbox_lock(MyDatabaseId);
	bool		is_first;
	int			i;

	if (box == NULL)
		return;
	mailbox_reservation_use(box, reserved);
	is_first = box->nhints == 0 && n > 0;
	for (i = 0; i < n; i++)
		mailbox_hint_add(box, &hints[i]);
	if (is_first)
		mailbox_unlock_and_wake(box);
	else
		LWLockRelease(box->lock);
}

void
mailbox_release(int n)
{
	mailbox_put(NULL, 0, n);
}

bool
mailbox_due(TimestampTz at)
{
	Mailbox    *box = mailbox_lock(MyDatabaseId);
	bool		is_open;

	if (box == NULL)
		return false;
	is_open = box->state != MAILBOX_NO_EXTENSION;
	if (at < box->due)
	{
		box->due = at;
		mailbox_unlock_and_wake(box);
	}
	else
		LWLockRelease(box->lock);
	return is_open;
}

/* ------------------------------------------------------------------- worker */

MailboxOrders
mailbox_take_orders(void)
{
	MailboxOrders orders;

	LWLockAcquire(mailbox_mine->lock, LW_EXCLUSIVE);
	orders.leave = mailbox_mine->leave;
	orders.look = mailbox_mine->look;
	orders.due = mailbox_mine->due;
	mailbox_mine->look = false;
	mailbox_mine->due = DT_NOEND;
	LWLockRelease(mailbox_mine->lock);
	return orders;
}

bool
mailbox_plan(TimestampTz at, bool takes_hints)
{
	bool		may_sleep;

	LWLockAcquire(mailbox_mine->lock, LW_EXCLUSIVE);
	may_sleep = !mailbox_mine->leave && !mailbox_mine->look && mailbox_mine->due >= at &&
		!(takes_hints && mailbox_mine->nhints > 0);
	mailbox_mine->due = Min(mailbox_mine->due, at);
	LWLockRelease(mailbox_mine->lock);
	return may_sleep;
}

int
mailbox_take(Hint *hints)
{
	int			n;

	LWLockAcquire(mailbox_mine->lock, LW_EXCLUSIVE);
	n = mailbox_mine->nhints;
	memcpy(hints, mailbox_mine->hints, sizeof(Hint) * n);
	if (n > 0)
		mailbox_empty(mailbox_mine);
	mailbox_mine->taken = n;
	LWLockRelease(mailbox_mine->lock);
	return n;
}

void
mailbox_sent(void)
{
	mailbox_put_back(NULL, 0);
}

void
mailbox_put_back(const Hint *hints, int n)
{
	int			i;

	LWLockAcquire(mailbox_mine->lock, LW_EXCLUSIVE);
	mailbox_mine->taken = 0;
	for (i = 0; i < n; i++)
		mailbox_hint_add(mailbox_mine, &hints[i]);
	LWLockRelease(mailbox_mine->lock);
}
