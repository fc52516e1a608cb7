/*-------------------------------------------------------------------------
 *
 * candidate.c
 *	  Ranking the agents that pass the filters by their loads.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/candidate.h"

#include "routing/filter_agents.h"
#include "routing/score.h"
#include "routing/tiebreak.h"
#include "routing/usage.h"
#include "settings.h"

/*
 * How old a cached load may be.  If there are few candidates, their loads are
 * read anew for each choice.  If there are thousands, reading each takes
 * microseconds, so cached loads are good enough: the best candidate's load is
 * read again, and the slot decides anyway.  Keeping loads for ten milliseconds
 * per candidate makes them cost a backend next to nothing.  But before a
 * request is told that all agents are full, nothing older than LEAST_AGE
 * counts.
 */
#define AGE_PER_CANDIDATE	INT64CONST(10000)
#define LEAST_AGE			INT64CONST(100000)
#define MOST_AGE			INT64CONST(2000000)

/* The load of the best candidate is read again if it is older than this ... */
#define AGE_OF_BEST			INT64CONST(1000)
/*
 * ... and, if it has become worse, so is that of the next one, up to so many
 * times.
 */
#define REFRESHES			8

/*
 * Returns how many tasks the agent may have at once.  An agent on trial gets
 * only a few.
 */
static int
candidate_limit_of(const Choice *choice, const LoadReader *reader, int ordinal)
{
	int			limit = load_reader_load(reader, ordinal)->limit;

	if (choice->on_trial != NULL && agent_set_has(choice->on_trial, ordinal))
		limit = Min(limit, clutch_breaker_probes);
	return limit;
}

/*
 * Returns the part of the key for the load, with the limit that applies to
 * this choice.
 */
static inline uint64
candidate_load_key(const Choice *choice, LoadReader *reader, int ordinal)
{
	uint64		key = load_reader_key(reader, ordinal);

	if (choice->on_trial != NULL && agent_set_has(choice->on_trial, ordinal))
		key = load_key(load_reader_load(reader, ordinal), candidate_limit_of(choice, reader, ordinal));
	return key;
}

static void
candidate_set_load(Candidate *candidate, const AgentLoad *load)
{
	candidate->running = load->running;
	candidate->load = candidate->max_concurrency > 0 ?
		(double) load->running / candidate->max_concurrency : 1;
	candidate->success_rate = load_success_rate(load);
	candidate->last_chosen = load->last_chosen;
}

/*
 * Fills in a candidate, except for the agent_id.  That is filled in at the
 * end, because few of the candidates are kept.
 */
static void
candidate_make(const Choice *choice, const LoadReader *reader, int ordinal, Candidate *candidate)
{
	candidate->ordinal = ordinal;
	candidate->max_concurrency = candidate_limit_of(choice, reader, ordinal);
	candidate->cost = usage_cost(choice, ordinal);
	candidate_set_load(candidate, load_reader_load(reader, ordinal));
}

static void
candidate_name_all(Choice *choice)
{
	for (int i = 0; i < choice->ncandidates; i++)
		choice->candidates[i].agent_id =
			roster_agent(choice->roster, choice->candidates[i].ordinal)->agent_id;
}

static void
candidate_drop_full(Choice *choice, int ordinal)
{
	filter_tally(&choice->rejected[REJECTED_CONCURRENCY], ordinal);
	agent_set_remove(choice->left[REJECTED_CONCURRENCY], ordinal);
	choice->neligible--;
}

/* how many of the preferences an agent meets */
typedef enum Meets
{
	MEETS_ALL,
	MEETS_SOME,
	MEETS_NOTHING
} Meets;

