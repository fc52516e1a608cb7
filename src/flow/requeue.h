/*-------------------------------------------------------------------------
 *
 * requeue.h
 *	  Putting a task back: the database says why, and the next attempt is
 *	  routed.
 *
 * The agent that had the task loses it, and whatever it still reports belongs
 * to an older attempt.  The caller has locked the task, which must have the
 * status named at each function.  The receipt, palloc'd, is that of the event
 * that says what happened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REQUEUE_H
#define CLUTCH_REQUEUE_H

#include "base/text_map.h"
#include "store/event.h"
#include "task/task.h"

/* Its agent gives it back (assigned, running, input_required or suspended). */
extern Receipt requeue_release(Task *task, Slice reason);

/* The orchestrator takes it from an agent that is lost (assigned). */
extern void requeue_take_away(Task *task, Slice reason);

/*
 * Its lease has expired (running).  It is put back, unless too many leases on
 * it were lost; in that case it fails.
 */
extern void requeue_expire(Task *task);

/* The same for a lease that a restored copy of the database does not honor. */
extern void requeue_void(Task *task);

/* Its question has been answered (input_required). */
extern void requeue_resume(Task *task, int64 answer_seq, Slice answer_id);

/*
 * What it was suspended for has happened (suspended): the time, its children,
 * or a message.  A message wakes it only once in its life;
 * requeue_was_messaged tells whether it has.  To ask this about many messages,
 * pass it what requeue_list_heard returns, and otherwise NULL.
 */
struct ChildCount;
extern void requeue_wake(Task *task);
extern void requeue_join(Task *task, const struct ChildCount *count, bool met);
extern void requeue_message(Task *task, int64 message_seq, Slice message_id);
extern TextMap *requeue_list_heard(const Task *task);
extern bool requeue_was_messaged(const Task *task, Slice message_id, TextMap *heard);

/* It is retried by hand (failed, cancelled or timed_out). */
extern Receipt requeue_revive(Task *task, Slice by_agent);

#endif							/* CLUTCH_REQUEUE_H */
