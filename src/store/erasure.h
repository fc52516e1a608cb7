/*-------------------------------------------------------------------------
 *
 * erasure.h
 *	  The one way past the triggers that protect the log (P3).
 *
 * Rows of the log are deleted, and an envelope is replaced, by an ordinary
 * statement, so that foreign keys, triggers and indexes of users do what they
 * are there for.  While that statement runs, the triggers of the log ask
 * erasure_permits about every row, and let no other row pass: what a trigger of
 * a user does meanwhile is refused as always.
 *
 * It waits at most 50 ms for a transaction that refers to a row by a foreign
 * key, and then raises 55P03.  Who may erase is decided by the caller.  The statement runs as the current
 * role, which must own the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ERASURE_H
#define CLUTCH_ERASURE_H

#include "access/htup.h"
#include "store/event.h"

/*
 * Deletes these events, whose seqs must be ascending.  Raises 40001 if the
 * snapshot of the transaction does not see one of them.
 */
extern void erasure_delete(const int64 *seqs, int n);

/* Replaces the envelope of an event; nothing else of its row changes. */
extern void erasure_replace(int64 seq, Jsonb *envelope);

/* May a statement delete rows (or update them) now, provided that its rows are permitted? */
extern bool erasure_permits_statement(bool is_delete);

/* May this row be deleted, or replaced by the new one?  after is NULL for a deletion. */
extern bool erasure_permits_row(TupleDesc desc, HeapTuple before, HeapTuple after);

#endif							/* CLUTCH_ERASURE_H */
