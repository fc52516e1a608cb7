/*-------------------------------------------------------------------------
 *
 * savepoint.h
 *	  A step that may fail without making the whole transaction fail.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SAVEPOINT_H
#define CLUTCH_SAVEPOINT_H

#include "datatype/timestamp.h"
#include "utils/elog.h"

/*
 * Runs step(arg) in a subtransaction.  Returns NULL if it succeeds.  Otherwise
 * the subtransaction is rolled back, and the error is returned, palloc'd in
 * the caller's memory context.  Errors of class 57 (a cancel request, a
 * shutdown) are rethrown.
 */
extern ErrorData *savepoint_run(void (*step) (void *arg), void *arg);

/*
 * The same for a step that appends events on behalf of others.  The deferred
 * triggers of users on clutch.events are fired in the subtransaction, unless
 * the transaction itself has inserted events before.  If they were fired when
 * the transaction commits, as usual, one that raises an error would undo the
 * steps for all others as well.
 */
extern ErrorData *savepoint_run_whole(void (*step) (void *arg), void *arg);

/* Does an INSERT into the log queue deferred triggers of users? */
extern bool savepoint_is_deferring(void);

/*
 * From now until the end of the transaction, triggers of users on clutch.events
 * that are deferred, foreign keys above all, are fired for each DELETE.  This
 * does nothing in a transaction block, whose own rows may have to wait.
 */
extern void savepoint_defer_no_deletes(void);

/*
 * To be called for each row that is inserted into the log by the executor.
 */
extern void savepoint_note_insert(void);

/*
 * Is the error due to circumstances, such as a deadlock, a lock that is not
 * available, or a lack of memory or disk space, so that the step may succeed
 * when it is tried again?
 */
extern bool savepoint_failed_by_chance(const ErrorData *error);

/*
 * Is it a lack of memory or disk space?  That is chance as well, but it may
 * last until an operator makes room, so it should be reported.
 */
extern bool savepoint_lacked_resources(const ErrorData *error);

/*
 * Is such a lack to be reported now?  A tick may meet it every second, so each
 * place in the code reports it once a minute.  *told_at is a static variable of
 * the place, at first 0.
 */
extern bool savepoint_tells_of_lack(TimestampTz *told_at);

/*
 * Returns the advice to be given about an error in a step that appends events:
 * the hint of the error, or that triggers of users must not raise errors.
 */
extern const char *savepoint_advice(const ErrorData *error);

#endif							/* CLUTCH_SAVEPOINT_H */
