/*-------------------------------------------------------------------------
 *
 * redact.h
 *	  Erasing the content of one event (clutch.redact).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REDACT_H
#define CLUTCH_REDACT_H

#include "base/text.h"

/*
 * Replaces the content of the event by its digest (store/redaction.h), in the
 * log and in the state of its task, and leaves an audit event.  Returns false
 * if that has been done before.  The caller must be the owner of the log.
 * Raises 42704 if there is no such event, and 0A000 for an event of the
 * registry.
 */
extern bool redact_event(int64 seq, Slice reason);

#endif							/* CLUTCH_REDACT_H */
