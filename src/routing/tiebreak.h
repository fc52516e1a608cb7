/*-------------------------------------------------------------------------
 *
 * tiebreak.h
 *	  Which candidate is better (spec 4.2, step 4).
 *
 * The criteria are score, load, recent success, cost, least recently chosen,
 * and finally the agent_id, so that the order is total.  An agent to be
 * avoided comes after all others.
 *
 * Most agents that pass the filters are not among the best.  A single integer,
 * the key, shows this without making a Candidate.  It is made from the first
 * criteria, rounded so that the keys never contradict the order; candidates
 * with equal keys are compared in full.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TIEBREAK_H
#define CLUTCH_TIEBREAK_H

#include "routing/choice.h"

/* Returns the part of the key that is made from the score. */
static inline uint64
tiebreak_score_key(double score)
{
	return (LOAD_KEY_MAX - load_key_fraction(score)) << (2 * LOAD_KEY_BITS);
}

/*
 * Returns the key by which candidates are ordered; the smallest one comes
 * first.
 */
static inline uint64
tiebreak_key(uint64 score_key, uint64 load_key, bool is_avoided)
{
	return ((uint64) is_avoided << (3 * LOAD_KEY_BITS)) | score_key | load_key;
}

/* --- collecting the best candidates --- */

typedef struct Ranking
{
	int			avoided;		/* ordinal, or -1 */
	int			room;
	int			n;
	uint64		worst;			/* the key of the last candidate if there is no
								 * room for another one, or else the maximum */
	Candidate **best;			/* in order, followed by those not in use */
} Ranking;

extern void tiebreak_begin(Ranking *ranking, int room, int avoided);

/* Could a candidate with this key be among the best? */
static inline bool
tiebreak_admits(const Ranking *ranking, uint64 key)
{
	return key <= ranking->worst;
}

/*
 * Returns a candidate to be filled in and then, if it is good enough,
 * inserted.
 */
extern Candidate *tiebreak_spare(Ranking *ranking);
extern void tiebreak_insert(Ranking *ranking);

/* Hands the best candidates over to the choice, in order. */
extern void tiebreak_end(Ranking *ranking, Choice *choice);

/* --- */

/* Moves the first candidate to its proper place after it has become worse. */
extern void tiebreak_settle_first(Choice *choice);

/* Returns what puts a before b, in words such as "lowest load". */
extern const char *tiebreak_words(const Candidate *a, const Candidate *b, int avoided);

#endif							/* CLUTCH_TIEBREAK_H */
