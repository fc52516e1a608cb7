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

/* Is it the error of a wait that has lasted for lock_timeout? */
extern bool wait_has_timed_out(const ErrorData *error);

/*
 * From now on, when a step of a transaction of this process has failed because
 * a wait has lasted for lock_timeout, the further waits of that transaction are
 * short.  The other steps may need the lock of the same table, and each of them
 * would wait as long again.
 */
extern void wait_long_only_once(void);

/* To be called with the error of such a step, outside its subtransaction. */
extern void wait_note_failure(const ErrorData *error);

/* After wait_long_only_once: has a step failed so since the last call? */
extern bool wait_take_failure(void);

/*
 * Waits until the transaction has ended, which may take as long as its client
 * likes: the caller must not hold a guard that others need meanwhile.
 */
extern void wait_for_transaction(TransactionId xid);

#endif							/* CLUTCH_WAIT_H */
