/*-------------------------------------------------------------------------
 *
 * candidate.h
 *	  The agents that pass the filters: their loads, and the best of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANDIDATE_H
#define CLUTCH_CANDIDATE_H

#include "routing/choice.h"

/*
 * Judges the agents that the filters left by their load: the full ones are
 * rejected, and the best of the others, so many at most, are listed in order.
 * May be called again after candidate_reject_full.
 */
extern void candidate_rank(Choice *choice, int most);

/*
 * The agents that were rejected only because they are full, those that fit best
 * first, and at most so many.  Returns how many; the ordinals are palloc'd, and so
 * are their scores.
 */
extern int	candidate_list_full(const Choice *choice, int most, int **ordinals, double **scores);

/* Moves a candidate from the list to those rejected by concurrency. */
extern void candidate_reject_full(Choice *choice, int candidate);

#endif							/* CLUTCH_CANDIDATE_H */
