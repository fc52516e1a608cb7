/*-------------------------------------------------------------------------
 *
 * router.h
 *	  Choosing the agent (spec 4.2): filter, match, score, rank.
 *
 * This has no side effect: it takes no slot and writes nothing.  Assigning a
 * task (flow/assign.h) goes down the candidates until one has a slot.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROUTER_H
#define CLUTCH_ROUTER_H

#include "routing/choice.h"

/*
 * Lists the best candidates only, as many as a decision names and at least two
 * if there are two: making one costs more than telling that it is not among the
 * best.
 */
extern Choice *router_choose(const Requirement *requirement);

/* Lists all candidates, for clutch.explain_route. */
extern void router_rank_all(Choice *choice);

/*
 * Rejects a candidate that turned out to have no slot (concurrency).  The next
 * best ones are listed when the list runs out.
 */
extern void router_reject_full(Choice *choice, int candidate);

/*
 * Would the agent pass every filter but breaker and concurrency?  The budget is
 * not judged if the requirement has no run_id.
 */
extern bool router_fits(const Requirement *requirement, Slice agent_id);

/* Was the agent among those that the recipients leave to choose from? */
extern bool router_looked_at(const Choice *choice, int ordinal);

/*
 * For clutch.explain_route: the filter that one agent failed, with *detail in
 * words (palloc'd), or REJECTED_NOT.
 */
extern Rejection router_explain(const Requirement *requirement,
								const Choice *choice, int ordinal,
								char **detail);

#endif							/* CLUTCH_ROUTER_H */
