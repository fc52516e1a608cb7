/*-------------------------------------------------------------------------
 *
 * candidate.h
 *	  Ranking the agents that pass the filters by their loads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANDIDATE_H
#define CLUTCH_CANDIDATE_H

#include "routing/choice.h"

/*
 * Judges the agents that passed the filters by their load.  Those that are
 * full are rejected, and the best of the others, at most "most", are listed in
 * order.  May be called again after candidate_reject_full.
 */
extern void candidate_rank(Choice *choice, int most);

/*
 * Returns the number of agents that were rejected only because they are full,
 * at most "most", best fit first.  *ordinals and *scores are palloc'd.
 */
extern int	candidate_list_full(const Choice *choice, int most, int **ordinals, double **scores);

/*
 * Returns the index of an agent among the candidates, or -1 if it is not
 * eligible.  If it is not among the best ones, it is added at the end.
 */
extern int	candidate_list_agent(Choice *choice, int ordinal);

/* Moves the first candidate from the list to the agents rejected by concurrency. */
extern void candidate_reject_full(Choice *choice);

#endif							/* CLUTCH_CANDIDATE_H */
