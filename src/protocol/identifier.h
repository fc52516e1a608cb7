/*-------------------------------------------------------------------------
 *
 * identifier.h
 *	  Identifiers: which prefix belongs to which kind (spec Appendix B), and
 *	  how new ones are made.
 *
 * A reserved prefix may be used only for its own kind.  Identifiers without
 * one may be chosen freely, except for the kinds that require a prefix:
 * agents, groups, artifacts and tools.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_IDENTIFIER_H
#define CLUTCH_IDENTIFIER_H

#include "base/crypto.h"
#include "base/text.h"
#include "datatype/timestamp.h"
#include "protocol/problem.h"

typedef enum IdentifierKind
{
	ID_MESSAGE,
	ID_THREAD,
	ID_RUN,
	ID_TASK,
	ID_AGENT,					/* agent: */
	ID_RECIPIENT,				/* agent:, group: or topic: */
	ID_GROUP,					/* group: */
	ID_ARTIFACT,				/* artifact: */
	ID_SCHEMA,					/* schema:// */
	ID_SERVER,					/* mcp: */
	ID_TOOL,					/* mcp: or tool: */
	ID_CAPABILITY,				/* skill:, tool:, or a free word */
	ID_WORD						/* a domain, a payload type, a role: no prefix */
} IdentifierKind;

/*
 * Returns NULL if the text has a prefix that its kind may (or must) have, and
 * something after it.  Otherwise returns the code of the fault and, in *rule,
 * the rule that it breaks.
 */
extern const char *identifier_fault(IdentifierKind kind, Slice text, const char **rule);

/*
 * Returns the offset of the first control character, including line breaks of
 * Unicode, or -1.  Such characters would allow an identifier to forge lines in
 * a log file.
 */
extern int	identifier_find_control(Slice text);

/*
 * Is it an identifier of this kind, without control characters, and no longer
 * than clutch.max_id_bytes?  An absent text is not.
 */
extern bool identifier_is_valid(IdentifierKind kind, Slice text);

/*
 * Adds the fault of a text that should be an identifier of this kind to the
 * list, if it has one.  Its length is not checked.
 */
extern void identifier_check(IdentifierKind kind, Slice text, const char *path, ProblemList *list);

/*
 * Splits "skill:research@^1.0" at its last @ into the capability and the
 * required version range, which is absent if there is none.
 */
extern void identifier_split_version(Slice entry, Slice *id, Slice *range);

/*
 * Can the text begin a new identifier?  It must match [a-z][a-z0-9_]* and have
 * at most 32 bytes.
 */
extern bool identifier_prefix_valid(Slice prefix);

/*
 * Returns the prefix, an underscore and a ULID: the time in milliseconds (48
 * bits) and 80 random bits.  Identifiers that one backend makes within the
 * same millisecond are ordered, too; each is then the one before it plus a
 * random number of 32 bits.
 */
extern char *identifier_make(const char *prefix, TimestampTz now);

/*
 * Returns the prefix and 128 bits of a hash over the parts.  Equal parts give
 * equal identifiers.
 */
extern char *identifier_derive(const char *prefix, const Slice *parts, int nparts);

/*
 * The same in two steps, so that a hash of the first parts can be copied and
 * reused.
 */
extern void identifier_hash(CryptoHash *hash, const Slice *parts, int nparts);
extern char *identifier_of_hash(const char *prefix, CryptoHash *hash);

#endif							/* CLUTCH_IDENTIFIER_H */
