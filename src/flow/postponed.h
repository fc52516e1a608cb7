/*-------------------------------------------------------------------------
 *
 * postponed.h
 *	  Consequences that could not be handled when their transaction committed:
 *	  rows of clutch.consequence.
 *
 * An entry whose task another transaction had locked, or whose handler raised an
 * error, is written here by the transaction that caused it, and handled by a
 * later claim, tick or worker.  Inserting a row makes nobody wait.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_POSTPONED_H
#define CLUTCH_POSTPONED_H

#include "flow/agenda.h"

/* writes a row, and lets the worker know */
extern void postponed_put(const Consequence *consequence);

/* Is there a row, as far as can be seen at little cost? */
extern bool postponed_is_any(void);

/* Returns the tasks and agents that the rows concern, as a List of Slice *. */
extern struct List *postponed_list_subjects(void);

/*
 * Calls handle for at most n rows that no other transaction is handling, and
 * deletes those for which it returns true.  Returns how many it deleted.
 */
typedef bool (*PostponedHandler) (const Consequence *consequence, void *arg);

extern int	postponed_handle(int n, PostponedHandler handle, void *arg);

#endif							/* CLUTCH_POSTPONED_H */
