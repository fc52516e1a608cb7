/*-------------------------------------------------------------------------
 *
 * tiebreak.h
 *	  Who goes first (spec 4.2, step 4).
 *
 * Score, then load, recent success, cost, least recently chosen, and the
 * agent_id, so that the order is total.  An agent to be avoided comes after
 * all others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TIEBREAK_H
#define CLUTCH_TIEBREAK_H

#include "routing/router.h"

/* all candidates; or the best n, the others behind them in no order */
extern void tiebreak_rank(Choice *choice, Slice avoid);
extern void tiebreak_rank_best(Choice *choice, Slice avoid, int n);

/* the first candidate has changed for the worse: back to its place */
extern void tiebreak_settle_first(Choice *choice, Slice avoid);

/* what puts a before b, in words: "lowest load" */
extern const char *tiebreak_words(const Candidate *a, const Candidate *b, Slice avoid);

#endif							/* CLUTCH_TIEBREAK_H */
