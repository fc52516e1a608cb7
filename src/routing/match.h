/*-------------------------------------------------------------------------
 *
 * match.h
 *	  Which agents have what is required or preferred.
 *
 * An entry of requires or prefers is looked up in the roster once; then sets of
 * agents are combined, and no card is looked at.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MATCH_H
#define CLUTCH_MATCH_H

#include "registry/roster.h"

/* an entry, looked up; a word that no card has is NULL */
typedef struct Need
{
	Slice		text;
	const RosterWord *capability;
	const RosterWord *tool;		/* mcp:x, which meets tool:x */
	const RosterWord *tag;		/* of tag:x and domain:x, for which nothing else
								 * counts */
	Slice		family;			/* of models: x of model:x, for which nothing else counts;
								 * or absent */
	const Roster *roster;		/* where the models of a family are found */
	bool	   *met;			/* which versions of the capability meet it, by
								 * no; NULL means any, or none */
} Need;

/* palloc'd arrays of list->n */
extern Need *match_requires(const Roster *roster, const SliceList *list);
extern Need *match_prefers(const Roster *roster, const SliceList *list);

/* adds the agents that meet it */
extern void match_add_agents(const Need *need, AgentSet *set);
/* Returns the agents that meet every one of them; palloc'd. */
extern AgentSet *match_all(const Roster *roster, const Need *needs, int n);
/* Does a tool or server of this capability meet it? */
extern bool match_tool(const Need *need, const RosterCapability *capability);

/* Does this capability of an agent meet it? */
static inline bool
match_capability(const Need *need, const RosterCapability *capability)
{
	if (capability->id == need->capability &&
		(need->met == NULL || need->met[capability->version->no]))
		return true;
	return need->tool != NULL && match_tool(need, capability);
}

#endif							/* CLUTCH_MATCH_H */
