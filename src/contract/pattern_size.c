/*-------------------------------------------------------------------------
 *
 * pattern_size.c
 *	  Measuring the size of a pattern with its repetitions written out.
 *
 * The engine turns a repetition by count into that many copies, and each
 * character of a text may lead to all of them.  If many optional parts follow
 * one another, each of them can be followed by any later one, so the time for
 * compiling grows with about the cube of their number.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/pattern_part.h"

/* docs/decisions.md has the measurements */
#define MOST_CHARACTERS	2500
#define MOST_OPTIONAL	400

struct PatternGroup
{
	PatternExtent extent;		/* of the alternatives so far; is_empty is that
								 * of the last one */
	bool		was_empty;		/* the value before the last part was added */
	bool		has_empty;		/* an alternative before the last one may be
								 * empty */
	bool		is_lookaround;
	bool		at_start;		/* a lookaround at the start of the text */
};

void
pattern_size_begin(PatternSize *size, int most_groups)
{
	size->groups = palloc(sizeof(PatternGroup) * (most_groups + 1));
	size->open = -1;
	size->at_start = false;
	size->is_too_deep = false;
	pattern_size_open(size, false);
}

static void
pattern_size_add_reach(PatternReach *sum, const PatternReach *reach, double times)
{
	int			power;

	for (power = 0; power < PATTERN_POWERS; power++)
		sum->powers[power] += reach->powers[power] * times;
}

static void
pattern_size_add(PatternSize *size, PatternExtent last)
{
	PatternGroup *group = &size->groups[size->open];

	group->extent.characters += last.characters;
	group->extent.optional += last.optional;
	group->was_empty = group->extent.is_empty;
	group->extent.is_empty = group->was_empty && last.is_empty;
	group->extent.is_endless |= last.is_endless;
	pattern_size_add_reach(&group->extent.reach, &last.reach, 1);
	size->last = last;
	size->at_start = false;
}

void
pattern_size_character(PatternSize *size)
{
	pattern_size_add(size, (PatternExtent) {.characters = 1});
}

void
pattern_size_open(PatternSize *size, bool is_lookaround)
{
	size->groups[++size->open] = (PatternGroup) {
		.extent.is_empty = true,
		.is_lookaround = is_lookaround,
		.at_start = is_lookaround && size->at_start
	};
	size->at_start = false;
}

void
pattern_size_alternative(PatternSize *size)
{
	PatternGroup *group = &size->groups[size->open];

	group->has_empty = group->has_empty || group->extent.is_empty;
	group->extent.is_empty = true;
	size->at_start = false;
}

/* Turns the reach of what is inside a lookaround into that of the whole. */
static void
pattern_size_look_around(PatternSize *size, PatternExtent *extent)
{
	PatternReach inside = extent->reach;
	int			power;

	inside.powers[0]++;
	extent->reach = (PatternReach) {{0}};
	if (!extent->is_endless)
		pattern_size_add_reach(&extent->reach, &inside, extent->characters);
	for (power = 1; power < PATTERN_POWERS && extent->is_endless; power++)
		extent->reach.powers[power] = inside.powers[power - 1];
	size->is_too_deep |= extent->is_endless && inside.powers[PATTERN_POWERS - 1] > 0;
	/* what follows does not begin where the lookaround ends */
	extent->is_endless = false;
}

/*
 * A parenthesis that closes nothing is left to the engine, which refuses it.
 */
void
pattern_size_close(PatternSize *size)
{
	PatternGroup group = size->groups[size->open];

	if (size->open == 0)
		return;
	size->open--;
	group.extent.is_empty = group.extent.is_empty || group.has_empty;
	if (group.is_lookaround && !group.at_start)
		pattern_size_look_around(size, &group.extent);
	pattern_size_add(size, group.extent);
	size->at_start = group.at_start;
}

void
pattern_size_repeat(PatternSize *size, long least, long copies, bool is_endless)
{
	PatternGroup *group = &size->groups[size->open];
	PatternExtent once = size->last;
	PatternExtent all = once;

	all.characters = once.characters * Max(copies, 1);
	pattern_size_add_reach(&all.reach, &once.reach, Max(copies, 1) - 1);
	pattern_size_add_reach(&group->extent.reach, &once.reach, Max(copies, 1) - 1);
	all.is_empty = once.is_empty || least == 0;
	if (once.is_empty && copies > 1)
		all.optional = all.characters;
	else if (least == 0)
		all.optional = Max(once.optional, once.characters);
	group->extent.characters += all.characters - once.characters;
	group->extent.optional += all.optional - once.optional;
	group->extent.is_empty = group->was_empty && all.is_empty;
	group->extent.is_endless |= is_endless;
	size->last = all;
}

const char *
pattern_size_fault(const PatternSize *size)
{
	PatternExtent whole = size->groups[0].extent;

	if (whole.characters > MOST_CHARACTERS)
		return psprintf("is too large: with all copies that its repetitions by count make, it has %.0f characters of at most %d; use an asterisk or a plus, and maxLength.",
						whole.characters, MOST_CHARACTERS);
	if (whole.optional > MOST_OPTIONAL)
		return psprintf("repeats too much that may be empty: %.0f optional characters of at most %d; use an asterisk or a plus, and maxLength.",
						whole.optional, MOST_OPTIONAL);
	if (size->is_too_deep)
		return "has a lookaround without limit inside another one inside another one; use maxLength and a limit.";
	return NULL;
}

PatternReach
pattern_size_reach(const PatternSize *size)
{
	return size->groups[0].extent.reach;
}
