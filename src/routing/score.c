/*-------------------------------------------------------------------------
 *
 * score.c
 *	  How well a candidate fits what is preferred.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/score.h"

#include "routing/match.h"
#include "settings.h"

static double
weight_of(Slice preference)
{
	if (slice_starts(preference, SLICE_OF("tool:")))
		return clutch_weight_tool;
	if (slice_starts(preference, SLICE_OF("tag:")))
		return clutch_weight_tag;
	if (slice_starts(preference, SLICE_OF("domain:")))
		return clutch_weight_domain;
	return clutch_weight_skill;
}

void
score_candidates(const Requirement *requirement, Choice *choice)
{
	const SliceList *prefers = &requirement->prefers;
	Need	   *needs = match_prefers(choice->roster, prefers);
	double		asked = 0;
	int			i;
	int			c;

	for (c = 0; c < choice->ncandidates; c++)
		choice->candidates[c].score = 0;
	for (i = 0; i < prefers->n; i++)
	{
		AgentSet   *met = agent_set_none(roster_size(choice->roster));
		double		weight = weight_of(prefers->items[i]);

		match_add_agents(&needs[i], met);
		asked += weight;
		for (c = 0; c < choice->ncandidates; c++)
		{
			if (agent_set_has(met, choice->candidates[c].ordinal))
				choice->candidates[c].score += weight;
		}
		pfree(met);
	}
	for (c = 0; c < choice->ncandidates; c++)
		choice->candidates[c].score = asked > 0 ? choice->candidates[c].score / asked : 1;
}
