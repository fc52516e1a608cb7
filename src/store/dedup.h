/*-------------------------------------------------------------------------
 *
 * dedup.h
 *	  Deduplication: each (run_id, id), and each key of a sender, enters the
 *	  log once (P2).
 *
 * They are looked up with a dirty snapshot.  A resend waits for an original
 * that has not been committed yet, because until then it is not known which of
 * them comes first.  A guard is held from the lookup to the insertion.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DEDUP_H
#define CLUTCH_DEDUP_H

#include "store/event.h"

/*
 * Returns true if the event is in the log already, in which case its receipt
 * has been left (event_leave_receipt).  Raises 23505 if the same id or key was
 * used for something else.
 */
extern bool dedup_seen(const Event *event);

/*
 * The same for a result or error that repeats, under another id, one that was
 * not late, of the same task, agent, attempt, type and payload, or a progress
 * report that repeats one with the same content.  seq is that of the only event
 * that it may repeat, or 0 for any event of the task.  To be called after
 * dedup_seen.
 */
extern bool dedup_report_seen(const Event *event, int attempt, int64 seq);

/*
 * The guards that it takes, in this order.  A function that sends many
 * envelopes takes all of them first.
 */
extern uint64 dedup_id_guard(Slice id, Slice run_id);
extern uint64 dedup_key_guard(Slice key, Slice run_id, Slice sender);

#endif							/* CLUTCH_DEDUP_H */
