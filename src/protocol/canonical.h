/*-------------------------------------------------------------------------
 *
 * canonical.h
 *	  The canonical bytes of a JSON document (RFC 8785).
 *
 * Two documents that mean the same have the same canonical bytes, whoever
 * writes them: no white space, keys in the order of their UTF-16 code units,
 * strings with as few escapes as possible, and numbers as ECMAScript prints
 * the double that is nearest to them.  Signatures and the leaves of the log's
 * tree are made of these bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANONICAL_H
#define CLUTCH_CANONICAL_H

#include "lib/stringinfo.h"
#include "protocol/problem.h"
#include "utils/jsonb.h"

/* what becomes of a number that is not the shortest decimal form of any double */
typedef enum CanonicalNumbers
{
	CANONICAL_ROUNDED,			/* it is written as its nearest double */
	CANONICAL_EXACT				/* fault NUMBER_NOT_EXACT: others could put another
								 * number in its place and have the same bytes */
} CanonicalNumbers;

/*
 * Appends the canonical bytes of the document.  A number that overflows a
 * double is added to the list as NUMBER_OUT_OF_RANGE; after any fault, what
 * has been appended is of no use.
 *
 * without is a path of keys, which ends with NULL: what it leads to is left
 * out.  Returns NULL if nothing is.
 */
extern void canonical_append(StringInfo out, Jsonb *document, CanonicalNumbers numbers,
							 const char *const *without, ProblemList *list);

/* a string with its quotes, and a finite number, as canonical_append writes them */
extern void canonical_append_string(StringInfo out, Slice text);
extern void canonical_append_double(StringInfo out, double number);

#endif							/* CLUTCH_CANONICAL_H */
