/*-------------------------------------------------------------------------
 *
 * wait.h
 *	  Waiting for other transactions, and forbidding it.
 *
 * Wherever the open transaction of another role could keep clutch waiting, this
 * file is asked first: rows_lock, guard_take and guard_keep call
 * wait_is_allowed before they block, and wait_for_transaction does so itself.
 * Work done on behalf of others (ticks, and the consequences handled at commit)
 * runs under wait_forbidden_run, so that no role can hold it up by keeping a
 * transaction open.  PostgreSQL's own waits are not covered: for a table that
 * the owner is changing, or for a row with the same key in a unique index,
 * which guards prevent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAIT_H
#define CLUTCH_WAIT_H

#include "clutch.h"
#include "compat.h"

/*
 * Runs step(arg).  While it runs, each wait is tried without blocking, and
 * raises ERRCODE_LOCK_NOT_AVAILABLE if it would block.  Calls may be nested,
 * and an error restores the state before the outermost call.
 */
extern void wait_forbidden_run(void (*step) (void *arg), void *arg);

/* Returns false inside wait_forbidden_run. */
extern bool wait_is_allowed(void);

/*
 * Raises ERRCODE_LOCK_NOT_AVAILABLE in place of a wait that is not allowed.
 * what completes "could not obtain lock on ...".
 */
pg_noreturn extern void wait_refuse(const char *what);

/*
 * Is it the error with which PostgreSQL ends a wait that has lasted for
 * lock_timeout?  A wait that was refused has the same code.
 */
extern bool wait_has_timed_out(const ErrorData *error);

/*
 * Waits until the transaction has ended, which may take as long as its client
 * likes: the caller must not hold a guard that others need meanwhile.
 */
extern void wait_for_transaction(TransactionId xid);

#endif							/* CLUTCH_WAIT_H */
