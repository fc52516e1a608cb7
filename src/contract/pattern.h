/*-------------------------------------------------------------------------
 *
 * pattern.h
 *	  The regular expressions of schemas: ECMA-262, run by PostgreSQL's engine.
 *
 * A pattern is translated into an advanced regular expression of PostgreSQL that
 * matches the same texts: \d, \w, \s and \p stand for the same characters in
 * every locale, "." for no line break, and \b for the edge of a word.  What has no counterpart is refused: back references (with which the
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
 * Compiles a pattern; the result lives in the current memory context.  If the pattern
 * cannot be used, this returns NULL, and *fault is the end of a sentence that begins
 * with the pattern.
 */
extern Pattern *pattern_compile(Slice source, const char **fault);

/* could it be compiled? */
extern bool pattern_is_valid(Slice source);

extern Slice pattern_source(const Pattern *pattern);

/* does it match some part of the text? */
extern bool pattern_matches(const Pattern *pattern, Slice text);

#endif							/* CLUTCH_PATTERN_H */
