/*-------------------------------------------------------------------------
 *
 * level.h
 *	  Levels of network access, trust, cost and priority, and the words for the
 *	  first three.
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

/*
 * the priorities of spec 003, 8.1; in the tables, urgency = LEVEL_CRITICAL -
 * level
 */
typedef enum PriorityLevel
{
	LEVEL_BATCH,
	LEVEL_LOW,
	LEVEL_NORMAL,
	LEVEL_HIGH,
	LEVEL_CRITICAL
} PriorityLevel;
#define NUM_LEVELS		(LEVEL_CRITICAL + 1)

/* the words in the order of the enums; NULL ends each list */
extern const char *const level_network[];
extern const char *const level_trust[];
extern const char *const level_cost[];

#endif							/* CLUTCH_LEVEL_H */
