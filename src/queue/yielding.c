/*-------------------------------------------------------------------------
 *
 * yielding.c
 *	  Finding the ready task that yields its slot to a more urgent one.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "miscadmin.h"
#include "queue/ready.h"
#include "queue/yielding.h"
#include "routing/candidate.h"

/*
 * so many full agents are looked at, those that fit best; each costs
 * microseconds
 */
#define MOST_AGENTS		256

/* the task of an agent that would be the first to yield */
typedef struct Yielding
{
	Slice		agent_id;
	double		score;			/* score of the agent */
	int			urgency;
	int64		queue_no;
} Yielding;

/*
 * Among agents that fit equally well, the one whose task is the least urgent
 * comes first.
 */
static int
yielding_compare(const void *a, const void *b)
{
	const Yielding *x = a;
	const Yielding *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->urgency != y->urgency)
		return y->urgency - x->urgency;
	return x->queue_no > y->queue_no ? -1 : 1;
}

/*
 * Lists at most "most" of them, unsorted, in a palloc'd array.  Returns their
 * number.
 */
static int
yielding_list(const Choice *choice, int priority, int most, Yielding **list)
{
	int		   *ordinals;
	double	   *scores;
	int			agents;
	int			n = 0;
	int			i;

	*list = NULL;
	/* nothing is less urgent than batch work */
	if (priority == LEVEL_BATCH || choice->rejected[REJECTED_CONCURRENCY].count == 0)
		return 0;
	agents = candidate_list_full(choice, MOST_AGENTS, &ordinals, &scores);
	*list = palloc(sizeof(Yielding) * agents);
	for (i = 0; i < agents && n < most; i++)
	{
		Yielding   *found = &(*list)[n];

		CHECK_FOR_INTERRUPTS();
		found->agent_id = roster_agent(choice->roster, ordinals[i])->agent_id;
		found->score = scores[i];
		n += ready_look_for_yielding(found->agent_id, priority, &found->urgency, &found->queue_no);
	}
	return n;
}

bool
yielding_is_any(const Choice *choice, int priority)
{
	Yielding   *list;

	return yielding_list(choice, priority, 1, &list) > 0;
}

Task *
yielding_lock(const Choice *choice, int priority)
{
	Yielding   *list;
	Task	   *task = NULL;
	int			n = yielding_list(choice, priority, MOST_AGENTS, &list);
	int			i;

	if (n > 1)
		qsort(list, n, sizeof(Yielding), yielding_compare);
	for (i = 0; i < n && task == NULL; i++)
		task = ready_lock_yielding(list[i].agent_id, priority);
	return task;
}
