/*-------------------------------------------------------------------------
 *
 * audit.h
 *	  Recording what operators have done to the log.
 *
 * An audit event is a chat.system that the orchestrator sends to itself in the
 * run AUDIT_RUN; its payload_type says what was done.  It is never pruned.
 * Only operators may write into that run.
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
 * Begins the payload with the acting role.  The caller adds what was done and
 * passes the finished document to audit_append.
 */
extern void audit_begin(DocumentBuilder *b);
/* Appends the event, whose payload_type is "what", to the log. */
extern Receipt audit_append(const char *what, Jsonb *payload);

/* Is the event such an audit event?  If what is NULL, any kind will do. */
extern bool audit_is(Slice run_id, Slice from_agent, Slice payload_type, const char *what);

#endif							/* CLUTCH_AUDIT_H */
