/*-------------------------------------------------------------------------
 *
 * compatibility.h
 *	  Compatibility: may one schema take the place of another?
 *
 * It may if every value that is valid against the one (narrow) is valid
 * against the other (wide).  This is proved keyword by keyword.  What cannot
 * be proved counts as a fault, so a schema may be refused although it would be
 * compatible.  One thing is assumed without proof: that no value has a
 * property that narrow does not name, unless narrow has additionalProperties.
 * docs/schemas.md lists the rules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COMPATIBILITY_H
#define CLUTCH_COMPATIBILITY_H

#include "contract/json_schema.h"

/*
 * Adds a fault with this code, and the path in wide, for each keyword that may
 * refuse such a value.
 */
extern void compatibility_check(const JsonSchema *narrow, const JsonSchema *wide, const char *code,
								ProblemList *list);

#endif							/* CLUTCH_COMPATIBILITY_H */
