/*-------------------------------------------------------------------------
 *
 * requeue.h
 *	  A task begins again: the database says why, and the next attempt is
 *	  routed.
 *
 * Whatever agent had the task loses it, and what that agent still reports is of
 * an older attempt.  The caller has the task locked, with the status named
 * beside each function.  The receipt, palloc'd, is that of the event that says
 * what happened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REQUEUE_H
#define CLUTCH_REQUEUE_H

#include "store/event.h"
#include "task/task.h"

/* its agent gives it back (assigned, running, input_required or suspended) */
extern Receipt requeue_release(Task *task, Slice reason);

/* the orchestrator takes it from an agent that is lost (assigned) */
extern void requeue_take_away(Task *task, Slice reason);

/*
 * Its lease has run out (running): it begins again, unless too many leases were
 * lost on it; then it fails.
 */
extern void requeue_expire(Task *task);

/* the same for a lease that a restored copy of the database does not honour */
extern void requeue_void(Task *task);

/* its question has been answered (input_required) */
extern void requeue_resume(Task *task, int64 answer_seq, Slice answer_id);

/*
 * What it was suspended for has come (suspended): the time, its children, or a
 * message.  A message wakes it once in its life, which requeue_was_messaged tells.
 */
struct ChildCount;
extern void requeue_wake(Task *task);
extern void requeue_join(Task *task, const struct ChildCount *count, bool met);
extern void requeue_message(Task *task, int64 message_seq, Slice message_id);
extern bool requeue_was_messaged(const Task *task, Slice message_id);

/* it is revived (failed, cancelled or timed_out) */
extern Receipt requeue_revive(Task *task, Slice by_agent);

#endif							/* CLUTCH_REQUEUE_H */
