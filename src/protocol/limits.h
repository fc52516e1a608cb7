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

/* adds TOO_LARGE, TOO_DEEP, TOO_MANY_NODES, NUMBER_OUT_OF_RANGE */
extern void limits_check(Jsonb *doc, ProblemList *list);

#endif							/* CLUTCH_LIMITS_H */
