/*-------------------------------------------------------------------------
 *
 * erasure.h
 *	  Erasure: the only way past the triggers that protect the log (P3).
 *
 * Rows of the log are deleted, and an envelope is replaced, by an ordinary
 * statement, so that users' foreign keys, triggers and indexes do their work.
 * While that statement runs, the triggers of the log ask erasure_permits_row
 * about every row and refuse all other rows, including those that a user's
 * trigger tries to change meanwhile.
 *
 * It waits at most 50 ms for a transaction that refers to a row by a foreign
 * key, and then raises 55P03.  The caller decides who may erase.  The
 * statement runs as the current role, which must own the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ERASURE_H
#define CLUTCH_ERASURE_H

#include "access/htup.h"
#include "store/event.h"

/*
 * Deletes these events, whose seqs must be in ascending order.  Raises 40001
 * if the snapshot of the transaction does not see one of them.
 */
extern void erasure_delete(const int64 *seqs, int n);

/* Replaces the envelope of an event.  Nothing else of its row changes. */
extern void erasure_replace(int64 seq, Jsonb *envelope);

/*
 * May a statement delete (or update) rows now, provided that each of its rows
 * is permitted?
 */
extern bool erasure_permits_statement(bool is_delete);

/* May this row be deleted (after is NULL), or replaced by the new one? */
extern bool erasure_permits_row(TupleDesc desc, HeapTuple before, HeapTuple after);

#endif							/* CLUTCH_ERASURE_H */
