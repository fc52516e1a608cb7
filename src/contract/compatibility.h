/*-------------------------------------------------------------------------
 *
 * compatibility.h
 *	  May one schema take the place of another?
 *
 * It may if every value that is valid against the one (narrow) is valid against
 * the other (wide).  This is proved keyword by keyword; what cannot be proved
 * counts as a fault, so a schema may be refused that would do.  There is one
 * exception to "every value": a property that narrow leaves open, without
 * saying so by additionalProperties, is supposed not to be in use.
 * docs/schemas.md lists the rules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COMPATIBILITY_H
#define CLUTCH_COMPATIBILITY_H

#include "contract/json_schema.h"

/* adds a fault with the code, and the path in wide, for each keyword that may refuse such a value */
extern void compatibility_check(const JsonSchema *narrow, const JsonSchema *wide, const char *code,
								ProblemList *list);

#endif							/* CLUTCH_COMPATIBILITY_H */
