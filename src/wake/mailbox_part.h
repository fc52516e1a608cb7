/*-------------------------------------------------------------------------
 *
 * mailbox_part.h
 *	  Private declarations of mailbox.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MAILBOX_PART_H
#define CLUTCH_MAILBOX_PART_H

#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "wake/mailbox.h"

/* twice the number of hints, so that a search is short; a power of two */
#define MAILBOX_PLACES		(2 * MAILBOX_HINTS)
#define MAILBOX_NO_HINT		PG_UINT16_MAX

/* the number of counters of listeners, which all databases share */
#define MAILBOX_LISTENERS	16384

typedef struct Mailbox
{
	LWLock	   *lock;			/* protects everything below */
	Oid			database;
	MailboxState state;
	TimestampTz started_at;
	Latch	   *worker;			/* NULL if there is none */
	bool		accepts;
	int			away;			/* number of sessions that sent it away */
	bool		leave;
	bool		look;
	TimestampTz due;

	int			reserved;		/* room for hints that are not there yet */
	int			taken;			/* hints that the worker has taken and not yet
								 * sent */
	int			nhints;
	Hint		hints[MAILBOX_HINTS];

	/* hash table of indexes into hints, or MAILBOX_NO_HINT */
	uint16		places[MAILBOX_PLACES];
} Mailbox;

typedef struct Mailboxes
{
	LWLock	   *lock;			/* protects launcher, any_changed and changed */
	Latch	   *launcher;		/* NULL if there is none */
	bool		any_changed;	/* more databases have changed than fit */
	int			nchanged;
	Oid			changed[MAILBOX_CHANGES];
	/* how many sessions may listen to the channels that share a counter, see listener.c */
	pg_atomic_uint32 listeners[MAILBOX_LISTENERS];
	int			n;
	Mailbox		boxes[FLEXIBLE_ARRAY_MEMBER];
} Mailboxes;

/* NULL unless the library was preloaded */
extern Mailboxes *mailbox_shared;

/* in a worker: its own mailbox */
extern Mailbox *mailbox_mine;

/* Returns the locked mailbox of the database, or NULL if it has none. */
extern Mailbox *mailbox_lock(Oid database);

/*
 * Unlocks it and wakes the worker.  It is unlocked first, because the worker
 * wants the lock.
 */
extern void mailbox_unlock_and_wake(Mailbox *box);

/* Drops all hints of a locked mailbox. */
extern void mailbox_empty(Mailbox *box);

#endif							/* CLUTCH_MAILBOX_PART_H */
