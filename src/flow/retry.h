/*-------------------------------------------------------------------------
 *
 * retry.h
 *	  Trying a failed task again, later: backoff with jitter (spec 003 5.2).
 *
 * A retry is an event of its own, the move "retried" of the orchestrator, which
 * follows the error in the same transaction and says when; until then the
 * task is held.  What is not tried again stands in clutch.dead_letters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RETRY_H
#define CLUTCH_RETRY_H

#include "task/task.h"

/*
 * The task has just failed by this report, or timed out, and is not saved
 * yet.  true: it is held for another try.
 */
extern bool retry_after_error(Task *task, const Envelope *error);
extern bool retry_after_timeout(Task *task);

#endif							/* CLUTCH_RETRY_H */
