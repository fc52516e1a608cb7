/*-------------------------------------------------------------------------
 *
 * dedup.h
 *	  (run_id, id) enters the log once, and so does a sender's key (P2).
 *
 * Looked up with a dirty snapshot: a first sender that has not committed is
 * waited for, so that a resend is never answered before it is known what
 * became of the first.  A guard closes the instant between look and insert.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DEDUP_H
#define CLUTCH_DEDUP_H

#include "store/event.h"

/*
 * true: it is there already, and its receipt is left (event_leave_receipt).
 * Raises 23505 when the same id or key was used for something else.
 */
extern bool dedup_seen(const Event *event);

/* the guards it takes, in this order, for who must take those of many first */
extern uint64 dedup_id_guard(Slice id, Slice run_id);
extern uint64 dedup_key_guard(Slice key, Slice run_id, Slice sender);

#endif							/* CLUTCH_DEDUP_H */
