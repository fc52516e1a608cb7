/*-------------------------------------------------------------------------
 *
 * retry.h
 *	  Retrying failed tasks later: backoff with jitter (spec 003, 5.2).
 *
 * A retry is an event of its own, with the move "retried" by the orchestrator.
 * It follows the error in the same transaction and says when the task is due
 * again; until then the task is held.  A task that is not retried appears in
 * clutch.dead_letters.
 *
 * Each value of the policy is taken from the first of these that has it: the
 * request (meta.clutch.retry), the payload type (clutch.set_retry_policy), the
 * card, the settings.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RETRY_H
#define CLUTCH_RETRY_H

#include "protocol/envelope.h"
#include "task/task.h"

/*
 * The caller has moved the task to failed by this report, or to timed_out.
 * Returns true if the task is pending again and waits for its next try.
 */
extern bool retry_after_error(Task *task, const Envelope *error);
extern bool retry_after_timeout(Task *task);

/*
 * The same after the database has failed an attempt whose results broke a
 * contract.
 */
extern bool retry_after_contract(Task *task);

#endif							/* CLUTCH_RETRY_H */
