/*-------------------------------------------------------------------------
 *
 * card.h
 *	  Descriptions of agents in other protocols, as AgentCards and back.
 *
 * A dialect is two plain translations, which know only the members that have a row in
 * its mapping (docs/adapters.md).  Everything else that a description says stands in
 * meta.<name of the dialect> of the card:
 *
 *	kept		what turns the description that the card alone would make into the one
 *				that came in (json_difference).  Each change is made only where there is
 *				still what was there, so what has been changed in the card shows in the
 *				description.  Missing if there is nothing to keep.
 *	dropped		the paths of the credentials that the description had
 *	others		what the dialect has put there, most of it under the name that it has in
 *				the description
 *
 * So card_write(card_read(x)) is x, but for its credentials.  A card without
 * meta.<name> was never foreign, and makes a description in which every member that is
 * mapped is filled in.
 *
 * Faults are added to the list of the source.  If there are any, the card is not fit for
 * use; if there are none, it is a valid AgentCard.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CARD_H
#define CLUTCH_CARD_H

#include "base/json.h"
#include "protocol/problem.h"

typedef struct CardDialect CardDialect;

/* a description that is read */
typedef struct CardSource
{
	const Json *raw;			/* without credentials, once a dialect sees it */
	Slice		agent_id;		/* of the agent; absent: the description names it */
	const char *base;			/* where it stands in the document: "", "/agents/ken" */
	bool		in_registry;	/* of spec 002, where less is required of an agent ... */
	bool		is_keyed;		/* ... and its key may be its name */
	const Json *indexed;		/* skills that only the index of the registry names; or NULL */
	ProblemList *list;
} CardSource;

/* The dialect of this name, or the first that has such descriptions; NULL: there is none. */
extern const CardDialect *card_dialect_named(Slice name);
extern const CardDialect *card_dialect_of(const Json *raw);
extern const char *card_dialect_name(const CardDialect *dialect);

/* "agent_json, a2a, map, mcp" */
extern const char *card_dialect_names(void);

/* The AgentCard of a description.  Changes the document: credentials are removed from it. */
extern Json *card_read(const CardDialect *dialect, CardSource source);

/* The description of an agent, which the AgentCard makes. */
extern Json *card_write(const CardDialect *dialect, const Json *card);

/* An agent of a registry of spec 002. */
typedef struct CardEntry
{
	Slice		name;			/* in the registry */
	Slice		agent_id;
	Json	   *card;
} CardEntry;

/* Is it a registry?  It has a member "agents". */
extern bool card_is_registry(const Json *document);

/*
 * The agents of a registry, as a List of CardEntry *, in the order of the document.
 * Faults of the registry and of all its agents are added to the list.
 */
extern List *card_read_registry(Json *document, ProblemList *list);

#endif							/* CLUTCH_CARD_H */
