/*-------------------------------------------------------------------------
 *
 * pattern_part.h
 *	  Between pattern.c and pattern_translate.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PATTERN_PART_H
#define CLUTCH_PATTERN_PART_H

#include "base/text.h"

/* the same as an advanced regular expression, palloc'd; or NULL and *fault */
extern char *pattern_translate(Slice source, const char **fault);

#endif							/* CLUTCH_PATTERN_PART_H */
