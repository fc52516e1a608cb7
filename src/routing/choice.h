/*-------------------------------------------------------------------------
 *
 * choice.h
 *	  The choice of an agent, while it is being made and as a result.
 *
 * router_choose creates it, and the files of this room fill it in.  The set of
 * agents that each hard filter leaves is kept, so that one can tell afterwards
 * which filter an agent failed first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CHOICE_H
#define CLUTCH_CHOICE_H

#include "registry/load.h"
#include "registry/roster.h"
#include "routing/match.h"
#include "routing/requirement.h"

/* the values of rejected_by, in the order in which the filters are applied */
typedef enum Rejection
{
	REJECTED_NOT,				/* the agent is eligible */
	REJECTED_RULE,
	REJECTED_STATUS,
	REJECTED_PAUSED,
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
#define FIRST_REJECTION	REJECTED_RULE
#define NUM_REJECTIONS	(REJECTED_CONCURRENCY + 1)

/* Returns "status", "scope", ..., or NULL for REJECTED_NOT. */
extern const char *rejection_name(Rejection rejection);

/* the code of a routing.failure */
typedef enum RoutingFailure
{
	ROUTING_SUCCEEDED,			/* there is a candidate */
	NO_CAPABLE_AGENT,
	NO_CAPACITY,
	NO_AGENT_AVAILABLE,
	POLICY_DENIED
} RoutingFailure;

/* Returns "NO_CAPABLE_AGENT", ..., or NULL for ROUTING_SUCCEEDED. */
extern const char *routing_failure_name(RoutingFailure failure);
/*
 * Returns false if trying again would not help as long as the policy is
 * unchanged.
 */
extern bool routing_failure_is_retryable(RoutingFailure failure);

typedef struct Candidate
{
	uint64		key;			/* see routing/tiebreak.h */
	int			ordinal;		/* ordinal in the roster */
	Slice		agent_id;
	double		score;			/* 0..1 */
	int			running;
	int			max_concurrency;
	double		load;			/* running / max_concurrency */
	double		success_rate;	/* 0..1 */
	CostHint	cost;			/* of the most expensive capability that would
								 * be used */
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
	/* The result: */
	Roster	   *roster;
	int			neligible;		/* number of agents that passed every filter */
	int			ncandidates;	/* number of candidates listed, see
								 * router_choose */
	Candidate  *candidates;		/* best first */
	RejectionTally rejected[NUM_REJECTIONS];
	RoutingFailure failure;

	/* How it came about; used only by the files of this room: */
	Requirement requirement;
	Need	   *needs;			/* for the entries of requires */
	AgentSet   *allowed_tools;	/* indexed by number of the word; NULL means
								 * any tool */
	AgentSet   *looked_at;		/* those named, those in the groups, or all */
	AgentSet   *ruled;			/* those of looked_at that the rules allow; the
								 * same set if there are no rules */
	AgentSet   *capable;		/* those of ruled that have everything required */
	AgentSet   *left[NUM_REJECTIONS];	/* those that passed this filter and
										 * all before it; may be the same set
										 * as for the previous filter */
	AgentSet   *on_trial;		/* those whose breaker is half open, or NULL if
								 * none */
	int			avoided;		/* ordinal of the agent to avoid, or -1 */
} Choice;

#endif							/* CLUTCH_CHOICE_H */
