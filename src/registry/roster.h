/*-------------------------------------------------------------------------
 *
 * roster.h
 *	  The registry as this backend remembers it.
 *
 * A roster is built from clutch.agent_registry and clutch.group_member on the
 * latest snapshot, and built again when they have changed (base/stale.h).
 * An agent is an ordinal, 0..nagents-1, in the order of agent_id (by bytes).
 *
 * The roster returned by roster_get stays in memory until this backend has read
 * the registry twice more, which any call of roster_get may do.  Whoever needs it
 * beyond the next of these calls holds it, or copies what it needs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROSTER_H
#define CLUTCH_ROSTER_H

#include "protocol/agent_card.h"
#include "protocol/agent_status.h"
#include "registry/agent_set.h"

/* what routing and delivery need of a card; the words are the roster's */
typedef struct RosterCard
{
	int			ncapabilities;	/* see roster_capabilities */
	int			max_concurrency;
	int			max_runtime_sec;	/* 0 means no limit */
	int			heartbeat_sec;	/* 0: not watched; -1: as the setting says */
	SliceList	groups;			/* those of the card, and those given by SQL */
	Amount		max_amount;		/* of one run */
	RetryPolicy retry;
	NetworkLevel network;
	bool		sandbox;
	bool		wants_context;	/* meta.context: with each task that it claims */
	const SliceList *egress;	/* the patterns of hosts (protocol/host.h);
								 * NULL means any host */
	const SliceList *serves;	/* agents and groups whose requests it takes;
								 * NULL means anybody's */
	const SliceList *delegates_to;	/* agents and groups that take its
									 * requests; NULL means any */
} RosterCard;

typedef struct RosterAgent
{
	Slice		agent_id;
	AgentStatus status;
	RosterCard	card;
} RosterAgent;

typedef struct Roster Roster;

extern Roster *roster_get(void);
/* Keeps the roster in memory until the current memory context is reset. */
extern void roster_hold(Roster *roster);
extern int	roster_size(const Roster *roster);
extern const RosterAgent *roster_agent(const Roster *roster, int ordinal);
/* Returns -1 if the agent is not registered. */
extern int	roster_find(const Roster *roster, Slice agent_id);

/* how often the registry may have changed since this backend began to watch */
extern uint64 roster_changes(void);

/* Returns a number that differs each time the registry is read. */
extern uint64 roster_generation(const Roster *roster);

/*
 * To be called after a change of the registry or of a group's members: this
 * backend reads the registry again at once, others when we have committed.
 */
extern void roster_invalidate(void);

/* --- the registry turned around: from a word of the cards to the agents --- */

typedef enum RosterKey
{
	BY_CAPABILITY,				/* its id */
	BY_VERSION,					/* of one capability; the text is absent if the
								 * card gives none */
	BY_TAG,
	BY_TOOL,					/* tools and servers */
	BY_GROUP,
	BY_SCOPE,
	BY_MODEL
} RosterKey;
#define NUM_ROSTER_KEYS		(BY_MODEL + 1)

typedef struct RosterWord RosterWord;

struct RosterWord
{
	RosterKey	key;
	int			no;				/* 0.. among the words of this key; of a
								 * version, among those of its capability */
	Slice		text;

	/* the versions in which a capability is offered */
	int			nversions;
	RosterWord *versions;
	RosterWord *next_version;

	/* the agents that have it: a set if they are many, else a list */
	int			nagents;
	int		   *agents;
	AgentSet   *set;

	/* used while the registry is read */
	RosterWord *next;
	int			last_agent;
};

/* a capability of one agent, in words */
typedef struct RosterCapability
{
	const RosterWord *id;
	const RosterWord *version;
	const RosterWord **tools;
	int			ntools;
	uint8		trust;			/* TrustLevel */
	uint8		cost;			/* CostHint */
	bool		is_last;		/* it is the last one of its agent */
} RosterCapability;

/* Returns NULL if no card has the word. */
extern const RosterWord *roster_word(const Roster *roster, RosterKey key, Slice text);
extern int	roster_count_words(const Roster *roster, RosterKey key);
extern void roster_add_agents(const RosterWord *word, AgentSet *set);

/*
 * Adds the agents whose model is of a family, in any case: gpt-5 is the family of
 * gpt-5 itself and of gpt-5-mini, and not of gpt-50.
 */
extern void roster_add_agents_of_family(const Roster *roster, Slice family, AgentSet *set);

/*
 * card.ncapabilities of them, in the order of the card, or NULL if there are
 * none
 */
extern const RosterCapability *roster_capabilities(const Roster *roster, int ordinal);

/*
 * Returns the next one, or NULL: a walk along them need not look at the card.
 */
static inline const RosterCapability *
roster_next_capability(const RosterCapability *capability)
{
	return capability->is_last ? NULL : capability + 1;
}

/* Is anything paused at all?  Then the agents that are, and whether a capability is (pause.h). */
extern bool roster_has_pauses(const Roster *roster);
extern const AgentSet *roster_paused(const Roster *roster);
extern bool roster_pauses_capability(const Roster *roster, Slice capability);
extern bool roster_pauses_agent(const Roster *roster, Slice agent_id);

/* Does any card limit what its agent may spend on a run? */
extern bool roster_limits_spending(const Roster *roster);
extern const AgentSet *roster_taking_work(const Roster *roster);
extern const AgentSet *roster_sandboxed(const Roster *roster);
/* Returns the agents that have a capability that uses tools or servers. */
extern const AgentSet *roster_with_tools(const Roster *roster);
/* Does any card limit whose requests its agent takes, or who takes those of its agent? */
extern bool roster_limits_delegation(const Roster *roster);
/* Is the agent, registered or not, a member of the group? */
extern bool roster_is_member(const Roster *roster, Slice agent_id, Slice group);
/* Does any card limit which hosts its agent may reach? */
extern bool roster_limits_egress(const Roster *roster);
/* Returns the agents whose network is at least this. */
extern const AgentSet *roster_network(const Roster *roster, NetworkLevel level);

#endif							/* CLUTCH_ROSTER_H */
