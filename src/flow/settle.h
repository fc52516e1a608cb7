/*-------------------------------------------------------------------------
 *
 * settle.h
 *	  Handling what a transaction has caused for other tasks.
 *
 * The agenda is handled before the transaction commits or is prepared, in
 * rounds: an entry may add others.  Handlers never wait.  An entry whose task is
 * busy, and one whose handler raises an error (a trigger of a user, say), is
 * postponed (flow/postponed.h); in the second case there is a WARNING as well,
 * to whoever speaks for the requester of the task, or for the agent, and otherwise
 * in the log of the server, and the transaction commits all the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SETTLE_H
#define CLUTCH_SETTLE_H

#include "clutch.h"

/* registers with the transaction manager; called once, when the library is loaded */
extern void settle_begin(void);

/*
 * Handles the agenda now, until it is empty.  Returns how many entries it
 * handled.
 */
extern int	settle_agenda(void);

/* the same for at most n of the entries that were postponed */
extern int	settle_postponed(int n);

#endif							/* CLUTCH_SETTLE_H */
