/*-------------------------------------------------------------------------
 *
 * roster.h
 *	  The registry as this backend knows it: bitmaps over agents.
 *
 * Built from clutch.agent_registry and clutch.group_member on the latest
 * snapshot, kept until a relcache invalidation of agent_registry says that
 * somebody changed it.  An agent is an ordinal, 0..nagents-1, in order of
 * agent_id (byte order).
 *
 * The Roster answered by roster_get stays in memory until the registry has
 * been read twice again by the same backend; copy out what must live longer
 * than the work on one event.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROSTER_H
#define CLUTCH_ROSTER_H

#include "protocol/agent_card.h"
#include "protocol/agent_status.h"
#include "registry/agent_set.h"

typedef struct RosterAgent
{
	Slice		agent_id;
	AgentStatus status;
	AgentCard	card;			/* groups: those of the card and of SQL */
} RosterAgent;

typedef struct Roster Roster;

extern Roster *roster_get(void);
extern int	roster_size(const Roster *roster);
extern const RosterAgent *roster_agent(const Roster *roster, int ordinal);
/* -1: not registered */
extern int	roster_find(const Roster *roster, Slice agent_id);

/* how often the registry may have changed since this backend began to watch */
extern uint64 roster_changes(void);

/* a number of its own for each time the registry was read */
extern uint64 roster_generation(const Roster *roster);

/*
 * To be called by whoever changes the registry or a group's members: other
 * backends read it again once we have committed, this one at once.
 */
extern void roster_invalidate(void);

/* --- the registry turned around: from a word of the cards to the agents --- */

typedef enum RosterKey
{
	BY_CAPABILITY,				/* its id */
	BY_VERSION,					/* of one capability; text absent: none given */
	BY_TAG,
	BY_TOOL,					/* tools and servers */
	BY_GROUP,
	BY_SCOPE
} RosterKey;
#define NUM_ROSTER_KEYS		(BY_SCOPE + 1)

typedef struct RosterWord RosterWord;

struct RosterWord
{
	RosterKey	key;
	int			no;				/* 0.. among words of this key (a version:
								 * among those of its capability) */
	Slice		text;

	/* versions that are offered of a capability */
	int			nversions;
	RosterWord *versions;
	RosterWord *next_version;

	/* who has it: a set if they are many, else a list */
	int			nagents;
	int		   *agents;
	AgentSet   *set;

	/* while the registry is read */
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
	TrustLevel	trust;
	CostHint	cost;
} RosterCapability;

/* NULL: it stands on no card */
extern const RosterWord *roster_word(const Roster *roster, RosterKey key, Slice text);
extern int	roster_count_words(const Roster *roster, RosterKey key);
extern void roster_add_agents(const RosterWord *word, AgentSet *set);

/* as many as card.ncapabilities, in card order */
extern const RosterCapability *roster_capabilities(const Roster *roster, int ordinal);

/* does any card say what its agent may spend on a run? */
extern bool roster_limits_spending(const Roster *roster);
extern const AgentSet *roster_taking_work(const Roster *roster);
extern const AgentSet *roster_sandboxed(const Roster *roster);
/* whose network is at least this */
extern const AgentSet *roster_network(const Roster *roster, NetworkLevel level);

#endif							/* CLUTCH_ROSTER_H */
