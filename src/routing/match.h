/*-------------------------------------------------------------------------
 *
 * match.h
 *	  Who has what is required or preferred.
 *
 * An entry of requires or prefers is looked up in the roster once and then
 * met by sets, not by looking at cards.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MATCH_H
#define CLUTCH_MATCH_H

#include "registry/roster.h"

/* an entry, looked up; NULL words stand on no card */
typedef struct Need
{
	Slice		text;
	const RosterWord *capability;
	const RosterWord *tool;		/* tool:x: mcp:x does, too */
	const RosterWord *tag;		/* tag:x, domain:x: nothing else counts */
	bool	   *met;			/* of the capability's versions, by no; NULL:
								 * any version, or none, will do */
} Need;

/* palloc'd arrays of list->n */
extern Need *match_requires(const Roster *roster, const SliceList *list);
extern Need *match_prefers(const Roster *roster, const SliceList *list);

/* adds those who meet it */
extern void match_add_agents(const Need *need, AgentSet *set);
/* those who meet every one; palloc'd */
extern AgentSet *match_all(const Roster *roster, const Need *needs, int n);
/* does this capability of an agent meet it? */
extern bool match_capability(const Need *need, const RosterCapability *capability);

#endif							/* CLUTCH_MATCH_H */
