/*-------------------------------------------------------------------------
 *
 * dedup.h
 *	  Each (run_id, id), and each key of a sender, enters the log once (P2).
 *
 * They are looked up with a dirty snapshot.  A resend waits for a first sender
 * that has not committed yet, because only then is it known which of them is
 * the first.  A guard is held between the look and the insert.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DEDUP_H
#define CLUTCH_DEDUP_H

#include "store/event.h"

/*
 * Returns true if the event is in the log already; its receipt is then left
 * (event_leave_receipt).  Raises 23505 if the same id or key was used for
 * something else.
 */
extern bool dedup_seen(const Event *event);

/*
 * The same for a result or error that repeats, under another id, one of the same
 * task, agent, attempt, type and payload that was not late.  seq is that of the
 * only event that it may repeat, or 0 for any of the task.  Called after
 * dedup_seen.
 */
extern bool dedup_end_seen(const Event *event, int attempt, int64 seq);

/*
 * The guards that it takes, in this order.  A function that sends many
 * envelopes takes all of theirs first.
 */
extern uint64 dedup_id_guard(Slice id, Slice run_id);
extern uint64 dedup_key_guard(Slice key, Slice run_id, Slice sender);

#endif							/* CLUTCH_DEDUP_H */
