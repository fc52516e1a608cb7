/*-------------------------------------------------------------------------
 *
 * choice.h
 *	  The choice of an agent while it is made, and its result.
 *
 * router_choose makes it, and the files of this room fill it in.  Each hard
 * filter leaves a set of agents, which is kept so that any agent can be told
 * afterwards which filter it failed first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CHOICE_H
#define CLUTCH_CHOICE_H

#include "registry/load.h"
#include "registry/roster.h"
#include "routing/match.h"
#include "routing/requirement.h"

/* the words of rejected_by, in the order in which the filters are applied */
typedef enum Rejection
{
	REJECTED_NOT,				/* eligible */
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

/* "status", "scope", ... ; NULL for REJECTED_NOT */
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

/* "NO_CAPABLE_AGENT", ...; NULL for ROUTING_SUCCEEDED */
extern const char *routing_failure_name(RoutingFailure failure);
/* False if trying again is of no use while the policy stays as it is. */
extern bool routing_failure_is_retryable(RoutingFailure failure);

typedef struct Candidate
{
	uint64		key;			/* see routing/tiebreak.h */
	int			ordinal;		/* in the roster */
	Slice		agent_id;
	double		score;			/* 0..1 */
	int			running;
	int			max_concurrency;
	double		load;			/* running / max_concurrency */
	double		success_rate;	/* 0..1 */
	CostHint	cost;			/* of the dearest capability that would be used */
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
	/* the result */
	Roster	   *roster;
	int			neligible;		/* agents that passed every filter */
	int			ncandidates;	/* the best of them, see router_choose */
	Candidate  *candidates;		/* best first */
	RejectionTally rejected[NUM_REJECTIONS];
	RoutingFailure failure;

	/* how it came about; for the files of this room */
	Requirement requirement;
	Need	   *needs;			/* of requires */
	AgentSet   *allowed_tools;	/* by number of the word; NULL means any tool */
	AgentSet   *looked_at;		/* named, in the groups, or all */
	AgentSet   *ruled;			/* of these, the ones that the rules leave; the same set if
								 * there are none */
	AgentSet   *capable;		/* of these, the ones with everything required */
	AgentSet   *left[NUM_REJECTIONS];	/* after this filter and those before; may
										 * be the same set as before */
	AgentSet   *on_trial;		/* whose breaker is half open, or NULL if none */
	int			avoided;		/* ordinal of the agent to avoid, or -1 */
} Choice;

#endif							/* CLUTCH_CHOICE_H */
