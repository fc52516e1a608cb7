/*-------------------------------------------------------------------------
 *
 * pattern_part.h
 *	  Private declarations of pattern.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PATTERN_PART_H
#define CLUTCH_PATTERN_PART_H

#include "base/text.h"

/*
 * the size of a part of a pattern after its repetitions by count have been
 * written out as copies
 */
typedef struct PatternExtent
{
	double		characters;		/* including classes, which match one character
								 * each */
	double		optional;		/* those next to one another that may be left
								 * out */
	bool		is_empty;		/* it may match the empty text */
	bool		is_endless;		/* it repeats something without limit */
} PatternExtent;

/*
 * how far its lookarounds look, all together.  The engine makes each of them
 * anew at every character, except for those at the start of the text.
 */
typedef struct PatternReach
{
	double		characters;
	int			endless;		/* the number of those that may look at the
								 * whole text */
} PatternReach;

typedef struct PatternGroup PatternGroup;

/* A pattern is measured while it is read, from left to right. */
typedef struct PatternSize
{
	PatternGroup *groups;		/* the open groups, from the pattern itself to
								 * the innermost one */
	int			open;			/* index of the innermost one */
	PatternExtent last;			/* what was read last */
	bool		at_start;		/* the position can only be the start of the
								 * text */
	PatternReach reach;
} PatternSize;

extern void pattern_size_begin(PatternSize *size, int most_groups);
extern void pattern_size_character(PatternSize *size);
extern void pattern_size_open(PatternSize *size, bool is_lookaround);
extern void pattern_size_alternative(PatternSize *size);
extern void pattern_size_close(PatternSize *size);

/*
 * Repeats what was read last: there are "copies" of it, "least" of which must
 * match.
 */
extern void pattern_size_repeat(PatternSize *size, long least, long copies, bool is_endless);

/*
 * Returns NULL if the pattern is small enough, and otherwise the end of a
 * sentence that begins with it.
 */
extern const char *pattern_size_fault(const PatternSize *size);

/*
 * Translates a pattern into an advanced regular expression, palloc'd, and sets
 * *reach.  Returns NULL and sets *fault if it cannot be translated.
 */
extern char *pattern_translate(Slice source, PatternReach *reach, const char **fault);

#endif							/* CLUTCH_PATTERN_PART_H */
