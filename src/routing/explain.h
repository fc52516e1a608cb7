/*-------------------------------------------------------------------------
 *
 * explain.h
 *	  Explaining why an agent is not a candidate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EXPLAIN_H
#define CLUTCH_EXPLAIN_H

#include "routing/choice.h"

/*
 * Returns the first filter that the agent failed, and sets *detail (palloc'd)
 * to the reason in words.  If the agent is a candidate, returns REJECTED_NOT
 * and leaves *detail unchanged.
 */
extern Rejection explain_rejection(const Choice *choice, int ordinal, char **detail);

#endif							/* CLUTCH_EXPLAIN_H */
