/*-------------------------------------------------------------------------
 *
 * explain.h
 *	  Why an agent is no candidate, in words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EXPLAIN_H
#define CLUTCH_EXPLAIN_H

#include "routing/candidate.h"

/*
 * The first filter that this agent failed; *detail says in what, palloc'd.
 * REJECTED_NOT: it is a candidate, and *detail is not set.
 */
extern Rejection explain_rejection(const Search *search, int ordinal, char **detail);

#endif							/* CLUTCH_EXPLAIN_H */
