/*-------------------------------------------------------------------------
 *
 * candidate.h
 *	  The hard filters (spec 4.2, step 1 and 2): who may take the task.
 *
 * Each filter leaves a set of agents, kept so that any agent can afterwards
 * be told the first filter it failed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANDIDATE_H
#define CLUTCH_CANDIDATE_H

#include "routing/match.h"
#include "routing/router.h"

typedef struct Search
{
	Choice		choice;			/* first: what router_choose answers is this */

	Requirement requirement;
	Need	   *needs;			/* of requires */
	AgentSet   *allowed_tools;	/* by number of the word; NULL: any tool */

	AgentSet   *looked_at;		/* named, in the groups, or all */
	AgentSet   *capable;		/* of these, who has everything required */
	AgentSet   *left[NUM_REJECTIONS];	/* after this filter and those before */
	AgentSet   *on_trial;		/* whose breaker is half open; NULL: nobody */
	bool		ignores_breakers;
	bool		loads_remembered;	/* not all were read just now */
} Search;

/* looks up what is required, and whom to look at */
extern Search *candidate_search(const Requirement *requirement, Roster *roster);

/* every filter but concurrency, counting who is rejected */
extern void candidate_filter(Search *search);

/* lists those left with load and cost; the full ones are rejected */
extern void candidate_list(Search *search);

/*
 * The load of the first candidate may have been remembered: read it anew.  True
 * if it was another, and the candidate is changed.
 */
extern bool candidate_refresh_first(Choice *choice);

/* from the candidates to the rejected, concurrency */
extern void candidate_reject_full(Choice *choice, int candidate);

/* has it spent less on the run than its card allows? */
extern bool candidate_may_spend(const Roster *roster, int ordinal, Slice run_id);

/* passes every filter but breaker and concurrency, looked at alone */
extern bool candidate_fits(const Requirement *requirement, Roster *roster, int ordinal);

#endif							/* CLUTCH_CANDIDATE_H */
