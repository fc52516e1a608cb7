/*-------------------------------------------------------------------------
 *
 * verification_part.h
 *	  Private declarations of verification.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERIFICATION_PART_H
#define CLUTCH_VERIFICATION_PART_H

#include "ledger/verification.h"

/* consecutive seqs that are consecutive leaves */
typedef struct VerificationSegment
{
	int64		from;
	int64		to;
	int64		leaf;			/* leaf of the first seq */
} VerificationSegment;

/*
 * The sealed part of the log, as far as the tree agrees with the checkpoints.
 */
typedef struct VerificationScope
{
	VerificationSegment *segments;	/* by seq, without overlaps */
	int			n;
	int			room;
	int			epoch;			/* of the last checkpoint: all transactions */
	uint64		xid;			/* before this one */
} VerificationScope;

typedef struct Verification
{
	VerificationReport report;
	void	   *arg;
	int			findings;
	VerificationScope scope;
} Verification;

extern void verification_find(Verification *v, const char *code, const char *hint,
							  const char *format,...) pg_attribute_printf(4, 5);

/* --- verification_log.c --- */

extern void verification_compare_log(Verification *v);

#endif							/* CLUTCH_VERIFICATION_PART_H */
