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
 * The guards that it takes, in this order.  A function that sends many
 * envelopes takes all of theirs first.
 */
extern uint64 dedup_id_guard(Slice id, Slice run_id);
extern uint64 dedup_key_guard(Slice key, Slice run_id, Slice sender);

#endif							/* CLUTCH_DEDUP_H */
