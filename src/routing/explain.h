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
 * Returns the first filter that the agent failed, with the reason in words in
 * *detail (palloc'd), or REJECTED_NOT and NULL if the agent is a candidate.
 */
extern Rejection explain_rejection(const Choice *choice, int ordinal, char **detail);

#endif							/* CLUTCH_EXPLAIN_H */
