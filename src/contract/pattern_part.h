/*-------------------------------------------------------------------------
 *
 * pattern_part.h
 *	  Between the files of pattern.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PATTERN_PART_H
#define CLUTCH_PATTERN_PART_H

#include "base/text.h"

/* the same as an advanced regular expression, palloc'd; or NULL and *fault */
extern char *pattern_translate(Slice source, const char **fault);

/* what a part of a pattern is when its repetitions by count are written out as copies */
typedef struct PatternExtent
{
	double		characters;		/* and classes, which take one character each */
	double		optional;		/* those that stand beside each other and may be left out */
	bool		is_empty;		/* it may match the empty text */
} PatternExtent;

typedef struct PatternGroup PatternGroup;

/* A pattern is measured while it is read, from left to right. */
typedef struct PatternSize
{
	PatternGroup *groups;		/* those that are open, from the pattern itself to the innermost */
	int			open;			/* an index */
	PatternExtent last;			/* what was read last */
} PatternSize;

extern void pattern_size_begin(PatternSize *size, int most_groups);
extern void pattern_size_character(PatternSize *size);
extern void pattern_size_open(PatternSize *size);
extern void pattern_size_alternative(PatternSize *size);
extern void pattern_size_close(PatternSize *size);

/* What was read last is there "copies" times, "least" times of which it must be. */
extern void pattern_size_repeat(PatternSize *size, long least, long copies);

/*
 * Returns NULL if the pattern is small enough; otherwise the end of a sentence
 * that begins with it
 */
extern const char *pattern_size_fault(const PatternSize *size);

#endif							/* CLUTCH_PATTERN_PART_H */
