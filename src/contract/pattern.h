/*-------------------------------------------------------------------------
 *
 * pattern.h
 *	  The regular expressions of schemas: ECMA-262, run by PostgreSQL's engine.
 *
 * A pattern is translated into an advanced regular expression of PostgreSQL,
 * so that it matches what it matches elsewhere: \d, \w and \s mean the
 * characters of ECMA-262 whatever the locale, "." no line break, \b the edge of
 * a word.  What has no counterpart is refused: back references (with which the
 * engine could take exponential time), \p of other properties than the general
 * letters, digits, punctuation and spaces, and counts above 255.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PATTERN_H
#define CLUTCH_PATTERN_H

#include "base/text.h"

typedef struct Pattern Pattern;

/*
 * Compiles a pattern, for as long as the current memory context lives.
 * Returns NULL and, in *fault, the end of a sentence that begins with the
 * pattern if it cannot be used.
 */
extern Pattern *pattern_compile(Slice source, const char **fault);

/* could it be compiled? */
extern bool pattern_is_valid(Slice source);

extern Slice pattern_source(const Pattern *pattern);

/* does it match some part of the text? */
extern bool pattern_matches(const Pattern *pattern, Slice text);

#endif							/* CLUTCH_PATTERN_H */
