/*-------------------------------------------------------------------------
 *
 * queue_order.c
 *	  Which entry of one or more queues comes first.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "common/hashfn.h"
#include "queue/queue.h"
#include "settings.h"

/*
 * while there are both, an aged task comes before a critical one in one of so
 * many cases
 */
#define AGED_TURN		4

/* Returns the level without the upper limit. */
static int64
queue_entry_aged_level(const QueueEntry *entry, TimestampTz now)
{
	int			priority = LEVEL_CRITICAL - entry->urgency;

	if (clutch_aging == 0 || now <= entry->since)
		return priority;
	return priority + (now - entry->since) / (clutch_aging * USECS_PER_SEC);
}

PriorityLevel
queue_level(const QueueEntry *entry, TimestampTz now)
{
	if (entry->urgency == 0)
		return LEVEL_CRITICAL;
	return (PriorityLevel) Min(queue_entry_aged_level(entry, now), LEVEL_HIGH);
}

/*
 * the first entries so far: the first of the critical ones, and the first of
 * the others
 */
typedef struct Contest
{
	TimestampTz now;
	QueueEntry *critical;
	QueueEntry *other;
	Queue	   *critical_in;
	Queue	   *other_in;
} Contest;

static bool
queue_entry_goes_before(const QueueEntry *a, const QueueEntry *b, TimestampTz now)
{
	PriorityLevel	level = queue_level(a, now);
	PriorityLevel	other = queue_level(b, now);

	return level != other ? level > other : a->queue_no < b->queue_no;
}

static void
queue_contest_enter(Contest *contest, Queue *queue)
{
	int			urgency;

	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
	{
		QueueEntry *entry = &queue->heads[urgency];
		QueueEntry **best = urgency == 0 ? &contest->critical : &contest->other;

		if (!slice_present(entry->task_id) ||
			(*best != NULL && !queue_entry_goes_before(entry, *best, contest->now)))
			continue;
		*best = entry;
		*(urgency == 0 ? &contest->critical_in : &contest->other_in) = queue;
	}
}

/*
 * Is it the turn of the aged task?  A hash of the two numbers decides: each
 * pair meets only once, so no count need be kept, and all sessions decide
 * alike.
 */
static bool
queue_contest_is_turn_of_aged(const QueueEntry *critical, const QueueEntry *aged, TimestampTz now)
{
	int64		pair[] = {critical->queue_no, aged->queue_no};

	return queue_entry_aged_level(aged, now) >= LEVEL_CRITICAL &&
		hash_bytes((const unsigned char *) pair, sizeof(pair)) % AGED_TURN == 0;
}

QueueEntry *
queue_first_of(Queue *queues, int n, Queue **whose)
{
	Contest		contest = {clock_now()};
	int			i;

	for (i = 0; i < n; i++)
		queue_contest_enter(&contest, &queues[i]);
	if (contest.critical == NULL ||
		(contest.other != NULL &&
		 queue_contest_is_turn_of_aged(contest.critical, contest.other, contest.now)))
	{
		*whose = contest.other_in;
		return contest.other;
	}
	*whose = contest.critical_in;
	return contest.critical;
}

QueueEntry *
queue_first(Queue *queue)
{
	Queue	   *whose;

	return queue_first_of(queue, 1, &whose);
}
