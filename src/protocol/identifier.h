/*-------------------------------------------------------------------------
 *
 * identifier.h
 *	  Identifiers: whose prefix is whose (spec Appendix B), and new ones.
 *
 * A reserved prefix may be used for its kind only; an identifier without one
 * is free, unless its kind must carry it (agents, groups, artifacts, tools).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_IDENTIFIER_H
#define CLUTCH_IDENTIFIER_H

#include "base/text.h"
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
 * Has this text a prefix that its kind may (or must) have, and something
 * behind it?  If not: the code of the fault, and the rule in *rule.
 */
extern const char *identifier_fault(IdentifierKind kind, Slice text, const char **rule);

/*
 * "skill:research@^1.0" asks for a version of a capability: id and range,
 * divided by the last @; an absent range when nothing is asked.
 */
extern void identifier_split_version(Slice entry, Slice *id, Slice *range);

/* [a-z][a-z0-9_]*, at most 32 bytes: fit to begin a new identifier */
extern bool identifier_prefix_valid(Slice prefix);

/*
 * prefix_ and a ULID: 48 bits of time in milliseconds, 80 random ones.  Those
 * that one backend makes within a millisecond come in order, too.
 */
extern char *identifier_make(const char *prefix);

/* prefix_ and 128 bits of a hash over the parts: the same for the same parts */
extern char *identifier_derive(const char *prefix, const Slice *parts, int nparts);

#endif							/* CLUTCH_IDENTIFIER_H */
