/*-------------------------------------------------------------------------
 *
 * mailbox.h
 *	  Mailboxes, in shared memory between sessions and background workers.
 *
 * They exist only if the library was preloaded.  Each database that has a
 * worker has a mailbox, which holds the hints that committed transactions
 * leave for listeners, the earliest time at which something is due, and orders
 * for the worker.
 *
 * No hint is lost.  A session reserves room before it commits, and puts its
 * hints there after the commit, when other sessions can see its work.  If
 * there is no worker or no room, the session learns this while it can still
 * notify the listeners itself.  A worker that ends leaves its hints to the
 * next one.
 *
 * Times at which something is due are in terms of clock_now().  The time at
 * which a worker was started is real time.
 *
 * The locks here are held for a few microseconds, and no other lock is taken
 * under them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MAILBOX_H
#define CLUTCH_MAILBOX_H

#include "clutch.h"

#include "datatype/timestamp.h"

/* A channel to be notified.  notify.c defines the meaning of key and kind. */
typedef struct Hint
{
	uint64		key;
	uint32		kind;
} Hint;

/* The number of different hints that a mailbox can hold. */
#define MAILBOX_HINTS	1024

/* --- mailbox.c: while the library is preloaded --- */

/* Requests the shared memory.  To be called while the library is preloaded. */
extern void mailbox_request(void);

/* Was the library preloaded? */
extern bool mailbox_is_there(void);

/*
 * Does a worker serve our database, or will one do so soon?  Not if the
 * library was not preloaded, if there are more databases than workers, or
 * after a worker could not be started.
 */
extern bool mailbox_is_served(void);

/* --- mailbox.c: a session, for its own database --- */

/*
 * Reserves room for n hints.  Returns false if there is no room, or no worker
 * that takes hints.
 */
extern bool mailbox_reserve(int n);

/*
 * Puts n of the hints for which room was reserved, and gives back the room of
 * the others.  A hint that is there already is not added again.
 */
extern void mailbox_put(const Hint *hints, int n, int reserved);

/* Gives back the room of n hints, none of which will be put there. */
extern void mailbox_release(int n);

/*
 * Tells the worker that it has something to do at that time.  Returns false if
 * the database has no mailbox, or one that is about to be closed because the
 * worker has found no extension.
 */
extern bool mailbox_due(TimestampTz at);

/* --- mailbox.c: the worker, for its own mailbox --- */

typedef struct MailboxOrders
{
	bool		leave;			/* end, because the database is wanted */
	bool		look;			/* check whether the extension is still there */
	TimestampTz due;			/* the earliest time that was planned or asked
								 * for */
} MailboxOrders;

/* Returns the orders since the last call. */
extern MailboxOrders mailbox_take_orders(void);

/*
 * Announces that the worker will tick at that time anyway, so that only a
 * session that needs it earlier wakes it.  Returns false if there are orders
 * or, if the worker takes hints, hints already.  In that case it must not
 * sleep, because whoever left them may have woken it while it was waiting for
 * a lock, which resets the latch.
 */
extern bool mailbox_plan(TimestampTz at, bool takes_hints);

/*
 * Moves all hints into an array of MAILBOX_HINTS and returns their number.
 * They keep their room until they have been sent, or are put back by a worker
 * that ends before it has sent them.
 */
extern int	mailbox_take(Hint *hints);
/*
 * Give back the room of the hints that were taken: all have been sent, or n of
 * them are put back.
 */
extern void mailbox_sent(void);
extern void mailbox_put_back(const Hint *hints, int n);

/* --- mailbox_state.c: a session that changes databases or extensions --- */

/*
 * Tells the launcher that the extension came or went in a database or, with
 * InvalidOid, that a database did.  To be called after the transaction that
 * did it.
 */
extern void mailbox_changed(Oid database);

/*
 * Make the worker leave a database that a session needs for itself.  It stays
 * away until each session that sent it away has called it back.  Returns false
 * if the database has no mailbox, and so no worker.
 */
extern bool mailbox_worker_leave(Oid database);
extern void mailbox_worker_return(Oid database);

/* --- mailbox_state.c: the launcher --- */

/* Makes this process the launcher until it ends. */
extern void mailbox_launcher_begins(void);

/*
 * Gets at most MAILBOX_CHANGES databases in which the extension may have come
 * or gone.  Returns true if this may have happened in any database.
 */
extern bool mailbox_take_changed(Oid *databases, int *n);
#define MAILBOX_CHANGES	64

typedef enum MailboxState
{
	MAILBOX_FREE,
	MAILBOX_NO_WORKER,			/* a worker is to be started */
	MAILBOX_NOT_STARTED,		/* the same, and the last attempt has failed */
	MAILBOX_STARTING,
	MAILBOX_AT_WORK,
	MAILBOX_NO_EXTENSION		/* the worker found no extension and ended */
} MailboxState;

typedef struct MailboxView
{
	MailboxState state;
	Oid			database;
	TimestampTz started_at;		/* when its last worker was started */
	bool		is_away;		/* the worker was sent away */
} MailboxView;

extern int	mailbox_count(void);
extern MailboxView mailbox_view(int number);

/* Gives the database a free mailbox.  Returns false if there is none. */
extern bool mailbox_open(Oid database);
extern void mailbox_close(int number);

/*
 * Record that a worker is about to be started, or that it could not be
 * started.
 */
extern void mailbox_worker_starts(int number, TimestampTz at);
extern void mailbox_worker_failed(int number);

/* Tells a worker that is not wanted any more to end. */
extern void mailbox_worker_dismiss(int number);

/* --- mailbox_state.c: the worker --- */

/*
 * Makes this process the worker of a mailbox until it ends.  Returns the
 * database, or InvalidOid if another process came first.
 */
extern Oid	mailbox_worker_begins(int number);

/* Lets the mailbox take hints from now on, because the extension is there. */
extern void mailbox_accept(void);

/*
 * Records that there is no extension.  Returns true if the worker should end.
 * Returns false if something has changed or become due since the worker took its
 * orders: then it must look again.
 */
extern bool mailbox_give_up(void);

#endif							/* CLUTCH_MAILBOX_H */
