/*-------------------------------------------------------------------------
 *
 * limits.h
 *	  How large, how deep and how full a document may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LIMITS_H
#define CLUTCH_LIMITS_H

#include "protocol/problem.h"
#include "utils/jsonb.h"

/* TOO_LARGE, TOO_DEEP, TOO_MANY_NODES, NUMBER_OUT_OF_RANGE */
extern void limits_check(Jsonb *doc, ProblemList *list);

/* the settings that limit what is sent, as they were */
typedef struct Limits
{
	int			values[7];
} Limits;

/*
 * What was admitted is read without them: they may have been lowered since.
 * The caller restores them on every way out.
 */
extern Limits limits_lift(void);
extern void limits_restore(const Limits *limits);

#endif							/* CLUTCH_LIMITS_H */
