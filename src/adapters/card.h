/*-------------------------------------------------------------------------
 *
 * card.h
 *	  Translation of other protocols' descriptions of agents to AgentCards and
 *	  back.
 *
 * A dialect consists of two plain translations, which handle only the members
 * that have a row in its mapping (docs/adapters.md).  Everything else is
 * stored in the card, in meta.<name of the dialect>:
 *
 *	kept		the difference (json_difference) between the description that
 *				the plain translation makes of the card and the original
 *				description.  Each change is applied only if the value that it
 *				replaces is still there, so a description shows what has been
 *				changed in the card.  Missing if there is no difference.
 *	dropped		the paths of the credentials that were removed from the
 *				description
 *	others		notes of the dialect, most of them members of the description
 *				under their own names
 *
 * So card_write(card_read(x)) is x without its credentials.  A card without
 * meta.<name> was never foreign, and its description gets all mapped members.
 *
 * Faults are added to source.faults.  If there are any, the card must not be
 * used; if there are none, it is a valid AgentCard.  Results are palloc'd and
 * may share values with the arguments.
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
	const Json *raw;			/* credentials are already removed when the
								 * dialect reads it */
	Slice		agent_id;		/* ID for the agent; absent if it is made from
								 * the name in the description */
	const char *base;			/* path of the description in the document: "", "/agents/ken" */
	bool		in_registry;	/* it is in a registry of spec 002, which
								 * requires fewer members ... */
	bool		is_keyed;		/* ... and whose keys are the names of the agents */
	bool		is_import;		/* it will be registered, so it cannot be the
								 * orchestrator */
	const Json *indexed;		/* array of the skills that the index of the
								 * registry names, or NULL */
	ProblemList *list;
} CardSource;

/*
 * Return the dialect of this name, or the first one that handles the
 * description, or NULL if there is none.
 */
extern const CardDialect *card_dialect_named(Slice name);
extern const CardDialect *card_dialect_of(const Json *raw);

/*
 * Returns the names of all dialects for use in a message: "a2a, map, ...";
 * palloc'd.
 */
extern const char *card_dialect_names(void);

/*
 * Makes an AgentCard from a description.  Credentials are removed from
 * source.raw itself.
 */
extern Json *card_read(const CardDialect *dialect, CardSource source);

/* Makes a description from an AgentCard. */
extern Json *card_write(const CardDialect *dialect, const Json *card);

/* An agent of a registry of spec 002. */
typedef struct CardEntry
{
	Slice		name;			/* the agent's name in the registry */
	Slice		agent_id;
	Json	   *card;
} CardEntry;

/*
 * Is it a registry, that is, does it have a member "agents" that is an object
 * or an array?
 */
extern bool card_is_registry(const Json *document);

/*
 * Returns the agents of a registry, as a List of CardEntry *, in the order of
 * the document.  Faults of the registry and of all its agents are added to the
 * list.  With is_import, the agents will be registered, so none of them may be
 * the orchestrator.
 */
extern List *card_read_registry(Json *document, bool is_import, ProblemList *list);

#endif							/* CLUTCH_CARD_H */
