/*-------------------------------------------------------------------------
 *
 * queue.c
 *	  What is ready for one agent, or waits as one kind, in claim order.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "base/transaction.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "queue/queue.h"
#include "settings.h"
#include "utils/timestamp.h"

/* a look that passes over no more than this is always worth it */
#define FEW_PASSED		32

/* of so many times that both are there, once the aged goes before the critical */
#define AGED_TURN		4

bool
queue_worth_looking(int64 passed, TimestampTz looked_at, int factor)
{
	TimestampTz now;

	if (passed <= FEW_PASSED)
		return true;
	/* not clutch.clock: it is our own time that is to be saved */
	now = GetCurrentTimestamp();
	return now < looked_at || now - looked_at >= passed * factor;
}

/*
 * What was taken in a transaction or savepoint that rolls back is there again,
 * below the place: how often that happened in this session, and whether
 * anything was looked for in the transaction at hand.
 */
static uint64 rollbacks = 0;
static bool used = false;

static void
note_rollback(void)
{
	if (used)
		rollbacks++;
}

static void
note_end(void)
{
	used = false;
}

static TransactionWatch watch = {note_rollback, note_end};

/* ---------------------------------------------------------------- scanning */

static void
seek(Queue *queue, int strategy, int urgency, int64 queue_no)
{
	RowScan    *scan = queue->scan;

	scan->nkeys = 0;
	if (slice_present(queue->agent_id))
		rows_key_text(scan, Anum_queue_key, BTEqualStrategyNumber, queue->agent_id);
	else
		rows_key_int8(scan, Anum_queue_key, BTEqualStrategyNumber, queue->kind);
	rows_key_int2(scan, Anum_queue_urgency, strategy, urgency);
	rows_key_int8(scan, Anum_queue_queue_no, BTGreaterEqualStrategyNumber, queue_no);
	rows_restart(scan);
}

/*
 * The next row that nobody is taking becomes the head of its urgency, which is
 * answered, or NUM_LEVELS.  The dirty snapshot shows what others are taking or
 * putting this moment as being in doubt.
 */
static int
read_head(Queue *queue)
{
	RowScan    *scan = queue->scan;
	int64		dead = scan->dead;
	int			urgency = NUM_LEVELS;

	while (rows_next(scan))
	{
		QueueEntry *head;

		CHECK_FOR_INTERRUPTS();
		if (TransactionIdIsValid(rows_in_doubt(scan)))
		{
			queue->passed++;
			continue;
		}
		urgency = rows_int2(scan, Anum_queue_urgency);
		head = &queue->heads[urgency];
		head->urgency = urgency;
		head->queue_no = rows_int8(scan, Anum_queue_queue_no);
		head->since = rows_timestamp(scan, Anum_queue_since);
		head->task_id = slice_copy(rows_text(scan, Anum_queue_task_id));
		head->tid = rows_tid(scan);
		queue->place->from[urgency] = head->queue_no;
		break;
	}
	queue->passed += scan->dead - dead;
	return urgency;
}

/* mostly all are of one urgency: going to the next that is there saves looks */
static void
look_from_start(Queue *queue)
{
	int			urgency = 0;

	queue->from_start = true;
	queue->passed = 0;
	memset(queue->place->from, 0, sizeof(queue->place->from));
	while (urgency < NUM_LEVELS)
	{
		seek(queue, BTGreaterEqualStrategyNumber, urgency, 0);
		urgency = read_head(queue) + 1;
	}
}

static void
look_from_place(Queue *queue)
{
	int			urgency;

	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
	{
		seek(queue, BTEqualStrategyNumber, urgency, queue->place->from[urgency]);
		(void) read_head(queue);
	}
}

void
queue_open(Queue *queue)
{
	QueuePlace *place = queue->place;

	transaction_watch(&watch);
	used = true;
	memset(queue->heads, 0, sizeof(queue->heads));
	queue->passed = 0;
	queue->from_start = place->rollbacks != rollbacks ||
		queue_worth_looking(place->passed, place->looked_at, QUEUE_LOOK_BUSY);
	if (queue->from_start)
		look_from_start(queue);
	else
		look_from_place(queue);
}