/* Ranks the remaining agents that meet this part of the preferences. */
static inline void
candidate_rank_part(Choice *choice, LoadReader *reader, const Scorer *scorer, Meets meets,
					Ranking *ranking)
{
	AgentSet   *left = choice->left[REJECTED_CONCURRENCY];
	double		score = meets == MEETS_ALL ? 1 : scorer->none;
	uint64		score_key = tiebreak_score_key(score);
	int			word;

	for (word = 0; word < left->nwords; word++)
	{
		uint64		all = scorer->all->words[word];
		uint64		any = scorer->any->words[word];
		uint64		bits = left->words[word] &
			(meets == MEETS_ALL ? all : meets == MEETS_SOME ? any & ~all : ~any);

		for (; bits != 0; bits &= bits - 1)
		{
			int			ordinal = word * 64 + pg_rightmost_one_pos64(bits);
			uint64		key = candidate_load_key(choice, reader, ordinal);
			Candidate  *candidate;

			if (key == LOAD_KEY_FULL)
			{
				candidate_drop_full(choice, ordinal);
				continue;
			}
			if (meets == MEETS_SOME)
			{
				score = score_of(scorer, ordinal);
				score_key = tiebreak_score_key(score);
			}
			key = tiebreak_key(score_key, key, ordinal == choice->avoided);
			if (!tiebreak_admits(ranking, key))
				continue;
			candidate = tiebreak_spare(ranking);
			candidate->key = key;
			candidate->score = score;
			candidate_make(choice, reader, ordinal, candidate);
			tiebreak_insert(ranking);
		}
	}
}

/*
 * Ranks all remaining agents, best scores first.  Once there are enough
 * candidates, few of the others need be looked at.
 */
static void
candidate_rank_all(Choice *choice, LoadReader *reader, const Scorer *scorer, Ranking *ranking)
{
	candidate_rank_part(choice, reader, scorer, MEETS_ALL, ranking);
	candidate_rank_part(choice, reader, scorer, MEETS_SOME, ranking);
	candidate_rank_part(choice, reader, scorer, MEETS_NOTHING, ranking);
}

/*
 * Reads the load of the best candidate again until the best candidate stays
 * the same.  A cached load may hide that it has been given work since, even by
 * us.
 */
static void
candidate_settle_best(Choice *choice, LoadReader *reader)
{
	int			i;

	for (i = 0; i < REFRESHES && choice->ncandidates > 0; i++)
	{
		Candidate  *best = &choice->candidates[0];
		int			ordinal = best->ordinal;
		Candidate	before = *best;
		uint64		key;

		if (load_reader_read_at(reader, ordinal) >= reader->now - AGE_OF_BEST ||
			load_reader_is_good(reader, ordinal))
			return;
		load_reader_read(reader, ordinal);
		key = candidate_load_key(choice, reader, ordinal);
		if (key == LOAD_KEY_FULL)
		{
			candidate_reject_full(choice);
			continue;
		}
		candidate_set_load(best, load_reader_load(reader, ordinal));
		best->key = tiebreak_key(tiebreak_score_key(best->score), key,
								 ordinal == choice->avoided);
		if (best->running == before.running && best->last_chosen == before.last_chosen &&
			best->success_rate == before.success_rate)
			return;
		tiebreak_settle_first(choice);
	}
}

/*
 * Puts back the agents that were rejected as full because of loads that were
 * too old for that.
 */
static void
candidate_take_full_back(Choice *choice)
{
	choice->left[REJECTED_CONCURRENCY] = agent_set_copy(choice->left[REJECTED_REQUIRES]);
	memset(&choice->rejected[REJECTED_CONCURRENCY], 0, sizeof(RejectionTally));
	choice->neligible = agent_set_count(choice->left[REJECTED_CONCURRENCY]);
}

