/*-------------------------------------------------------------------------
 *
 * excuse.h
 *	  What the audit events of the log say about events that differ from what was
 *	  sealed: they were pruned, or redacted.
 *
 * An audit event is itself a leaf of the tree, so whoever wants to pass a forgery
 * off as a redaction has to say so where everybody can see it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EXCUSE_H
#define CLUTCH_EXCUSE_H

#include "base/document.h"
#include "ledger/checkpoint.h"

/* all excuses of the log; palloc'd */
typedef struct Excuses Excuses;

extern Excuses *excuse_read(RowSnapshot which);

extern bool excuse_has_pruned(const Excuses *excuses, int64 seq);

/* Does an audit event say that redacting this event changed its leaf from was to is? */
extern bool excuse_has_redacted(const Excuses *excuses, int64 seq, const MerkleHash *was,
								 const MerkleHash *is);

/* --- what prune and redact put into the payload of their audit events --- */

/* the ranges of n seqs, ascending, as [[first, last], ..] */
extern void excuse_put_pruned(DocumentBuilder *b, const int64 *seqs, int n);
extern void excuse_put_redacted(DocumentBuilder *b, const MerkleHash *was, const MerkleHash *is);

#endif							/* CLUTCH_EXCUSE_H */
