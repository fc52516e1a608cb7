/*-------------------------------------------------------------------------
 *
 * retry.h
 *	  Trying a failed task again later: backoff with jitter (spec 003, 5.2).
 *
 * A retry is an event of its own, the orchestrator's move "retried", which
 * follows the error in the same transaction and says when the task is due
 * again; until then the task is held.  A task that is not tried again stands in
 * clutch.dead_letters.
 *
 * The policy is the first that names a value: the request's (meta.clutch.retry),
 * the payload type's (clutch.set_retry_policy), the card's, the settings'.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RETRY_H
#define CLUTCH_RETRY_H

#include "protocol/envelope.h"
#include "task/task.h"

/*
 * The caller has moved the task to failed by this report, or to timed_out.
 * Returns true if the task is pending again, and waits for its next try.
 */
extern bool retry_after_error(Task *task, const Envelope *error);
extern bool retry_after_timeout(Task *task);

/* The same after the database has failed an attempt whose results broke a contract. */
extern bool retry_after_contract(Task *task);

#endif							/* CLUTCH_RETRY_H */
