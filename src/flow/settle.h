/*-------------------------------------------------------------------------
 *
 * settle.h
 *	  Settling: handling what a transaction has caused for other tasks.
 *
 * The agenda is handled before the transaction commits or is prepared, in
 * rounds, because an entry may add others.  Handlers never wait.  An entry
 * whose task is busy, or whose handler raises an error (for example in a
 * user's trigger), is postponed (flow/postponed.h), and the transaction
 * commits all the same.  After an error there is also a WARNING: to the
 * client, if it speaks for the requester of the task or for the agent, and
 * otherwise in the server log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SETTLE_H
#define CLUTCH_SETTLE_H

#include "clutch.h"

/*
 * Registers with the transaction manager.  Called once, when the library is
 * loaded.
 */
extern void settle_begin(void);

/*
 * Handles the agenda now, until it is empty.  Returns how many entries were
 * handled.
 */
extern int	settle_agenda(void);

/* The same for at most n of the postponed entries. */
extern int	settle_postponed(int n);

#endif							/* CLUTCH_SETTLE_H */
