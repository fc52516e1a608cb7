/*-------------------------------------------------------------------------
 *
 * mailbox.h
 *	  Shared memory between sessions and the background workers.
 *
 * There only when the library was preloaded.  Each database with a worker has
 * a mailbox: the hints that committed transactions leave for listeners, the
 * earliest time at which something is due, and what is asked of the worker.
 *
 * No hint is lost.  A session reserves room before it commits and gives its
 * hints after that, when others see its work; without a worker, or without
 * room, it is told so while it can still notify by itself.  What a worker
 * that ends leaves here the next one finds.
 *
 * Times at which something is due are of clock_now(); when a worker was
 * started is of the real clock.
 *
 * Locks here are held for a few microseconds, and no other is taken under
 * them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MAILBOX_H
#define CLUTCH_MAILBOX_H

#include "clutch.h"

#include "datatype/timestamp.h"

/* one channel to be notified; what key and kind are is notify's matter */
typedef struct Hint
{
	uint64		key;
	uint32		kind;
} Hint;

/* different hints that a mailbox holds */
#define MAILBOX_HINTS	1024

/* --- while the library is preloaded --- */

extern void mailbox_request(void);

/* was it? */
extern bool mailbox_is_there(void);

/* --- any session, for its database --- */

/* room for n hints; false: there is none, or nobody who takes them */
extern bool mailbox_reserve(int n);
/* they come to nothing */
extern void mailbox_release(int n);
/* n of the hints for which room was reserved; none that is there already */
extern void mailbox_put(const Hint *hints, int n);
/* the worker has something to do at that time, or before it */
extern void mailbox_due(TimestampTz at);

/*
 * The extension came or went in the database; InvalidOid: a database did.
 * After the transaction that did it.
 */
extern void mailbox_changed(Oid database);

/* nobody may be in the database: its worker leaves, until as many returns */
extern void mailbox_worker_leave(Oid database);
extern void mailbox_worker_return(Oid database);

/* --- the launcher --- */

/* it is this process, until it ends */
extern void mailbox_launcher_begins(void);

/* databases in which the extension may be now; true: in any */
extern bool mailbox_take_changed(Oid *databases, int *n);
#define MAILBOX_CHANGES	64

typedef enum MailboxState
{
	MAILBOX_FREE,
	MAILBOX_NO_WORKER,			/* one is to be started */
	MAILBOX_NOT_STARTED,		/* likewise, and that has failed */
	MAILBOX_STARTING,
	MAILBOX_AT_WORK,
	MAILBOX_NO_EXTENSION		/* the worker found none */
} MailboxState;

typedef struct MailboxView
{
	MailboxState state;
	Oid			database;
	TimestampTz started_at;		/* its last worker */
	bool		is_away;		/* it was asked to leave */
} MailboxView;

extern int	mailbox_count(void);
extern MailboxView mailbox_view(int number);
/* a free one becomes that of a database; false: none is free */
extern bool mailbox_open(Oid database);
extern void mailbox_close(int number);
/* a worker is about to be started; it did not come to that */
extern void mailbox_worker_starts(int number, TimestampTz at);
extern void mailbox_worker_failed(int number);
/* one that is at work is not wanted any more */
extern void mailbox_worker_dismiss(int number);

/* --- the worker --- */

/* it is this process, until it ends; the database, InvalidOid: another came first */
extern Oid	mailbox_worker_begins(int number);

/* the extension is there: from now on hints are taken */
extern void mailbox_accept(void);

/* true: there is no extension, so it ends; false: something changed, look again */
extern bool mailbox_give_up(void);

typedef struct MailboxOrders
{
	bool		leave;
	bool		look;			/* whether the extension is still there */
	TimestampTz due;			/* the earliest, planned or asked for */
} MailboxOrders;

/* what was asked since the last call */
extern MailboxOrders mailbox_take_orders(void);
/* it will come by at that time anyway: only who asks for an earlier one wakes it */
extern void mailbox_plan(TimestampTz at);

/*
 * All of them, into an array of MAILBOX_HINTS; how many.  They keep their
 * room until they are sent, or put back by a worker that ends before.
 */
extern int	mailbox_take(Hint *hints);
extern void mailbox_sent(void);
extern void mailbox_put_back(const Hint *hints, int n);

#endif							/* CLUTCH_MAILBOX_H */
