/*-------------------------------------------------------------------------
 *
 * card_part.h
 *	  Private declarations of card: what a dialect consists of, and functions
 *	  for dialects.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CARD_PART_H
#define CLUTCH_CARD_PART_H

#include "adapters/card.h"
#include "protocol/identifier.h"

/* the capability that names the MCP servers of an agent, as in spec 1.4 */
#define CARD_SERVERS	"tool:mcp"

struct CardDialect
{
	const char *name;			/* its notes are in meta.<name> of the card */

	/* Is it a description in this dialect? */
	bool		(*handles) (const Json *raw);

	/*
	 * The plain translations.  They must not change their arguments, and the
	 * results may share values with them.
	 */
	Json	   *(*read) (const CardSource *source);
	Json	   *(*write) (const Json *card);
};

extern const CardDialect card_agent_json;
extern const CardDialect card_a2a;
extern const CardDialect card_map;
extern const CardDialect card_mcp;

/* ------------------------------------------------------------------ reading */

/*
 * Adds a fault to the source.  The path is relative to the description, and
 * the format makes a sentence.
 */
extern void card_fault(const CardSource *source, const char *path, const char *code,
					   const char *format,...) pg_attribute_printf(4, 5);

/*
 * Return a member of the description, or NULL or an absent slice if it is
 * missing or null.  A member of the wrong kind, or one that is too long, is a
 * fault and counts as missing.  An empty text counts as missing, too.  A word,
 * with the prefix put in front of it, must be an identifier of the given kind.
 */
extern Json *card_find(const CardSource *source, const char *path, JsonKind kind);
extern Slice card_find_text(const CardSource *source, const char *path);
extern Slice card_find_word(const CardSource *source, const char *path, IdentifierKind kind, const char *prefix);

/* Adds a fault and returns false unless the word is an identifier of this kind. */
extern bool card_check_word(const CardSource *source, const char *path, IdentifierKind kind, Slice word);

/* Adds the fault REQUIRED if the member is missing, null or an empty text. */
extern void card_require(const CardSource *source, const char *path);

/*
 * Returns a new card with the agent_id of the source or, if that is absent, an
 * ID made from the name.  The path is that of the name.  A fault is added
 * there if the name is missing, or if the ID is the orchestrator's.
 */
extern Json *card_new(const CardSource *source, const char *path, Slice name);

/*
 * Copies the texts at these two paths of the description to the display of the
 * card.
 */
extern void card_put_display(const CardSource *source, Json *card, const char *name_path, const char *desc_path);

/*
 * Returns the name with the prefix put in front, palloc'd; and the part of an
 * ID after the prefix, or an absent slice if the ID has another prefix.
 */
extern Slice card_prefixed(const char *prefix, Slice name);
extern Slice card_unprefixed(Slice id, const char *prefix);

/*
 * Adds a capability and returns it.  Adds a fault at the path and returns NULL
 * if the ID is not valid, if the card already has a capability of this ID, or
 * if it has too many.
 */
extern Json *card_add_capability(const CardSource *source, Json *card, const char *path, Slice id);

/* Adds the fault WRONG_TYPE unless the member is missing or an array of texts. */
extern void card_check_texts(const CardSource *source, const char *path);

/*
 * Makes the texts in a member of a skill the tags of a capability.  If all of
 * them can be tags, the member is removed from "others".
 */
extern void card_put_tags(Json *capability, Json *others, const char *member);

/*
 * Makes the version at the path the version of all capabilities, or notes it
 * as "version".
 */
extern void card_put_version(const CardSource *source, const CardDialect *dialect, Json *card, const char *path);

/* ------------------------------------------------------------------ writing */

/*
 * The reverse.  Returns the version of a description, or NULL if there is none
 * and the card was foreign.
 */
extern Json *card_version(const Json *card, const CardDialect *dialect);

/*
 * The reverse of card_put_tags.  Writes the tags of a capability into the
 * member of the skill, unless it has the same ones already.
 */
extern void card_write_tags(const Json *capability, Json *skill, const char *member);

/* Returns the capability of this ID, or NULL if the card has none. */
extern Json *card_capability(const Json *card, Slice id);

/*
 * Is it a capability of which the card has another version before this one?
 * Descriptions name each capability once.
 */
extern bool card_is_further_version(const Json *card, const Json *capability);

/* Is the text an element of the array at the path? */
extern bool card_has_text(const Json *value, const char *path, Slice text);

/*
 * Adds a text to the array at the path unless it is an element already.
 * Creates the array if it is missing.
 */
extern void card_add_text(Json *value, const char *path, Slice text);

/*
 * Copies the members of an object to another one, except those named in a list
 * that ends with NULL.
 */
extern void card_copy_members(const Json *from, const char *const *except, Json *to);

/*
 * Reads a note, that is, a value at a path below meta.<dialect>, or returns
 * NULL if there is none; and writes one.
 */
extern Json *card_noted(const Json *card, const CardDialect *dialect, const char *path);
extern void card_note(Json *card, const CardDialect *dialect, const char *path, Json *value);

/*
 * Returns what a description in any dialect says about a skill: the first of
 * these members that is a text and not empty, or the ID of the skill if there
 * is none.  The list of members ends with NULL.
 */
extern Slice card_said_of_skill(const Json *card, Slice skill, const char *const *members);

/* Returns the legacy capability of an agent.json that has made this skill ID, or NULL. */
extern const Json *card_legacy_capability(const Json *card, Slice id);

/* Is this the skill ID that is made of that name of a legacy capability? */
extern bool card_agent_json_has_legacy_id(Slice name, Slice id);

/*
 * Read and write "dependencies.mcps" and "mcps" of an agent.json; and "context"
 * and "dependencies.agents", which say who may send requests to the agent, and
 * to whom it delegates.  They are read after all other members have been noted.
 */
extern void card_agent_json_read_servers(const CardSource *source, Json *card);
extern void card_agent_json_write_servers(const Json *card, Json *document);
extern void card_agent_json_read_context(const CardSource *source, Json *card);
extern void card_agent_json_write_context(const Json *card, Json *document);
extern void card_agent_json_read_agents(const CardSource *source, Json *card);
extern void card_agent_json_write_agents(const Json *card, Json *document);

#endif							/* CLUTCH_CARD_PART_H */
