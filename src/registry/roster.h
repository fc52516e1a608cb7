/*-------------------------------------------------------------------------
 *
 * roster.h
 *	  The roster: the registry as each backend caches it.
 *
 * A roster is built from clutch.agent_registry and clutch.group_member on the
 * latest snapshot, and is built again when they have changed (base/stale.h).
 * An agent is represented by an ordinal, 0..nagents-1, in the byte order of
 * agent_id.
 *
 * The roster returned by roster_get stays in memory until this backend has
 * read the registry two more times, which any call of roster_get may do.
 * Callers that need it longer than until the next such call must hold it, or
 * copy what they need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROSTER_H
#define CLUTCH_ROSTER_H

#include "protocol/agent_card.h"
#include "protocol/agent_status.h"
#include "registry/agent_set.h"

/*
 * What routing and delivery need from a card.  The words belong to the roster.
 */
typedef struct RosterCard
{
	int			ncapabilities;	/* see roster_capabilities */
	int			max_concurrency;
	int			max_runtime_sec;	/* 0 means no limit */
	int			heartbeat_sec;	/* 0 if not watched; -1 if the setting applies */
	SliceList	groups;			/* those of the card, and those assigned by SQL */
	Amount		max_amount;		/* limit for one run */
	RetryPolicy retry;
	NetworkLevel network;
	bool		sandbox;
	bool		wants_context;	/* meta.context: it wants the context with each
								 * task that it claims */
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

/*
 * Returns the registry, which is read again if it has changed.  It stays in
 * memory until the registry has been read twice more, or longer if it is held.
 */
extern Roster *roster_get(void);
/* Keeps the roster in memory until the current memory context is reset. */
extern void roster_hold(Roster *roster);
extern int	roster_size(const Roster *roster);
/* Ordinals go from 0 to roster_size - 1. */
extern const RosterAgent *roster_agent(const Roster *roster, int ordinal);
/* Returns -1 if the agent is not registered. */
extern int	roster_find(const Roster *roster, Slice agent_id);
/* Finds the agent in what roster_get returns.  Returns NULL if it is not registered. */
extern const RosterAgent *roster_look(Slice agent_id);

/*
 * Returns how often the registry may have changed since this backend began to
 * watch it.
 */
extern uint64 roster_changes(void);

/* Returns a number that differs each time the registry is read. */
extern uint64 roster_generation(const Roster *roster);

/*
 * To be called after a change of the registry or of a group's members.  This
 * backend reads the registry again at once, and others do so after we have
 * committed.
 */
extern void roster_invalidate(void);

/* --- the inverted registry: from a word of the cards to the agents --- */

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
	int			no;				/* 0.. among the words of this key; for a
								 * version, among those of its capability */
	Slice		text;

	/* the versions in which a capability is offered */
	int			nversions;
	RosterWord *versions;
	RosterWord *next_version;

	/*
	 * the agents that have it: as a set if there are many, and as a list
	 * otherwise
	 */
	int			nagents;
	int		   *agents;
	AgentSet   *set;

	/* used only while the registry is being read */
	RosterWord *next;
	int			last_agent;
};

/* a capability of one agent, as words */
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
 * Adds the agents whose model belongs to a family, ignoring case: gpt-5 is the
 * family of gpt-5 itself and of gpt-5-mini, but not of gpt-50.
 */
extern void roster_add_agents_of_family(const Roster *roster, Slice family, AgentSet *set);

/* Adds the agent and all others whose cards name the same model as its card. */
extern void roster_add_agents_like(const Roster *roster, int ordinal, AgentSet *set);

/*
 * Returns card.ncapabilities of them, in the order of the card, or NULL if
 * there are none.
 */
extern const RosterCapability *roster_capabilities(const Roster *roster, int ordinal);

/*
 * Returns the next one, or NULL.  Iterating in this way need not look at the
 * card.
 */
static inline const RosterCapability *
roster_next_capability(const RosterCapability *capability)
{
	return capability->is_last ? NULL : capability + 1;
}

/*
 * Is anything paused at all?  If so, the others return the paused agents, and
 * whether a capability or an agent is paused (pause.h).
 */
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
/*
 * Does any card limit whose requests its agent takes, or to whom its agent may
 * send requests?
 */
extern bool roster_limits_delegation(const Roster *roster);
/* Is the agent, registered or not, a member of the group? */
extern bool roster_is_member(const Roster *roster, Slice agent_id, Slice group);
/* Does any card limit which hosts its agent may reach? */
extern bool roster_limits_egress(const Roster *roster);
/* Returns the agents whose network is at least this. */
extern const AgentSet *roster_network(const Roster *roster, NetworkLevel level);

#endif							/* CLUTCH_ROSTER_H */
