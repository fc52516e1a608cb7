/*-------------------------------------------------------------------------
 *
 * explain.h
 *	  Why an agent is not a candidate, in words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EXPLAIN_H
#define CLUTCH_EXPLAIN_H

#include "routing/choice.h"

/*
 * Returns the first filter that the agent failed, and says in *detail (palloc'd)
 * why; or REJECTED_NOT, with *detail unchanged, if it is a candidate.
 */
extern Rejection explain_rejection(const Choice *choice, int ordinal, char **detail);

#endif							/* CLUTCH_EXPLAIN_H */
