/*-------------------------------------------------------------------------
 *
 * postponed.h
 *	  Postponed consequences, which could not be handled when their transaction
 *	  committed: rows of clutch.consequence.
 *
 * If another transaction had locked the task of an entry, or its handler
 * raised an error, the transaction that caused the entry writes it here, and a
 * later claim, tick or worker handles it.  Inserting a row makes nobody wait.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_POSTPONED_H
#define CLUTCH_POSTPONED_H

#include "flow/agenda.h"
#include "nodes/pg_list.h"

/* Writes a row, and notifies the worker. */
extern void postponed_put(const Consequence *consequence);

/* Is there a row, as far as that can be seen at little cost? */
extern bool postponed_is_any(void);

/* Returns the tasks and agents that the rows concern, as a List of Slice *. */
extern List *postponed_list_subjects(void);

/*
 * Calls handle for at most n rows that no other transaction is handling, and
 * deletes those for which it returns true.  Returns how many were deleted.
 */
typedef bool (*PostponedHandler) (const Consequence *consequence);

extern int	postponed_handle(int n, PostponedHandler handle);

#endif							/* CLUTCH_POSTPONED_H */
