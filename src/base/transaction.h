/*-------------------------------------------------------------------------
 *
 * transaction.h
 *	  Doing with the end of a transaction what was remembered in it.
 *
 * What a backend remembers of rows may be the work of a transaction or a
 * savepoint that rolls back: it must not outlive it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSACTION_H
#define CLUTCH_TRANSACTION_H

/*
 * Static: it is never unregistered.  Any of the functions may be NULL.  Those
 * called while a transaction ends neither raise nor read tables; committing
 * is still in it and may.
 */
typedef struct TransactionWatch
{
	void		(*rolled_back) (void);	/* all of it, or a savepoint */
	void		(*ended) (void);	/* all of it, either way; after the others */
	void		(*released) (void); /* a savepoint, whose work is now its parent's */
	void		(*committing) (void);	/* about to; not when it is prepared */
	void		(*committed) (void);	/* others see it */
	void		(*prepared) (void); /* for the second phase */
	bool		watching;		/* set by transaction_watch */
} TransactionWatch;

/* from now on; nothing when it is done already */
extern void transaction_watch(TransactionWatch *watch);

#endif							/* CLUTCH_TRANSACTION_H */
