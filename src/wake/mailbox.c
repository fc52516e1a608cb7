/*-------------------------------------------------------------------------
 *
 * mailbox.c
 *	  Shared memory between sessions and the background workers.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"
#include "wake/mailbox.h"

/* twice the hints, so that a search is short; a power of two */
#define PLACES		(2 * MAILBOX_HINTS)
#define NO_HINT		PG_UINT16_MAX

typedef struct Mailbox
{
	LWLock	   *lock;			/* over all below */
	Oid			database;
	MailboxState state;
	TimestampTz started_at;
	Latch	   *worker;			/* NULL: there is none */
	bool		accepts;
	int			away;			/* sessions that want it to leave */
	bool		leave;
	bool		look;
	TimestampTz due;

	int			reserved;
	int			taken;			/* by the worker, and not yet sent */
	int			nhints;
	Hint		hints[MAILBOX_HINTS];
	uint16		places[PLACES]; /* by hash: index into hints, or NO_HINT */
} Mailbox;

typedef struct Mailboxes
{
	LWLock	   *lock;			/* over launcher and changes */
	Latch	   *launcher;		/* NULL: there is none */
	bool		any_changed;	/* more than fit */
	int			nchanged;
	Oid			changed[MAILBOX_CHANGES];
	int			n;
	Mailbox		boxes[FLEXIBLE_ARRAY_MEMBER];
} Mailboxes;

static Mailboxes *shared = NULL;
static Mailbox *mine = NULL;	/* a worker's own */
static Mailbox *ours = NULL;	/* that of this session's database, as last seen */

static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

/* ------------------------------------------------------------------- memory */

/* there cannot be more workers */
static int
how_many(void)
{
	return max_worker_processes;
}

static Size
shared_size(void)
{
	return add_size(offsetof(Mailboxes, boxes), mul_size(how_many(), sizeof(Mailbox)));
}

static void
request(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(shared_size());
	RequestNamedLWLockTranche("clutch", how_many() + 1);
}

static void
startup(void)
{
	LWLockPadded *locks;
	bool		found;
	int			i;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("clutch mailboxes", shared_size(), &found);
	if (!found)
	{
		memset(shared, 0, shared_size());
		locks = GetNamedLWLockTranche("clutch");
		shared->lock = &locks[0].lock;
		shared->n = how_many();
		for (i = 0; i < shared->n; i++)
			shared->boxes[i].lock = &locks[i + 1].lock;
	}
	LWLockRelease(AddinShmemInitLock);
}

void
mailbox_request(void)
{
	previous_request = shmem_request_hook;
	shmem_request_hook = request;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = startup;
}

bool
mailbox_is_there(void)
{
	return shared != NULL;
}

/* the mailbox of the database, locked; NULL: it has none */
static Mailbox *
lock_box(Oid database)
{
	int			i;

	if (shared == NULL)
		return NULL;
	for (i = -1; i < shared->n; i++)
	{
		Mailbox    *box = i < 0 ? ours : &shared->boxes[i];

		/* seen without the lock: a place worth a look, or not */
		if (box == NULL || box->database != database)
			continue;
		LWLockAcquire(box->lock, LW_EXCLUSIVE);
		if (box->database == database && box->state != MAILBOX_FREE)
		{
			if (database == MyDatabaseId)
				ours = box;
			return box;
		}
		LWLockRelease(box->lock);
	}
	return NULL;
}

/* the lock is given back first: who is woken wants it */
static void
unlock_and_wake(Mailbox *box)
{
	Latch	   *latch = box->worker;

	LWLockRelease(box->lock);
	if (latch != NULL)
		SetLatch(latch);
}

/* ----------------------------------------------------------------- sessions */

