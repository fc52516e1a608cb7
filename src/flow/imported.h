/*-------------------------------------------------------------------------
 *
 * imported.h
 *	  Which events of the log were imported, while it is being read again.
 *
 * The audit event of an import precedes the events of the run, and has the same
 * transaction.  What happened in another database does not count for the agents
 * of this one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_IMPORTED_H
#define CLUTCH_IMPORTED_H

#include "protocol/envelope.h"

/* begins to read a log from its beginning; lasts as long as the current context */
extern void imported_begin(void);

/* Was the event imported?  To be called for each event in the order of seq. */
extern bool imported_has(const Envelope *envelope, uint64 xid);

#endif							/* CLUTCH_IMPORTED_H */
