/*-------------------------------------------------------------------------
 *
 * match.h
 *	  Finding the agents that have what is required or preferred.
 *
 * An entry of requires or prefers is looked up in the roster once.  After
 * that, only sets of agents are combined, and no card is looked at.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MATCH_H
#define CLUTCH_MATCH_H

#include "registry/roster.h"

/* An entry that has been looked up.  A word that no card has is NULL. */
typedef struct Need
{
	Slice		text;
	const RosterWord *capability;
	const RosterWord *tool;		/* mcp:x, which also meets tool:x */
	const RosterWord *tag;		/* the tag of tag:x or domain:x, for which
								 * nothing else counts */
	Slice		family;			/* the x of model:x, a family of models, for
								 * which nothing else counts; or absent */
	const Roster *roster;		/* where the models of a family are looked up */
	bool	   *met;			/* whether each version of the capability, by
								 * its number, meets it; NULL means all or none
								 * do */
} Need;

/* Return palloc'd arrays of list->n elements. */
extern Need *match_requires(const Roster *roster, const SliceList *list);
extern Need *match_prefers(const Roster *roster, const SliceList *list);

/* Adds the agents that meet it to the set. */
extern void match_add_agents(const Need *need, AgentSet *set);
/* Returns the agents that meet all n of them, palloc'd. */
extern AgentSet *match_all(const Roster *roster, const Need *needs, int n);
/* Does a tool or server of this capability meet the need? */
extern bool match_tool(const Need *need, const RosterCapability *capability);

/* Does this capability of an agent meet the need? */
static inline bool
match_capability(const Need *need, const RosterCapability *capability)
{
	if (capability->id == need->capability &&
		(need->met == NULL || need->met[capability->version->no]))
		return true;
	return need->tool != NULL && match_tool(need, capability);
}

#endif							/* CLUTCH_MATCH_H */