bool
mailbox_reserve(int n)
{
	Mailbox    *box = lock_box(MyDatabaseId);
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
 * The box may have been given up and made anew since the reservation, when
 * the extension was; what is reserved in it is then not ours.
 */
static void
use_reservation(Mailbox *box, int n)
{
	box->reserved = Max(0, box->reserved - n);
}

void
mailbox_release(int n)
{
	Mailbox    *box = lock_box(MyDatabaseId);

	if (box == NULL)
		return;
	use_reservation(box, n);
	LWLockRelease(box->lock);
}

static void
put(Mailbox *box, const Hint *hint)
{
	uint32		place = (uint32) (hint->key ^ (hint->key >> 32)) % PLACES;

	while (box->places[place] != NO_HINT)
	{
		if (box->hints[box->places[place]].key == hint->key &&
			box->hints[box->places[place]].kind == hint->kind)
			return;
		place = (place + 1) % PLACES;
	}
	if (box->nhints == MAILBOX_HINTS)
		return;
	box->places[place] = (uint16) box->nhints;
	box->hints[box->nhints++] = *hint;
}

void
mailbox_put(const Hint *hints, int n)
{
	Mailbox    *box = lock_box(MyDatabaseId);
	bool		is_first;
	int			i;

	if (box == NULL)
		return;
	use_reservation(box, n);
	is_first = box->nhints == 0;
	for (i = 0; i < n; i++)
		put(box, &hints[i]);
	if (is_first)
		unlock_and_wake(box);
	else
		LWLockRelease(box->lock);
}

void
mailbox_due(TimestampTz at)
{
	Mailbox    *box = lock_box(MyDatabaseId);

	if (box == NULL)
		return;
	if (at < box->due)
	{
		box->due = at;
		unlock_and_wake(box);
	}
	else
		LWLockRelease(box->lock);
}

static void
wake_launcher(void)
{
	if (shared->launcher != NULL)
		SetLatch(shared->launcher);
}

void
mailbox_changed(Oid database)
{
	Mailbox    *box;

	if (shared == NULL)
		return;
	box = OidIsValid(database) ? lock_box(database) : NULL;
	if (box != NULL)
	{
		box->look = true;
		unlock_and_wake(box);
	}
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (OidIsValid(database) && shared->nchanged == MAILBOX_CHANGES)
		shared->any_changed = true;
	else if (OidIsValid(database))
		shared->changed[shared->nchanged++] = database;
	wake_launcher();
	LWLockRelease(shared->lock);
}

void
mailbox_worker_leave(Oid database)
{
	Mailbox    *box = lock_box(database);

	if (box == NULL)
		return;
	box->away++;
	box->leave = true;
	unlock_and_wake(box);
}

void
mailbox_worker_return(Oid database)
{
	Mailbox    *box = lock_box(database);

	if (box == NULL)
		return;
	if (box->away > 0)
		box->away--;
	LWLockRelease(box->lock);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	wake_launcher();
	LWLockRelease(shared->lock);
}

/* ----------------------------------------------------------------- launcher */

static void
launcher_ends(int code, Datum arg)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->launcher = NULL;
	LWLockRelease(shared->lock);
}

void
mailbox_launcher_begins(void)
{
	before_shmem_exit(launcher_ends, (Datum) 0);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->launcher = MyLatch;
	LWLockRelease(shared->lock);
}

bool
mailbox_take_changed(Oid *databases, int *n)
{
	bool		any;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	any = shared->any_changed;
	*n = shared->nchanged;
	memcpy(databases, shared->changed, sizeof(Oid) * shared->nchanged);
	shared->any_changed = false;
	shared->nchanged = 0;
	LWLockRelease(shared->lock);
	return any;
}

int
mailbox_count(void)
{
	return shared->n;
}

MailboxView
mailbox_view(int number)
{
	Mailbox    *box = &shared->boxes[number];
	MailboxView view;

	LWLockAcquire(box->lock, LW_SHARED);
	view.state = box->state;
	view.database = box->database;
	view.started_at = box->started_at;
	view.is_away = box->away > 0;
	LWLockRelease(box->lock);
	return view;
}

static void
empty(Mailbox *box)
{
	box->nhints = 0;
	memset(box->places, 0xff, sizeof(box->places));
}

