/*-------------------------------------------------------------------------
 *
 * card_part.h
 *	  For the files of card alone: what a dialect consists of, and what it is
 *	  written with.
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
	const char *name;			/* of the dialect, and of its member of the card's meta */

	/* Is it a description of this dialect? */
	bool		(*handles) (const Json *raw);

	/* Both must not change what they are given; values may be shared. */
	Json	   *(*read) (const CardSource *source);
	Json	   *(*write) (const Json *card);
};

extern const CardDialect card_agent_json;
extern const CardDialect card_a2a;
extern const CardDialect card_map;
extern const CardDialect card_mcp;

/* ------------------------------------------------------------------ reading */

/* adds a fault; the path is one in the description */
extern void card_fault(const CardSource *source, const char *path, const char *code,
					   const char *format,...) pg_attribute_printf(4, 5);

/*
 * A member; NULL or absent if it is missing, null, or faulty.  A text is not empty and
 * fits into a card; an empty one is as if it were missing.  A word is an identifier of
 * its kind.
 */
extern Json *card_find(const CardSource *source, const char *path, JsonKind kind);
extern Slice card_find_text(const CardSource *source, const char *path);
extern Slice card_find_word(const CardSource *source, const char *path, IdentifierKind kind, const char *prefix);

/* adds a fault and returns false if the word is no identifier of its kind */
extern bool card_check_word(const CardSource *source, const char *path, IdentifierKind kind, Slice word);

/* adds REQUIRED if it is missing */
extern void card_require(const CardSource *source, const char *path);

/* A new card of the agent: that of the source, or that whose ID is made of the name, which stands at the path. */
extern Json *card_new(const CardSource *source, const char *path, Slice name);

/* Puts texts, which stand at these paths, into the display of the card. */
extern void card_put_display(const CardSource *source, Json *card, const char *name_path, const char *desc_path);

/* The prefix and the name, palloc'd; and what follows the prefix, absent if the ID begins otherwise. */
extern Slice card_prefixed(const char *prefix, Slice name);
extern Slice card_unprefixed(Slice id, const char *prefix);

/*
 * Adds a capability and returns it.  Adds a fault at the path and returns NULL if this
 * cannot be the ID of one, if the card has one of this ID, or if it has too many.
 */
extern Json *card_add_capability(const CardSource *source, Json *card, const char *path, Slice id);

/* adds WRONG_TYPE if the value is not an array of texts */
extern void card_check_texts(const CardSource *source, const char *path);

/*
 * The texts of a member of a skill become the tags of a capability.  If not all of them can
 * be tags, the member stays among the others of the skill.
 */
extern void card_put_tags(Json *capability, Json *others, const char *member);

/* The version, which stands at the path, becomes that of all capabilities, or is noted as "version". */
extern void card_put_version(const CardSource *source, const CardDialect *dialect, Json *card, const char *path);

/* ------------------------------------------------------------------ writing */

/* the same back; NULL if there is none and the card was foreign */
extern Json *card_version(const Json *card, const CardDialect *dialect);

/* the same back */
extern void card_write_tags(const Json *capability, Json *skill, const char *member);

/* the capability of this ID; NULL if the card has none */
extern Json *card_capability(const Json *card, Slice id);

/* Is it an element of the array at the path? */
extern bool card_has_text(const Json *value, const char *path, Slice text);

/* Adds a text to the array at the path, unless it is there; makes the array. */
extern void card_add_text(Json *value, const char *path, Slice text);

/* Copies the members of an object into another one, but for those named, which end with NULL. */
extern void card_copy_members(const Json *from, const char *const *except, Json *to);

/* what is at a path below meta.<dialect>; NULL: nothing */
extern Json *card_noted(const Json *card, const CardDialect *dialect, const char *path);
extern void card_note(Json *card, const CardDialect *dialect, const char *path, Json *value);

#endif							/* CLUTCH_CARD_PART_H */
