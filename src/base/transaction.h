/*-------------------------------------------------------------------------
 *
 * transaction.h
 *	  Callbacks for the end of transactions and savepoints.
 *
 * What a backend has cached about rows may be the work of a transaction or
 * savepoint that is rolled back later, and must then be discarded.  Other work
 * is best done once, at the end: handling what an event causes for other
 * tasks, and notifying listeners.
 *
 * This file registers callbacks with the transaction manager, as only
 * worker/presence does besides, and calls all watches phase by phase.  The
 * phases of a transaction that commits are settling, committing, committed,
 * ended; those of one that is prepared are preparing, settling, prepared, ended;
 * and those of one that fails are rolled_back, ended.  Within a phase, the
 * watches are called in the order in which they were registered.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSACTION_H
#define CLUTCH_TRANSACTION_H

/*
 * A watch must be static, because it is never unregistered.  Each function may
 * be NULL.
 *
 * settling is called inside the transaction: it may read and write tables,
 * use subtransactions, and raise errors, which make the transaction fail.  An
 * active snapshot is set; the role is the one that is current at commit; the
 * memory context is deleted when everything is settled.  It may write even if
 * the transaction has become read-only, so it must be used only for
 * consequences of a write.  committing may raise errors as well, but must not
 * access tables.  Neither is called in parallel workers.
 *
 * The other functions are called while the transaction is ending.  They must
 * neither raise errors nor access tables.
 */
typedef struct TransactionWatch
{
	/* The transaction, or a savepoint in it, has been rolled back. */
	void		(*rolled_back) (void);

	/*
	 * The transaction is over or prepared.  Called after the other functions.
	 */
	void		(*ended) (void);

	/* A savepoint has been released, so its work now belongs to its parent. */
	void		(*released) (void);

	/*
	 * Before commit and before PREPARE TRANSACTION.  Returns true if it did
	 * something.  Because this may have caused work for another watch, and may
	 * have queued users' deferred triggers, which may send events, all
	 * settling functions are called again until each of them returns false.
	 * unsettled, if set, tells cheaply whether there is anything to do, so
	 * that other transactions do not pay for a snapshot.
	 */
	bool		(*unsettled) (void);
	bool		(*settling) (void);

	/*
	 * Before PREPARE TRANSACTION and before settling: hand over work that can
	 * be left to others.
	 */
	void		(*preparing) (void);

	/*
	 * Before commit, but not before PREPARE TRANSACTION, when everything is
	 * settled.
	 */
	void		(*committing) (void);

	/* The transaction is committed and visible to others. */
	void		(*committed) (void);

	/*
	 * The transaction is prepared, and may be committed or rolled back by
	 * anybody.
	 */
	void		(*prepared) (void);

	/* Set by transaction_watch. */
	bool		watching;
	struct TransactionWatch *next;
} TransactionWatch;

/*
 * Is it in the phase "settling"?  Then the deferred triggers that were queued
 * before have been fired.
 */
extern bool transaction_is_committing(void);

/* Registers a watch.  Does nothing if it is registered already. */
extern void transaction_watch(TransactionWatch *watch);

#endif							/* CLUTCH_TRANSACTION_H */