void
candidate_rank(Choice *choice, int most)
{
	int			n = choice->neligible;
	bool		is_first = choice->candidates == NULL;
	bool		remembers = n > clutch_exact_load_candidates;
	int64		max_age = Min(Max(n * AGE_PER_CANDIDATE, LEAST_AGE), MOST_AGE);
	LoadReader	reader;
	Ranking		ranking;
	Scorer		scorer;

	choice->ncandidates = 0;
	load_reader_begin(&reader, choice->roster, remembers ? max_age : 0);
	score_begin(&scorer, &choice->requirement, choice->roster);
	do
	{
		tiebreak_begin(&ranking, Max(Min(most, choice->neligible), 1), choice->avoided);
		candidate_rank_all(choice, &reader, &scorer, &ranking);
		if (choice->neligible == 0 && n > 0 && remembers && is_first)
		{
			candidate_take_full_back(choice);
			reader.oldest = reader.now - LEAST_AGE;
			is_first = false;
			continue;
		}
		tiebreak_end(&ranking, choice);
		candidate_name_all(choice);
		if (remembers)
			candidate_settle_best(choice, &reader);
	} while (choice->ncandidates == 0 && choice->neligible > 0);
	load_reader_end(&reader);
}

void
candidate_reject_full(Choice *choice)
{
	candidate_drop_full(choice, choice->candidates[0].ordinal);
	choice->ncandidates--;
	memmove(&choice->candidates[0], &choice->candidates[1], choice->ncandidates * sizeof(Candidate));
}

/* --------------------------------------------------------- one of the others */

static int
candidate_append(Choice *choice, LoadReader *reader, int ordinal)
{
	uint64		key = candidate_load_key(choice, reader, ordinal);
	Candidate  *candidate;
	Scorer		scorer;

	if (key == LOAD_KEY_FULL)
		return -1;
	score_begin(&scorer, &choice->requirement, choice->roster);
	choice->candidates = repalloc_huge(choice->candidates, ((Size) choice->ncandidates + 1) * sizeof(Candidate));
	candidate = &choice->candidates[choice->ncandidates];
	candidate->score = score_of(&scorer, ordinal);
	candidate->key = tiebreak_key(tiebreak_score_key(candidate->score), key, ordinal == choice->avoided);
	candidate_make(choice, reader, ordinal, candidate);
	candidate->agent_id = roster_agent(choice->roster, ordinal)->agent_id;
	return choice->ncandidates++;
}

int
candidate_list_agent(Choice *choice, int ordinal)
{
	LoadReader	reader;
	int			listed;

	for (int i = 0; i < choice->ncandidates; i++)
		if (choice->candidates[i].ordinal == ordinal)
			return i;
	if (!agent_set_has(choice->left[REJECTED_CONCURRENCY], ordinal))
		return -1;
	load_reader_begin(&reader, choice->roster, 0);
	listed = candidate_append(choice, &reader, ordinal);
	load_reader_end(&reader);
	return listed;
}

/* ---------------------------------------------------------------- full ones */

typedef struct FullAgent
{
	int			ordinal;
	double		score;
} FullAgent;

static int
candidate_compare_full(const void *a, const void *b)
{
	const FullAgent *x = a;
	const FullAgent *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->ordinal - y->ordinal;
}

int
candidate_list_full(const Choice *choice, int most, int **ordinals, double **scores)
{
	AgentSet   *full = agent_set_copy(choice->left[REJECTED_REQUIRES]);
	FullAgent  *agents;
	Scorer		scorer;
	int			n = 0;
	int			i = -1;

	agent_set_minus(full, choice->left[REJECTED_CONCURRENCY]);
	agents = palloc(sizeof(FullAgent) * agent_set_count(full));
	score_begin(&scorer, &choice->requirement, choice->roster);
	while ((i = agent_set_next(full, i)) >= 0)
		agents[n++] = (FullAgent) {i, score_of(&scorer, i)};
	if (scorer.asked > 0)
		qsort(agents, n, sizeof(FullAgent), candidate_compare_full);
	n = Min(n, most);
	*ordinals = palloc(sizeof(int) * n);
	*scores = palloc(sizeof(double) * n);
	for (i = 0; i < n; i++)
	{
		(*ordinals)[i] = agents[i].ordinal;
		(*scores)[i] = agents[i].score;
	}
	return n;
}
