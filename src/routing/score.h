/*-------------------------------------------------------------------------
 *
 * score.h
 *	  How well a candidate fits what is preferred (spec 4.2, step 3).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCORE_H
#define CLUTCH_SCORE_H

#include "routing/router.h"

/*
 * Sets the score of each candidate: the weight of the preferences it meets
 * over the weight of all that were asked; 1 when nothing was.
 */
extern void score_candidates(const Requirement *requirement, Choice *choice);

#endif							/* CLUTCH_SCORE_H */
