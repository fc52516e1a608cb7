/*-------------------------------------------------------------------------
 *
 * redaction.h
 *	  Redaction: replacing the content of an envelope in the log by its digest.
 *
 * What remains of the payload is {"redacted": {"sha256", "reason"}} and what
 * the state of the task was derived from: words, times and numbers of the
 * protocol, but no free text.  Attachments are removed, and so is everything
 * in meta except "clutch", from which the output of a step is removed, too.
 * The digest is that of the payload as text, in UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REDACTION_H
#define CLUTCH_REDACTION_H

#include "protocol/envelope.h"

/* stands in place of a text that became part of the state of a task */
#define REDACTED_TEXT	"redacted"

/* Returns the digest, in hexadecimal. */
extern Slice redaction_digest(JsonbValue *payload);

/*
 * Returns the digest by which the content of an envelope in the log was
 * replaced, or an absent slice.
 */
extern Slice redaction_of(Jsonb *document);

/*
 * Is there nothing left to redact?  An agent may have written such a payload
 * itself.
 */
extern bool redaction_is_done(const Envelope *envelope);

/* Returns the envelope that takes the place of this one, palloc'd. */
extern Jsonb *redaction_document(const Envelope *envelope, Slice digest, Slice reason);

/*
 * Returns the text of the payload that the event may have left in its task as
 * its detail, or an absent slice if there is none.
 */
extern Slice redaction_detail(const Envelope *envelope);

#endif							/* CLUTCH_REDACTION_H */
