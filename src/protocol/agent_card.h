/*-------------------------------------------------------------------------
 *
 * agent_card.h
 *	  An AgentCard (spec 1.4, 1.5): what an agent can do, and its limits.
 *
 * Pure, like envelope.h.  A card is the payload of agent.register; base is
 * the path put before every fault ("" or "/payload").
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_CARD_H
#define CLUTCH_AGENT_CARD_H

#include "protocol/envelope.h"

typedef enum CostHint
{
	COST_LOW,
	COST_MEDIUM,				/* the default */
	COST_HIGH
} CostHint;

typedef struct Capability
{
	Slice		id;				/* skill:research, tool:mcp, or a free word */
	Slice		version;		/* absent: any; semver or range */
	SliceList	tags;
	SliceList	tools;			/* tools and servers, both mcp:... */
	TrustLevel	trust;			/* sandbox unless said otherwise */
	CostHint	cost;
} Capability;

struct AgentCard
{
	Slice		agent_id;
	Slice		display_name;
	int			ncapabilities;
	Capability *capabilities;
	SliceList	groups;
	SliceList	scopes;
	int			max_concurrency;	/* 1 when absent; 0..1e9 */
	int			max_runtime_sec;	/* 0: no limit */
	int			heartbeat_sec;	/* 0: not watched; -1: as everybody */
	Amount		max_amount;		/* of one run */
	RetryPolicy retry;
	bool		sandbox;		/* true unless said otherwise */
	NetworkLevel network;		/* none unless said otherwise */
};

/*
 * partial: agent.update may leave out everything but agent_id (v and
 * capabilities are then not required).
 */
extern void agent_card_read(const JsonbValue *doc, const char *base,
							bool partial, AgentCard *card, ProblemList *list);

#endif							/* CLUTCH_AGENT_CARD_H */
