/*-------------------------------------------------------------------------
 *
 * limits.h
 *	  Limits on the size, the depth and the number of values of a document.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LIMITS_H
#define CLUTCH_LIMITS_H

#include "protocol/problem.h"
#include "utils/jsonb.h"

/*
 * limits for the words of a routing rule: how many there may be, and the
 * length of each word or phrase
 */
#define LIMITS_PHRASES		1000
#define LIMITS_PHRASE_BYTES	1000

/* the longest time to live of an envelope, in milliseconds: a hundred years */
#define LIMITS_TTL_MS		(INT64CONST(100) * 365 * 24 * 3600 * 1000)

/* advice for envelopes that are too large */
#define LIMITS_USE_ARTIFACTS	" Put large content into an artifact and refer to it in \"attachments\"."

/*
 * Adds the faults TOO_LARGE, TOO_DEEP, TOO_MANY_NODES, NUMBER_OUT_OF_RANGE and
 * NUMBER_TOO_LONG.  "advice" is "" or sentences with a space before them; they
 * are added to TOO_LARGE.
 */
extern void limits_check(Jsonb *doc, const char *advice, ProblemList *list);

#endif							/* CLUTCH_LIMITS_H */
