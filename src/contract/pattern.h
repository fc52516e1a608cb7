/*-------------------------------------------------------------------------
 *
 * pattern.h
 *	  Patterns: the regular expressions of schemas (ECMA-262), run by
 *	  PostgreSQL's engine.
 *
 * A pattern is translated into an advanced regular expression of PostgreSQL
 * that matches the same texts: \d, \w, \s and \p mean the same characters in
 * every locale, "." does not match line breaks, and \b matches the edge of a
 * word.  What has no counterpart is refused: back references (with which the
 * engine could take exponential time), \p with properties other than the
 * general letters, digits, punctuation and spaces, and groups that are
 * repeated more than 255 times.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PATTERN_H
#define CLUTCH_PATTERN_H

#include "base/text.h"

typedef struct Pattern Pattern;

/*
 * Compiles a pattern in the current memory context.  If the pattern cannot be
 * used, returns NULL, and *fault is the end of a sentence that begins with the
 * pattern.
 */
extern Pattern *pattern_compile(Slice source, const char **fault);

/* Can it be compiled? */
extern bool pattern_is_valid(Slice source);

extern Slice pattern_source(const Pattern *pattern);

/*
 * Returns how many steps of clutch.max_schema_steps it takes to find out
 * whether it matches.  Lookarounds without limit take steps with the square of
 * the length, or with its cube if one is inside another one, as they take time.
 */
extern int64 pattern_steps(const Pattern *pattern, Slice text);

/* Does it match some part of the text? */
extern bool pattern_matches(const Pattern *pattern, Slice text);

#endif							/* CLUTCH_PATTERN_H */
