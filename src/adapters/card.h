/*-------------------------------------------------------------------------
 *
 * card.h
 *	  Descriptions of agents in other protocols, as AgentCards and back.
 *
 * A dialect consists of two plain translations, which know only the members that have a
 * row in its mapping (docs/adapters.md).  Everything else is stored in meta.<name of the
 * dialect> of the card:
 *
 *	kept		the difference (json_difference) between the description that the plain
 *				translation makes of the card and the original description.  Each change
 *				is applied only if the value that it replaces is still there, so a
 *				description shows what has been changed in the card.  Missing if there is
 *				no difference.
 *	dropped		the paths of the credentials that were removed from the description
 *	others		notes of the dialect, most of them members of the description under their
 *				own names
 *
 * So card_write(card_read(x)) is x without its credentials.  A card without meta.<name>
 * was never foreign, and all mapped members of its description are filled in.
 *
 * Faults are added to the list of the source.  If there are any, the card must not be
 * used; if there are none, it is a valid AgentCard.  Results are palloc'd and may share
 * values with the arguments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CARD_H
#define CLUTCH_CARD_H

#include "base/json.h"
#include "protocol/problem.h"

typedef struct CardDialect CardDialect;

/* a description that is to be read */
typedef struct CardSource
{
	const Json *raw;			/* card_read removes the credentials before the dialect reads it */
	Slice		agent_id;		/* of the agent; absent: it is made of the name in the description */
	const char *base;			/* path of the description in the document: "", "/agents/ken" */
	bool		in_registry;	/* in a registry of spec 002, which requires fewer members ... */
	bool		is_keyed;		/* ... and whose keys are the names of the agents */
	bool		is_import;		/* to be registered, which the orchestrator cannot be */
	const Json *indexed;		/* array of the skills that the index of the registry names; or NULL */
	ProblemList *list;
} CardSource;

/* The dialect of this name, or the first one that handles the description; NULL: there is none. */
extern const CardDialect *card_dialect_named(Slice name);
extern const CardDialect *card_dialect_of(const Json *raw);

/* the names of all dialects, for a message: "a2a, map, ..."; palloc'd */
extern const char *card_dialect_names(void);

/* The AgentCard that a description makes.  Credentials are removed from source.raw itself. */
extern Json *card_read(const CardDialect *dialect, CardSource source);

/* The description that an AgentCard makes. */
extern Json *card_write(const CardDialect *dialect, const Json *card);

/* An agent of a registry of spec 002. */
typedef struct CardEntry
{
	Slice		name;			/* of the agent in the registry */
	Slice		agent_id;
	Json	   *card;
} CardEntry;

/* Is it a registry, which has a member "agents" that is an object or an array? */
extern bool card_is_registry(const Json *document);

/*
 * The agents of a registry, as a List of CardEntry *, in the order of the document.
 * Faults of the registry and of all its agents are added to the list.  If they are to be
 * registered, none of them may be the orchestrator.
 */
extern List *card_read_registry(Json *document, bool is_import, ProblemList *list);

#endif							/* CLUTCH_CARD_H */