bool
mailbox_open(Oid database)
{
	int			i;

	for (i = 0; i < shared->n; i++)
	{
		Mailbox    *box = &shared->boxes[i];
		bool		is_free;

		LWLockAcquire(box->lock, LW_EXCLUSIVE);
		is_free = box->state == MAILBOX_FREE;
		if (is_free)
		{
			box->database = database;
			box->state = MAILBOX_NO_WORKER;
			box->started_at = 0;
			box->away = 0;
			box->due = DT_NOEND;
			box->reserved = 0;
			box->taken = 0;
			empty(box);
		}
		LWLockRelease(box->lock);
		if (is_free)
			return true;
	}
	return false;
}

void
mailbox_close(int number)
{
	Mailbox    *box = &shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	box->state = MAILBOX_FREE;
	box->database = InvalidOid;
	LWLockRelease(box->lock);
}

void
mailbox_worker_starts(int number, TimestampTz at)
{
	Mailbox    *box = &shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	box->state = MAILBOX_STARTING;
	box->started_at = at;
	/* somebody may have asked for it since the launcher looked */
	box->leave = box->away > 0;
	box->look = false;
	LWLockRelease(box->lock);
}

void
mailbox_worker_failed(int number)
{
	Mailbox    *box = &shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	if (box->worker == NULL)
		box->state = MAILBOX_NOT_STARTED;
	LWLockRelease(box->lock);
}

void
mailbox_worker_dismiss(int number)
{
	Mailbox    *box = &shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	box->leave = true;
	unlock_and_wake(box);
}

/* ------------------------------------------------------------------- worker */

static void
worker_ends(int code, Datum arg)
{
	LWLockAcquire(mine->lock, LW_EXCLUSIVE);
	mine->worker = NULL;
	mine->accepts = false;
	if (mine->state != MAILBOX_NO_EXTENSION)
		mine->state = MAILBOX_NO_WORKER;
	/* it left because it was told to: the next one may come at once */
	if (mine->leave)
		mine->started_at = 0;
	LWLockRelease(mine->lock);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	wake_launcher();
	LWLockRelease(shared->lock);
}

Oid
mailbox_worker_begins(int number)
{
	Mailbox    *box = &shared->boxes[number];
	Oid			database = InvalidOid;

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	if (box->state == MAILBOX_STARTING)
	{
		mine = box;
		mine->worker = MyLatch;
		mine->state = MAILBOX_AT_WORK;
		database = mine->database;
	}
	LWLockRelease(box->lock);
	if (mine != NULL)
		before_shmem_exit(worker_ends, (Datum) 0);
	return database;
}

void
mailbox_accept(void)
{
	LWLockAcquire(mine->lock, LW_EXCLUSIVE);
	mine->accepts = true;
	LWLockRelease(mine->lock);
}

bool
mailbox_give_up(void)
{
	bool		gives_up;

	LWLockAcquire(mine->lock, LW_EXCLUSIVE);
	gives_up = !mine->look;
	mine->look = false;
	if (gives_up)
	{
		mine->state = MAILBOX_NO_EXTENSION;
		mine->accepts = false;
	}
	LWLockRelease(mine->lock);
	return gives_up;
}

MailboxOrders
mailbox_take_orders(void)
{
	MailboxOrders orders;

	LWLockAcquire(mine->lock, LW_EXCLUSIVE);
	orders.leave = mine->leave;
	orders.look = mine->look;
	orders.due = mine->due;
	mine->look = false;
	mine->due = DT_NOEND;
	LWLockRelease(mine->lock);
	return orders;
}

void
mailbox_plan(TimestampTz at)
{
	LWLockAcquire(mine->lock, LW_EXCLUSIVE);
	mine->due = Min(mine->due, at);
	LWLockRelease(mine->lock);
}

int
mailbox_take(Hint *hints)
{
	int			n;

	LWLockAcquire(mine->lock, LW_EXCLUSIVE);
	n = mine->nhints;
	memcpy(hints, mine->hints, sizeof(Hint) * n);
	if (n > 0)
		empty(mine);
	mine->taken = n;
	LWLockRelease(mine->lock);
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

	LWLockAcquire(mine->lock, LW_EXCLUSIVE);
	mine->taken = 0;
	for (i = 0; i < n; i++)
		put(mine, &hints[i]);
	LWLockRelease(mine->lock);
}
