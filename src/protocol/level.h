/*-------------------------------------------------------------------------
 *
 * level.h
 *	  Levels of network access, trust and cost, and the words for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LEVEL_H
#define CLUTCH_LEVEL_H

/* the network access that a message needs, or an agent has */
typedef enum NetworkLevel
{
	NETWORK_NONE,
	NETWORK_EGRESS_RESTRICTED,
	NETWORK_OPEN
} NetworkLevel;

/* how far a capability is trusted (spec 1.5) */
typedef enum TrustLevel
{
	TRUST_SANDBOX,
	TRUST_PROD
} TrustLevel;

/* what the work of a capability costs, roughly */
typedef enum CostHint
{
	COST_LOW,
	COST_MEDIUM,				/* the default */
	COST_HIGH
} CostHint;

/* the words in the order of the enums; NULL ends each list */
extern const char *const level_network[];
extern const char *const level_trust[];
extern const char *const level_cost[];

#endif							/* CLUTCH_LEVEL_H */
