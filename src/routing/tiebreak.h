/*-------------------------------------------------------------------------
 *
 * tiebreak.h
 *	  Which candidate is better (spec 4.2, step 4).
 *
 * Score, then load, recent success, cost, least recently chosen, and the
 * agent_id, so that the order is total.  An agent to be avoided comes after all
 * others.
 *
 * Most of the agents that pass the filters are not among the best: one integer,
 * the key, tells that without making a Candidate.  It holds what is compared
 * first, rounded so that it keeps the order of what it tells apart; candidates
 * with equal keys are compared in full.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TIEBREAK_H
#define CLUTCH_TIEBREAK_H

#include "routing/choice.h"

/* Returns the bits of the key that are made of the score. */
static inline uint64
tiebreak_score_key(double score)
{
	return (LOAD_KEY_MAX - load_key_fraction(score)) << (2 * LOAD_KEY_BITS);
}

static inline uint64
tiebreak_key(uint64 score_key, uint64 load_key, bool is_avoided)
{
	return ((uint64) is_avoided << (3 * LOAD_KEY_BITS)) | score_key | load_key;
}

/* --- the best so many of the candidates that come by --- */

typedef struct Ranking
{
	int			avoided;		/* ordinal, or -1 */
	int			room;
	int			n;
	uint64		worst;			/* the key of the last one if there is no room for another; else the maximum */
	Candidate **best;			/* in order; behind them, those not in use */
} Ranking;

extern void tiebreak_begin(Ranking *ranking, int room, int avoided);

/* Could a candidate with this key be among the best? */
static inline bool
tiebreak_admits(const Ranking *ranking, uint64 key)
{
	return key <= ranking->worst;
}

/* A candidate to be filled in and then inserted, if it is good enough. */
extern Candidate *tiebreak_spare(Ranking *ranking);
extern void tiebreak_insert(Ranking *ranking);

/* Hands the best ones, in order, over to the choice. */
extern void tiebreak_end(Ranking *ranking, Choice *choice);

/* --- */

/* The first candidate has become worse: moves it to its place. */
extern void tiebreak_settle_first(Choice *choice);

/* Returns what puts a before b, in words: "lowest load". */
extern const char *tiebreak_words(const Candidate *a, const Candidate *b, int avoided);

#endif							/* CLUTCH_TIEBREAK_H */
