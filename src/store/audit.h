/*-------------------------------------------------------------------------
 *
 * audit.h
 *	  What the database records of what operators have done to the log.
 *
 * An audit event is a chat.system of the orchestrator to itself, in the run
 * AUDIT_RUN; its payload_type says what was done.  It is never pruned.  Only
 * operators may write to that run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AUDIT_H
#define CLUTCH_AUDIT_H

#include "base/document.h"
#include "store/event.h"

#define AUDIT_RUN			"run:audit"

#define AUDIT_PRUNED		"audit.pruned"
#define AUDIT_REDACTED		"audit.redacted"
#define AUDIT_IMPORTED		"audit.imported"
#define AUDIT_KEY_ADDED		"audit.key_added"
#define AUDIT_KEY_REVOKED	"audit.key_revoked"

/*
 * Begins the payload with the role that acts; the caller adds what was done and
 * passes the finished document to audit_append.
 */
extern void audit_begin(DocumentBuilder *b);
extern Receipt audit_append(const char *what, Jsonb *payload);

/* Is the event one of these?  what is NULL: of any kind. */
extern bool audit_is(Slice run_id, Slice from_agent, Slice payload_type, const char *what);

#endif							/* CLUTCH_AUDIT_H */
