/*-------------------------------------------------------------------------
 *
 * redaction.h
 *	  An envelope of the log whose content has been replaced by its digest.
 *
 * What remains of the payload is {"redacted": {"sha256", "reason"}} and what the
 * state of the task was made of: words, times and numbers of the protocol, but no
 * text.  Attachments are removed, and of meta all but "clutch", from
 * which the output of a step is removed, too.  The digest is that
 * of the payload as text, in UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REDACTION_H
#define CLUTCH_REDACTION_H

#include "protocol/envelope.h"

/* what stands in place of a text that the state of a task has been given */
#define REDACTED_TEXT	"redacted"

/* Returns the digest, in hexadecimal. */
extern Slice redaction_digest(JsonbValue *payload);

/*
 * Returns the digest that an envelope of the log was replaced by, or absent.
 */
extern Slice redaction_of(Jsonb *document);

/* Has nothing been left that would be replaced?  An agent may have written such a payload itself. */
extern bool redaction_is_done(const Envelope *envelope);

/* Returns the envelope that takes the place of this one; palloc'd. */
extern Jsonb *redaction_document(const Envelope *envelope, Slice digest, Slice reason);

/*
 * The text of the payload that the event may have left in its task, as its
 * detail; absent if there is none.
 */
extern Slice redaction_detail(const Envelope *envelope);

#endif							/* CLUTCH_REDACTION_H */
