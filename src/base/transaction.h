/*-------------------------------------------------------------------------
 *
 * transaction.h
 *	  Forgetting with a transaction what was remembered in it.
 *
 * What a backend remembers of rows may be the work of a transaction or a
 * savepoint that rolls back: it must not outlive it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSACTION_H
#define CLUTCH_TRANSACTION_H

/*
 * Static: it is never unregistered.  The functions may be NULL; they are
 * called while a transaction ends, so they neither raise nor read tables.
 */
typedef struct TransactionWatch
{
	void		(*rolled_back) (void);	/* all of it, or a savepoint */
	void		(*ended) (void);	/* all of it, either way; after rolled_back */
	bool		watching;		/* set by transaction_watch */
} TransactionWatch;

/* from now on; nothing when it is done already */
extern void transaction_watch(TransactionWatch *watch);

#endif							/* CLUTCH_TRANSACTION_H */
