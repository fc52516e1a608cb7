/*-------------------------------------------------------------------------
 *
 * imported.h
 *	  Recognizing imported events while the log is being read again.
 *
 * The audit event of an import precedes the imported events and has the same
 * transaction.  What happened in another database does not count for the
 * agents of this one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_IMPORTED_H
#define CLUTCH_IMPORTED_H

#include "protocol/envelope.h"

/*
 * Prepares for reading a log from its beginning.  The memory lives as long as
 * the current context.
 */
extern void imported_begin(void);

/*
 * Was the event imported?  To be called for each event, in the order of seq.
 */
extern bool imported_has(const Envelope *envelope, uint64 xid);

#endif							/* CLUTCH_IMPORTED_H */
