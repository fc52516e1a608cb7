/*-------------------------------------------------------------------------
 *
 * agent_card.h
 *	  AgentCards (spec 1.4, 1.5): what agents can do, and their limits.
 *
 * A card is the payload of agent.register.  It is read in the same way as an
 * envelope; see envelope.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_CARD_H
#define CLUTCH_AGENT_CARD_H

#include "base/text.h"
#include "protocol/amount.h"
#include "protocol/level.h"
#include "protocol/problem.h"
#include "protocol/retry_policy.h"
#include "utils/jsonb.h"

typedef struct Capability
{
	Slice		id;				/* skill:research, tool:mcp, or a free word */
	Slice		version;		/* a version or a range; absent means any
								 * version */
	SliceList	tags;
	SliceList	tools;			/* tools and servers (mcp:...) */
	TrustLevel	trust;			/* sandbox by default */
	CostHint	cost;
} Capability;

struct AgentCard
{
	Slice		agent_id;
	int			ncapabilities;
	Capability *capabilities;
	SliceList	groups;
	SliceList	scopes;
	int			max_concurrency;	/* 1 if absent; 0..1e9 */
	int			max_runtime_sec;	/* 0 means no limit */
	int			heartbeat_sec;	/* 0 if not watched; -1 for
								 * clutch.heartbeat_interval */
	Amount		max_amount;		/* what it may spend on one run */
	RetryPolicy retry;
	bool		sandbox;		/* true by default */
	NetworkLevel network;		/* none by default */
	bool		has_serves;		/* false (default) if it takes anybody's
								 * requests */
	SliceList	serves;			/* the agents and groups whose requests it
								 * takes */
	bool		has_delegates;	/* false (default) if it may send requests to
								 * any agent */
	SliceList	delegates_to;	/* the agents and groups that take its requests */
	bool		has_egress;		/* false (default) if it may reach any host */
	SliceList	egress_allowlist;	/* patterns; see host.h */
	bool		says_security;	/* false in a partial card that leaves the
								 * fields above unchanged */
	bool		says_limits;	/* false in a partial card that leaves the
								 * limits unchanged */
};

/*
 * Reads a card and adds its faults to the list.  base is the path of the card
 * in the document, "" or "/payload".  A partial card, as in agent.update, may
 * leave out everything except agent_id.
 */
extern void agent_card_read(const JsonbValue *doc, const char *base,
							bool partial, AgentCard *card, ProblemList *list);

#endif							/* CLUTCH_AGENT_CARD_H */
