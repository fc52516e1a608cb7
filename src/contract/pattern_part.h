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

#define PATTERN_POWERS	3

/*
 * how many characters its lookarounds look at, all together, for each character
 * of the text: the sum of these numbers times the powers of the length, from 0
 * on.  The engine makes each lookaround anew at every character, and so on
 * inside of it, except for those at the start of the text.
 */
typedef struct PatternReach
{
	double		powers[PATTERN_POWERS];
} PatternReach;

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
	PatternReach reach;
} PatternExtent;

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
	bool		is_too_deep;	/* the reach grows with a power that is not counted */
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

/* Returns the reach of the whole pattern. */
extern PatternReach pattern_size_reach(const PatternSize *size);

/*
 * Translates a pattern into an advanced regular expression, palloc'd, and sets
 * *reach.  Returns NULL and sets *fault if it cannot be translated.
 */
extern char *pattern_translate(Slice source, PatternReach *reach, const char **fault);

#endif							/* CLUTCH_PATTERN_PART_H */
