/*-------------------------------------------------------------------------
 *
 * tiebreak.c
 *	  Which candidate is better.
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

/*
 * Compares two candidates.  "avoided" is the ordinal of the agent to avoid, or
 * -1.  *by is set to the criterion that makes the difference.
 */
static inline int
tiebreak_compare(const Candidate *a, const Candidate *b, int avoided, Criterion *by)
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

static inline int
tiebreak_compare_by_key(const Candidate *a, const Candidate *b, int avoided)
{
	Criterion	by;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return tiebreak_compare(a, b, avoided, &by);
}

/*
 * Allocates one candidate more than there is room for: the one that is being
 * filled in.
 */
void
tiebreak_begin(Ranking *ranking, int room, int avoided)
{
	Candidate  *all = MemoryContextAllocHuge(CurrentMemoryContext,
											 ((Size) room + 1) * sizeof(Candidate));
	int			i;

	ranking->avoided = avoided;
	ranking->room = room;
	ranking->n = 0;
	ranking->worst = PG_UINT64_MAX;
	ranking->best = palloc(((Size) room + 1) * sizeof(Candidate *));
	for (i = 0; i <= room; i++)
		ranking->best[i] = &all[i];
}

Candidate *
tiebreak_spare(Ranking *ranking)
{
	return ranking->best[ranking->n];
}

void
tiebreak_insert(Ranking *ranking)
{
	Candidate  *candidate = ranking->best[ranking->n];
	int			low = 0;
	int			high = ranking->n;

	/*
	 * many candidates equal the last one except for the criterion that is
	 * compared last
	 */
	if (high == ranking->room &&
		tiebreak_compare_by_key(candidate, ranking->best[high - 1], ranking->avoided) > 0)
		return;
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (tiebreak_compare_by_key(candidate, ranking->best[middle], ranking->avoided) < 0)
			high = middle;
		else
			low = middle + 1;
	}
	/* if there is no room for the last one, it becomes the spare candidate */
	memmove(&ranking->best[low + 1], &ranking->best[low],
			(ranking->n - low) * sizeof(Candidate *));
	ranking->best[low] = candidate;
	ranking->n = Min(ranking->n + 1, ranking->room);
	if (ranking->n == ranking->room)
		ranking->worst = ranking->best[ranking->n - 1]->key;
}

void
tiebreak_end(Ranking *ranking, Choice *choice)
{
	int			i;

	choice->ncandidates = ranking->n;
	choice->candidates = MemoryContextAllocHuge(CurrentMemoryContext,
												ranking->n * sizeof(Candidate));
	for (i = 0; i < ranking->n; i++)
		choice->candidates[i] = *ranking->best[i];
}

void
tiebreak_settle_first(Choice *choice)
{
	Candidate	moved = choice->candidates[0];
	int			i;

	for (i = 1; i < choice->ncandidates; i++)
	{
		if (tiebreak_compare_by_key(&moved, &choice->candidates[i], choice->avoided) <= 0)
			break;
		choice->candidates[i - 1] = choice->candidates[i];
	}
	choice->candidates[i - 1] = moved;
}

const char *
tiebreak_words(const Candidate *a, const Candidate *b, int avoided)
{
	Criterion	by;

	(void) tiebreak_compare(a, b, avoided, &by);
	return criterion_words[by];
}
