/*-------------------------------------------------------------------------
 *
 * score.c
 *	  How well an agent meets the preferences.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/score.h"

#include "routing/match.h"
#include "settings.h"

static double
score_weight_of(Slice preference)
{
	if (slice_starts(preference, SLICE_OF("tool:")))
		return clutch_weight_tool;
	if (slice_starts(preference, SLICE_OF("tag:")) || slice_starts(preference, SLICE_OF("model:")))
		return clutch_weight_tag;
	if (slice_starts(preference, SLICE_OF("domain:")))
		return clutch_weight_domain;
	return clutch_weight_skill;
}

void
score_begin(Scorer *scorer, const Requirement *requirement, const Roster *roster)
{
	const SliceList *prefers = &requirement->prefers;
	Need	   *needs;
	int			i;

	scorer->n = prefers->n;
	scorer->asked = 0;
	scorer->all = agent_set_none(roster_size(roster));
	scorer->any = agent_set_none(roster_size(roster));
	scorer->none = 1;
	if (prefers->n == 0)
		return;
	needs = match_prefers(roster, prefers);
	scorer->met = palloc(prefers->n * sizeof(AgentSet *));
	scorer->weights = palloc(prefers->n * sizeof(double));
	for (i = 0; i < prefers->n; i++)
	{
		scorer->met[i] = agent_set_none(roster_size(roster));
		match_add_agents(&needs[i], scorer->met[i]);
		scorer->weights[i] = score_weight_of(prefers->items[i]);
		scorer->asked += scorer->weights[i];
		agent_set_or(scorer->any, scorer->met[i]);
	}
	if (scorer->asked <= 0)
		return;
	scorer->none = 0;
	agent_set_or(scorer->all, scorer->any);
	for (i = 0; i < prefers->n; i++)
		agent_set_and(scorer->all, scorer->met[i]);
}
