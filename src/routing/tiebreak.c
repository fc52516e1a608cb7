/*-------------------------------------------------------------------------
 *
 * tiebreak.c
 *	  Who goes first.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/tiebreak.h"

typedef enum Criterion
{
	BY_NOTHING,
	BY_AVOIDING,
	BY_SCORE,
	BY_LOAD,
	BY_SUCCESS,
	BY_COST,
	BY_LAST_CHOSEN,
	BY_AGENT_ID
} Criterion;

static const char *const criterion_words[] = {
	"same agent", "the other is to be avoided", "highest score", "lowest load",
	"highest success rate", "lowest cost", "least recently chosen", "first by agent_id"
};

/* avoided: ordinal of the agent to avoid, or -1; *by: what made the difference */
static inline int
compare(const Candidate *a, const Candidate *b, int avoided, Criterion *by)
{
	*by = BY_AVOIDING;
	if ((a->ordinal == avoided) != (b->ordinal == avoided))
		return a->ordinal == avoided ? 1 : -1;
	*by = BY_SCORE;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	*by = BY_LOAD;
	if (a->load != b->load)
		return a->load < b->load ? -1 : 1;
	*by = BY_SUCCESS;
	if (a->success_rate != b->success_rate)
		return a->success_rate > b->success_rate ? -1 : 1;
	*by = BY_COST;
	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	*by = BY_LAST_CHOSEN;
	if (a->last_chosen != b->last_chosen)
		return a->last_chosen < b->last_chosen ? -1 : 1;
	*by = a->ordinal == b->ordinal ? BY_NOTHING : BY_AGENT_ID;
	return a->ordinal - b->ordinal;
}

/*
 * Ranking is most of a choice among hundreds, so the first three criteria are
 * packed into one integer: rounded down, which keeps the order of what it
 * tells apart.  Equal ones are compared in full.
 */
typedef struct Place
{
	uint64		key;
	const Candidate *candidate;
} Place;

#define FRACTION_BITS	21
#define FRACTION_MAX	((UINT64CONST(1) << FRACTION_BITS) - 1)

static inline uint64
fraction(double share)
{
	return (uint64) (Min(Max(share, 0.0), 1.0) * FRACTION_MAX);
}

static inline uint64
key_of(const Candidate *candidate, int avoided)
{
	return ((uint64) (candidate->ordinal == avoided) << (3 * FRACTION_BITS)) |
		((FRACTION_MAX - fraction(candidate->score)) << (2 * FRACTION_BITS)) |
		(fraction(candidate->load) << FRACTION_BITS) |
		(FRACTION_MAX - fraction(candidate->success_rate));
}

static inline int
compare_places(const Place *a, const Place *b, const int *avoided)
{
	Criterion	by;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return compare(a->candidate, b->candidate, *avoided, &by);
}

#define ST_SORT			sort_places
#define ST_ELEMENT_TYPE Place
#define ST_COMPARE(a, b, avoided)	compare_places(a, b, avoided)
#define ST_COMPARE_ARG_TYPE	int
#define ST_SCOPE		static
#define ST_DEFINE
#include "lib/sort_template.h"

static int
avoided_ordinal(const Choice *choice, Slice avoid)
{
	return slice_present(avoid) ? roster_find(choice->roster, avoid) : -1;
}

/* the lowest keys of all, in order; one by one, as best is small */
static int
pick_best(const Choice *choice, int avoided, Place *best, int room)
{
	int			n = 0;
	int			i;

	for (i = 0; i < choice->ncandidates; i++)
	{
		Place		place = {key_of(&choice->candidates[i], avoided), &choice->candidates[i]};
		int			at = n;

		if (n == room && compare_places(&place, &best[n - 1], &avoided) > 0)
			continue;
		if (n == room)
			at--;
		else
			n++;
		for (; at > 0 && compare_places(&place, &best[at - 1], &avoided) < 0; at--)
			best[at] = best[at - 1];
		best[at] = place;
	}
	return n;
}

/* the places first, in their order, then all others as they stood */
static void
reorder(Choice *choice, const Place *places, int nplaces)
{
	Candidate  *ranked = palloc(choice->ncandidates * sizeof(Candidate));
	bool	   *placed = palloc0(choice->ncandidates * sizeof(bool));
	int			n = 0;
	int			i;

	for (i = 0; i < nplaces; i++)
	{
		placed[places[i].candidate - choice->candidates] = true;
		ranked[n++] = *places[i].candidate;
	}
	for (i = 0; i < choice->ncandidates; i++)
		if (!placed[i])
			ranked[n++] = choice->candidates[i];
	pfree(placed);
	pfree(choice->candidates);
	choice->candidates = ranked;
}

void
tiebreak_rank_best(Choice *choice, Slice avoid, int n)
{
	int			avoided = avoided_ordinal(choice, avoid);
	Place	   *best;

	if (choice->ncandidates <= 2 * n)
	{
		tiebreak_rank(choice, avoid);
		return;
	}
	best = palloc(n * sizeof(Place));
	choice->nranked = pick_best(choice, avoided, best, n);
	reorder(choice, best, choice->nranked);
	pfree(best);
}

void
tiebreak_rank(Choice *choice, Slice avoid)
{
	int			n = choice->ncandidates;
	int			avoided = avoided_ordinal(choice, avoid);
	Place	   *places;
	int			i;

	choice->nranked = n;
	if (n < 2)
		return;
	places = palloc(n * sizeof(Place));
	for (i = 0; i < n; i++)
	{
		places[i].key = key_of(&choice->candidates[i], avoided);
		places[i].candidate = &choice->candidates[i];
	}
	sort_places(places, n, &avoided);
	reorder(choice, places, n);
	pfree(places);
}

void
tiebreak_settle_first(Choice *choice, Slice avoid)
{
	int			avoided = avoided_ordinal(choice, avoid);
	Candidate	moved = choice->candidates[0];
	Criterion	by;
	int			i;

	for (i = 1; i < choice->nranked; i++)
	{
		if (compare(&moved, &choice->candidates[i], avoided, &by) <= 0)
			break;
		choice->candidates[i - 1] = choice->candidates[i];
	}
	choice->candidates[i - 1] = moved;
}

const char *
tiebreak_words(const Candidate *a, const Candidate *b, Slice avoid)
{
	int			avoided = -1;
	Criterion	by;

	if (slice_present(avoid))
		avoided = slice_equal(a->agent_id, avoid) ? a->ordinal :
			slice_equal(b->agent_id, avoid) ? b->ordinal : -1;
	(void) compare(a, b, avoided, &by);
	return criterion_words[by];
}
