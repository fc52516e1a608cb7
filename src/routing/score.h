/*-------------------------------------------------------------------------
 *
 * score.h
 *	  How well an agent meets the preferences (spec 4.2, step 3).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCORE_H
#define CLUTCH_SCORE_H

#include "registry/agent_set.h"
#include "routing/requirement.h"
#include "registry/roster.h"

/* the preferences, looked up */
typedef struct Scorer
{
	int			n;
	AgentSet  **met;			/* the agents that meet each preference ... */
	double	   *weights;		/* ... and its weight */
	double		asked;			/* the sum of the weights */
	AgentSet   *all;			/* the agents that meet every preference; their
								 * score is 1 */
	AgentSet   *any;			/* the agents that meet at least one ... */
	double		none;			/* ... and the score of all others */
} Scorer;

extern void score_begin(Scorer *scorer, const Requirement *requirement, const Roster *roster);

/*
 * Returns the weight of the preferences that the agent meets, divided by the
 * weight of all; 1 if there are none.
 */
static inline double
score_of(const Scorer *scorer, int ordinal)
{
	double		met = 0;
	int			i;

	if (scorer->asked <= 0)
		return 1;
	for (i = 0; i < scorer->n; i++)
		if (agent_set_has(scorer->met[i], ordinal))
			met += scorer->weights[i];
	return met / scorer->asked;
}

#endif							/* CLUTCH_SCORE_H */