bool
queue_look_again(Queue *queue)
{
	QueuePlace *place = queue->place;

	if (queue->from_start ||
		!queue_worth_looking(place->passed, place->looked_at, QUEUE_LOOK_IDLE))
		return false;
	memset(queue->heads, 0, sizeof(queue->heads));
	look_from_start(queue);
	return true;
}

void
queue_pass(Queue *queue, QueueEntry *entry)
{
	queue->passed++;
	entry->task_id = SLICE_NONE;
	seek(queue, BTEqualStrategyNumber, entry->urgency, entry->queue_no + 1);
	queue->place->from[entry->urgency] = entry->queue_no + 1;
	(void) read_head(queue);
}

/*
 * Where nothing was left, though the way there was long, there is no entry to
 * begin with.  What comes later has a higher number than one drawn before this
 * look, so that is where the next begins.
 */
void
queue_close(Queue *queue)
{
	QueuePlace *place = queue->place;
	int			urgency;

	if (queue->from_start)
	{
		place->passed = queue->passed;
		place->looked_at = GetCurrentTimestamp();
		place->rollbacks = rollbacks;
	}
	if (queue->passed > FEW_PASSED)
	{
		for (urgency = 0; urgency < NUM_LEVELS; urgency++)
			if (!slice_present(queue->heads[urgency].task_id))
				place->from[urgency] = Max(place->from[urgency], place->drawn);
		place->drawn = rows_nextval(SEQUENCE_QUEUE_NO);
	}
}

/* ------------------------------------------------------------------- order */

/* in levels, not limited by any */
static int64
aged_level(const QueueEntry *entry, TimestampTz now)
{
	int			priority = LEVEL_CRITICAL - entry->urgency;

	if (clutch_aging == 0 || now <= entry->since)
		return priority;
	return priority + (now - entry->since) / (clutch_aging * USECS_PER_SEC);
}

int
queue_level(const QueueEntry *entry, TimestampTz now)
{
	if (entry->urgency == 0)
		return LEVEL_CRITICAL;
	return (int) Min(aged_level(entry, now), LEVEL_HIGH);
}

/* the first so far, of the critical and of the others */
typedef struct Contest
{
	TimestampTz now;
	QueueEntry *critical;
	QueueEntry *other;
	Queue	   *critical_in;
	Queue	   *other_in;
} Contest;

static bool
goes_before(const QueueEntry *a, const QueueEntry *b, TimestampTz now)
{
	int			level = queue_level(a, now);
	int			other = queue_level(b, now);

	return level != other ? level > other : a->queue_no < b->queue_no;
}

static void
enter(Contest *contest, Queue *queue)
{
	int			urgency;

	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
	{
		QueueEntry *entry = &queue->heads[urgency];
		QueueEntry **best = urgency == 0 ? &contest->critical : &contest->other;

		if (!slice_present(entry->task_id) ||
			(*best != NULL && !goes_before(entry, *best, contest->now)))
			continue;
		*best = entry;
		*(urgency == 0 ? &contest->critical_in : &contest->other_in) = queue;
	}
}

/*
 * Drawn from the two numbers: each pair meets once, so no count must be kept,
 * and all who claim agree.
 */
static bool
is_turn_of_aged(const QueueEntry *critical, const QueueEntry *aged, TimestampTz now)
{
	int64		pair[] = {critical->queue_no, aged->queue_no};

	return aged_level(aged, now) >= LEVEL_CRITICAL &&
		hash_bytes((const unsigned char *) pair, sizeof(pair)) % AGED_TURN == 0;
}

QueueEntry *
queue_first_of(Queue *queues, int n, Queue **whose)
{
	Contest		contest = {clock_now()};
	int			i;

	for (i = 0; i < n; i++)
		enter(&contest, &queues[i]);
	if (contest.critical == NULL ||
		(contest.other != NULL &&
		 is_turn_of_aged(contest.critical, contest.other, contest.now)))
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
