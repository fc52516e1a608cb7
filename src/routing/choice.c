/*-------------------------------------------------------------------------
 *
 * choice.c
 *	  Names of the results of a choice.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/choice.h"

static const char *const rejection_names[NUM_REJECTIONS] = {
	[REJECTED_RULE] = "rule",
	[REJECTED_STATUS] = "status",
	[REJECTED_PAUSED] = "paused",
	[REJECTED_BREAKER] = "breaker",
	[REJECTED_SCOPE] = "scope",
	[REJECTED_TRUST] = "trust",
	[REJECTED_POLICY] = "policy",
	[REJECTED_TOOLS] = "tools",
	[REJECTED_NETWORK] = "network",
	[REJECTED_BUDGET] = "budget",
	[REJECTED_REQUIRES] = "requires",
	[REJECTED_CONCURRENCY] = "concurrency"
};

static const char *const failure_names[] = {
	[NO_CAPABLE_AGENT] = "NO_CAPABLE_AGENT",
	[NO_CAPACITY] = "NO_CAPACITY",
	[NO_AGENT_AVAILABLE] = "NO_AGENT_AVAILABLE",
	[POLICY_DENIED] = "POLICY_DENIED"
};

const char *
rejection_name(Rejection rejection)
{
	return rejection_names[rejection];
}

const char *
routing_failure_name(RoutingFailure failure)
{
	return failure_names[failure];
}

bool
routing_failure_is_retryable(RoutingFailure failure)
{
	return failure != ROUTING_SUCCEEDED && failure != POLICY_DENIED;
}
