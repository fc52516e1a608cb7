/*-------------------------------------------------------------------------
 *
 * transaction.h
 *	  Functions that are called when a transaction or a savepoint ends.
 *
 * What a backend remembers about rows may be the work of a transaction or of
 * a savepoint that is rolled back later, and must then be forgotten.  Other
 * work is best done once, at the end: what an event causes for other tasks,
 * and telling listeners.
 *
 * This file registers the only callbacks of clutch with the transaction
 * manager, and calls all watches phase by phase.  A transaction that commits
 * goes through settling, committing, committed, ended; one that is prepared
 * through preparing, settling, prepared, ended; one that fails through
 * rolled_back, ended.  Within a phase, the watch that was registered first is called first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSACTION_H
#define CLUTCH_TRANSACTION_H

/*
 * A watch is static, because it is never unregistered.  Each function may be
 * NULL.
 *
 * settling is called inside the transaction: it may read and write tables,
 * use subtransactions and raise errors, which make the transaction fail.  An
 * active snapshot is set; the role is the one that is current at commit; the
 * memory context is deleted when everything is settled.  It may write even if the
 * transaction is read only by now, so what it is to settle must have begun by a
 * write.  committing may raise
 * errors as well, but does not access tables.  Neither is called in parallel
 * workers.
 *
 * The other functions are called while the transaction ends: they neither
 * raise errors nor access tables.
 */
typedef struct TransactionWatch
{
	/* the transaction, or a savepoint of it, has been rolled back */
	void		(*rolled_back) (void);

	/* the transaction is over or prepared; called after the other functions */
	void		(*ended) (void);

	/* a savepoint has been released: its work now belongs to its parent */
	void		(*released) (void);

	/*
	 * Before commit and before PREPARE TRANSACTION.  Returns true if it did
	 * something.  As this may have caused work for another watch, and may
	 * have queued deferred triggers of users, which may send events, all
	 * settling functions are called again until each of them returns false.
	 * unsettled, if given, says cheaply whether there is anything to do, so
	 * that other transactions do not pay for a snapshot.
	 */
	bool		(*unsettled) (void);
	bool		(*settling) (void);

	/* before PREPARE TRANSACTION and before settling: work that can be left to others */
	void		(*preparing) (void);

	/* before commit, but not before PREPARE, when everything is settled */
	void		(*committing) (void);

	/* the transaction is committed and visible to others */
	void		(*committed) (void);

	/* the transaction is prepared, to be committed or rolled back by anybody */
	void		(*prepared) (void);

	/* set by transaction_watch */
	bool		watching;
	struct TransactionWatch *next;
} TransactionWatch;

/* begins to call the functions of a watch; does nothing the second time */
extern void transaction_watch(TransactionWatch *watch);

#endif							/* CLUTCH_TRANSACTION_H */
