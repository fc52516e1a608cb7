/*-------------------------------------------------------------------------
 *
 * excuse.h
 *	  Excuses: what the audit events of the log say about events that differ
 *	  from what was sealed because they were pruned or redacted.
 *
 * An audit event is itself a leaf of the tree, so passing off a forgery as a
 * redaction leaves a record that everybody can see.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EXCUSE_H
#define CLUTCH_EXCUSE_H

#include "base/document.h"
#include "ledger/checkpoint.h"

/* all excuses in the log, palloc'd */
typedef struct Excuses Excuses;

/* Reads the audit events that the calling statement sees. */
extern Excuses *excuse_read(void);

/* Does an audit event say that this event was pruned? */
extern bool excuse_has_pruned(const Excuses *excuses, int64 seq);

/*
 * Does an audit event say that redacting this event changed its leaf from
 * "was" to "is"?
 */
extern bool excuse_has_redacted(const Excuses *excuses, int64 seq, const MerkleHash *was,
								 const MerkleHash *is);

/* --- what prune and redact put into the payload of their audit events --- */

/*
 * Adds the ranges of n seqs, which must be in ascending order, as [[first,
 * last], ..].
 */
extern void excuse_put_pruned(DocumentBuilder *b, const int64 *seqs, int n);
/* Adds that a leaf was changed from "was" to "is". */
extern void excuse_put_redacted(DocumentBuilder *b, const MerkleHash *was, const MerkleHash *is);

#endif							/* CLUTCH_EXCUSE_H */
