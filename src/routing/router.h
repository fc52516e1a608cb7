/*-------------------------------------------------------------------------
 *
 * router.h
 *	  Choosing the agent (spec 4.2): filter, match, score, rank.
 *
 * No side effect: takes no slot and writes nothing.  Who assigns
 * (flow/assign.h) goes down the ranked candidates until one has a slot.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROUTER_H
#define CLUTCH_ROUTER_H

#include "registry/load.h"
#include "registry/roster.h"
#include "routing/requirement.h"

/* words of rejected_by, in the order in which the filters are asked */
typedef enum Rejection
{
	REJECTED_NOT,				/* eligible */
	REJECTED_STATUS,
	REJECTED_BREAKER,
	REJECTED_SCOPE,
	REJECTED_TRUST,
	REJECTED_POLICY,
	REJECTED_TOOLS,
	REJECTED_NETWORK,
	REJECTED_BUDGET,
	REJECTED_REQUIRES,
	REJECTED_CONCURRENCY
} Rejection;
#define NUM_REJECTIONS	(REJECTED_CONCURRENCY + 1)

typedef struct Candidate
{
	int			ordinal;		/* in the roster */
	Slice		agent_id;
	double		score;			/* 0..1 */
	int			running;
	int			max_concurrency;
	double		load;			/* running / max_concurrency */
	double		success_rate;	/* 0..1 */
	CostHint	cost;			/* dearest of the matched capabilities */
	int64		last_chosen;
} Candidate;

#define REJECTION_EXAMPLES	20

typedef struct RejectionTally
{
	int			count;
	int			nexamples;
	int			examples[REJECTION_EXAMPLES];	/* ordinals, lowest first */
} RejectionTally;

typedef struct Choice
{
	Roster	   *roster;
	int			ncandidates;
	int			nranked;		/* so many stand in order, see router_rank_all */
	Candidate  *candidates;		/* all of them, the best in order before the rest */
	RejectionTally rejected[NUM_REJECTIONS];
	const char *failure;		/* NO_CAPABLE_AGENT, ...; NULL: some candidate */
	bool		retryable;
} Choice;

extern Choice *router_choose(const Requirement *requirement);

/* puts all in order: a choice needs only those that its decision names */
extern void router_rank_all(Choice *choice);

/* moves a candidate that turned out full to the rejected (concurrency) */
extern void router_reject_full(Choice *choice, int candidate);

/* would it pass every filter but breaker and concurrency?  (pull, claim) */
extern bool router_fits(const Requirement *requirement, Slice agent_id);

/*
 * False if the agent has spent on the run as much as its card allows.  What
 * fits an agent (router_fits, with no run_id) may still fail here.
 */
extern bool router_may_spend(Slice agent_id, Slice run_id);

/* "status", "scope", ... ; NULL for REJECTED_NOT */
extern const char *rejection_name(Rejection rejection);

/* was it among those that named and groups leave to choose from? */
extern bool router_looked_at(const Choice *choice, int ordinal);

/*
 * One agent looked at alone, for explain_route: why it was rejected, in words
 * (palloc'd), or REJECTED_NOT.
 */
extern Rejection router_explain(const Requirement *requirement,
								const Choice *choice, int ordinal,
								char **detail);

#endif							/* CLUTCH_ROUTER_H */
