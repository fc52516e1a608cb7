/*-------------------------------------------------------------------------
 *
 * router.h
 *	  Choosing an agent (spec 4.2): filter, match, score, rank.
 *
 * This has no side effects: it takes no slot and writes nothing.  Assigning a
 * task (flow/assign.h) tries the candidates in order until one has a slot.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROUTER_H
#define CLUTCH_ROUTER_H

#include "routing/choice.h"

/*
 * Chooses.  Lists only the best candidates, as many as a decision names and at
 * least two if there are two, because making a candidate costs more than
 * finding out that it is not among the best.
 */
extern Choice *router_choose(const Requirement *requirement);

/* Lists all candidates, for clutch.explain_route. */
extern void router_rank_all(Choice *choice);

/*
 * Returns the index of the agent among the candidates, or -1 if it is not
 * eligible.  If it is not among the best ones, it is added at the end.
 */
extern int	router_list_agent(Choice *choice, Slice agent_id);

/*
 * Rejects the first candidate by the filter "concurrency", because it turned out
 * to have no slot.  When the list runs out, the next best candidates are listed.
 */
extern void router_reject_full(Choice *choice);

/*
 * Would the agent pass every filter except breaker and concurrency?  The
 * budget is not judged if the requirement has no run_id.
 */
extern bool router_fits(const Requirement *requirement, Slice agent_id);

/* Has the agent spent on the run what its card allows for one run? */
extern bool router_has_spent(Slice agent_id, Slice run_id);

/*
 * Returns the agents that have everything required and do not take work now,
 * palloc'd.  Some of them may have been rejected for other reasons as well.
 */
extern AgentSet *router_list_away(const Choice *choice);

/* Was the agent among those that the recipients leave to choose from? */
extern bool router_looked_at(const Choice *choice, int ordinal);

#endif							/* CLUTCH_ROUTER_H */
