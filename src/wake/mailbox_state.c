/*-------------------------------------------------------------------------
 *
 * mailbox_state.c
 *	  Mailboxes, in shared memory between sessions and background workers:
 *	  which databases have one, and the state of their workers.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/timestamp.h"
#include "wake/mailbox_part.h"

/* ----------------------------------------------------------------- sessions */

/* The caller must hold mailbox_shared->lock. */
static void
mailbox_wake_launcher(void)
{
	if (mailbox_shared->launcher != NULL)
		SetLatch(mailbox_shared->launcher);
}

void
mailbox_changed(Oid database)
{
	Mailbox    *box;

	if (mailbox_shared == NULL)
		return;
	box = OidIsValid(database) ? mailbox_lock(database) : NULL;
	if (box != NULL)
	{
		box->look = true;
		mailbox_unlock_and_wake(box);
	}
	LWLockAcquire(mailbox_shared->lock, LW_EXCLUSIVE);
	if (OidIsValid(database) && mailbox_shared->nchanged == MAILBOX_CHANGES)
		mailbox_shared->any_changed = true;
	else if (OidIsValid(database))
		mailbox_shared->changed[mailbox_shared->nchanged++] = database;
	mailbox_wake_launcher();
	LWLockRelease(mailbox_shared->lock);
}

bool
mailbox_worker_leave(Oid database)
{
	Mailbox    *box = mailbox_lock(database);

	if (box == NULL)
		return false;
	box->away++;
	box->leave = true;
	mailbox_unlock_and_wake(box);
	return true;
}

void
mailbox_worker_return(Oid database)
{
	Mailbox    *box = mailbox_lock(database);

	if (box == NULL)
		return;
	if (box->away > 0)
		box->away--;
	LWLockRelease(box->lock);
	LWLockAcquire(mailbox_shared->lock, LW_EXCLUSIVE);
	mailbox_wake_launcher();
	LWLockRelease(mailbox_shared->lock);
}

/* ----------------------------------------------------------------- launcher */

static void
mailbox_launcher_ends(int code, Datum arg)
{
	LWLockAcquire(mailbox_shared->lock, LW_EXCLUSIVE);
	mailbox_shared->launcher = NULL;
	LWLockRelease(mailbox_shared->lock);
}

void
mailbox_launcher_begins(void)
{
	before_shmem_exit(mailbox_launcher_ends, (Datum) 0);
	LWLockAcquire(mailbox_shared->lock, LW_EXCLUSIVE);
	mailbox_shared->launcher = MyLatch;
	LWLockRelease(mailbox_shared->lock);
}

bool
mailbox_take_changed(Oid *databases, int *n)
{
	bool		any;

	LWLockAcquire(mailbox_shared->lock, LW_EXCLUSIVE);
	any = mailbox_shared->any_changed;
	*n = mailbox_shared->nchanged;
	memcpy(databases, mailbox_shared->changed, sizeof(Oid) * mailbox_shared->nchanged);
	mailbox_shared->any_changed = false;
	mailbox_shared->nchanged = 0;
	LWLockRelease(mailbox_shared->lock);
	return any;
}

int
mailbox_count(void)
{
	return mailbox_shared->n;
}

MailboxView
mailbox_view(int number)
{
	Mailbox    *box = &mailbox_shared->boxes[number];
	MailboxView view;

	LWLockAcquire(box->lock, LW_SHARED);
	view.state = box->state;
	view.database = box->database;
	view.started_at = box->started_at;
	view.is_away = box->away > 0;
	LWLockRelease(box->lock);
	return view;
}

bool
mailbox_open(Oid database)
{
	int			i;

	for (i = 0; i < mailbox_shared->n; i++)
	{
		Mailbox    *box = &mailbox_shared->boxes[i];
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
			mailbox_empty(box);
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
	Mailbox    *box = &mailbox_shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	box->state = MAILBOX_FREE;
	box->database = InvalidOid;
	LWLockRelease(box->lock);
}

void
mailbox_worker_starts(int number, TimestampTz at)
{
	Mailbox    *box = &mailbox_shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	box->state = MAILBOX_STARTING;
	box->started_at = at;
	/* a session may have sent it away since the launcher looked */
	box->leave = box->away > 0;
	box->look = false;
	LWLockRelease(box->lock);
}

void
mailbox_worker_failed(int number)
{
	Mailbox    *box = &mailbox_shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	if (box->worker == NULL)
		box->state = MAILBOX_NOT_STARTED;
	LWLockRelease(box->lock);
}

void
mailbox_worker_dismiss(int number)
{
	Mailbox    *box = &mailbox_shared->boxes[number];

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	box->leave = true;
	mailbox_unlock_and_wake(box);
}

/* ------------------------------------------------------------------- worker */

static void
mailbox_worker_ends(int code, Datum arg)
{
	LWLockAcquire(mailbox_mine->lock, LW_EXCLUSIVE);
	mailbox_mine->worker = NULL;
	mailbox_mine->accepts = false;
	if (mailbox_mine->state != MAILBOX_NO_EXTENSION)
		mailbox_mine->state = MAILBOX_NO_WORKER;
	/*
	 * a worker that was told to leave has not failed, so the next one may
	 * start at once
	 */
	if (mailbox_mine->leave)
		mailbox_mine->started_at = 0;
	LWLockRelease(mailbox_mine->lock);
	LWLockAcquire(mailbox_shared->lock, LW_EXCLUSIVE);
	mailbox_wake_launcher();
	LWLockRelease(mailbox_shared->lock);
}

Oid
mailbox_worker_begins(int number)
{
	Mailbox    *box = &mailbox_shared->boxes[number];
	Oid			database = InvalidOid;

	LWLockAcquire(box->lock, LW_EXCLUSIVE);
	if (box->state == MAILBOX_STARTING)
	{
		mailbox_mine = box;
		mailbox_mine->worker = MyLatch;
		mailbox_mine->state = MAILBOX_AT_WORK;
		database = mailbox_mine->database;
	}
	LWLockRelease(box->lock);
	if (mailbox_mine != NULL)
		before_shmem_exit(mailbox_worker_ends, (Datum) 0);
	return database;
}

void
mailbox_accept(void)
{
	LWLockAcquire(mailbox_mine->lock, LW_EXCLUSIVE);
	mailbox_mine->accepts = true;
	LWLockRelease(mailbox_mine->lock);
}

bool
mailbox_give_up(void)
{
	bool		gives_up;

	LWLockAcquire(mailbox_mine->lock, LW_EXCLUSIVE);
	gives_up = !mailbox_mine->look && mailbox_mine->due == DT_NOEND;
	mailbox_mine->look = false;
	if (gives_up)
	{
		mailbox_mine->state = MAILBOX_NO_EXTENSION;
		mailbox_mine->accepts = false;
	}
	LWLockRelease(mailbox_mine->lock);
	return gives_up;
}

