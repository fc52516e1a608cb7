/*-------------------------------------------------------------------------
 *
 * canonical.h
 *	  Canonical form of JSON documents (RFC 8785).
 *
 * Two documents with the same meaning have the same canonical bytes, whoever
 * writes them: no white space, keys in the order of their UTF-16 code units,
 * strings with as few escapes as possible, and numbers as ECMAScript prints
 * the nearest double.  Signatures, and the leaves of the tree over the log,
 * are made from these bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANONICAL_H
#define CLUTCH_CANONICAL_H

#include "lib/stringinfo.h"
#include "protocol/problem.h"
#include "utils/jsonb.h"

/*
 * what to do with a number that is not the shortest decimal form of any double
 */
typedef enum CanonicalNumbers
{
	CANONICAL_ROUNDED,			/* write it as its nearest double */
	CANONICAL_EXACT				/* report it as NUMBER_NOT_EXACT, because
								 * somebody could replace it by another number
								 * that has the same bytes */
} CanonicalNumbers;

/*
 * Appends the canonical bytes of the document.  A number that overflows a
 * double is added to the list as NUMBER_OUT_OF_RANGE.  If there is any fault,
 * the appended bytes must not be used.
 *
 * "without" is a path of keys, ending with NULL.  What it leads to is left
 * out.  It is NULL if nothing is to be left out.
 */
extern void canonical_append(StringInfo out, Jsonb *document, CanonicalNumbers numbers,
							 const char *const *without, ProblemList *list);

#endif							/* CLUTCH_CANONICAL_H */
