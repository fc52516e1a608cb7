/*-------------------------------------------------------------------------
 *
 * verification.h
 *	  Comparing the log with the tree over it (clutch.verify_log).
 *
 * Three things are compared: the hashes of the tree with the roots of the
 * checkpoints, the rows of the log with the leaves, and the signatures with
 * the notes.  An audit event may excuse a row that differs (ledger/excuse.h).
 * If somebody rewrites the log, the hashes and the checkpoints consistently,
 * this cannot detect it, but those who have kept a head outside can.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERIFICATION_H
#define CLUTCH_VERIFICATION_H

#include "ledger/checkpoint.h"

/* reports a finding: a code of docs/errors.md, a sentence, and what to do */
typedef void (*VerificationReport) (const char *code, const char *detail, const char *hint, void *arg);

/*
 * Reads the whole log, as the calling statement sees it.  Reports nothing if
 * it is sound.
 */
extern void verification_run(VerificationReport report, void *arg);

#endif							/* CLUTCH_VERIFICATION_H */
