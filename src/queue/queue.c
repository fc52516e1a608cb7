/*-------------------------------------------------------------------------
 *
 * queue.c
 *	  Queues: what is ready for one agent, or waits as one kind, in the order
 *	  of claims.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "queue/queue.h"
#include "settings.h"
#include "utils/timestamp.h"

/* passing over this many rows is always worthwhile */
#define FEW_PASSED		16

/* what looking from the start costs if there are no dead entries */
#define FEW_PAGES		12

/* so many numbers from the remembered place on are looked for first */
#define NEAR			32

int64
queue_pages(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read;
}

/* what exceeds a second is divided by this, so that nothing is overlooked for long */
#define SLOWER_BEYOND	5

bool
queue_worth_looking(int64 passed, TimestampTz looked_at, int factor)
{
	int64		put_off = passed * factor;

	if (passed <= FEW_PASSED)
		return true;
	if (put_off > USECS_PER_SEC)
		put_off = USECS_PER_SEC + (put_off - USECS_PER_SEC) / SLOWER_BEYOND;
	/*
	 * use the wall clock, not clutch.clock, because this is about saving
	 * processor time
	 */
	return clock_is_over(looked_at, put_off, GetCurrentTimestamp());
}

/* ---------------------------------------------------------------- scanning */

/*
 * Restarts the scan at queue_no, for the urgencies from first to last, which
 * must be the same if the scan is to end before a number.  There are always
 * four keys, because a scan keeps the number of keys that it began with;
 * PostgreSQL drops one that says nothing new.
 */
static void
queue_seek(Queue *queue, int first, int last, int64 queue_no, int64 end)
{
	RowScan    *scan = queue->scan;

	scan->nkeys = 0;
	if (slice_present(queue->agent_id))
		rows_key_text(scan, Anum_queue_key, BTEqualStrategyNumber, queue->agent_id);
	else
		rows_key_int8(scan, Anum_queue_key, BTEqualStrategyNumber, queue->kind);
	rows_key_int2(scan, Anum_queue_urgency,
				  first == last ? BTEqualStrategyNumber : BTGreaterEqualStrategyNumber, first);
	if (end == PG_INT64_MAX)
		rows_key_int2(scan, Anum_queue_urgency, BTLessEqualStrategyNumber, last);
	rows_key_int8(scan, Anum_queue_queue_no, BTGreaterEqualStrategyNumber, queue_no);
	if (end != PG_INT64_MAX)
		rows_key_int8(scan, Anum_queue_queue_no, BTLessStrategyNumber, end);
	rows_restart(scan);
}

/* Returns the variable that says how far reading of an urgency has got. */
static int64 *
queue_position(Queue *queue, int urgency)
{
	return queue->beyond[urgency] > 0 ? &queue->beyond[urgency] : &queue->place->from[urgency];
}

/*
 * Leaves out the current row if its run is.  The place stays before it, because
 * other agents may get it.
 */
static bool
queue_leave_out_row(Queue *queue)
{
	const RowScan *scan = queue->scan;
	int			urgency;
	int64		queue_no;
	int64		rows;

	if (queue->left_out == NULL || queue->left_out->runs == NULL)
		return false;
	rows = *queue->left_out->rows;
	if (!left_out_has(queue->left_out, rows_text(scan, Anum_queue_run_id)))
		return false;
	queue->vain_passed += rows - *queue->left_out->rows;
	urgency = rows_int2(scan, Anum_queue_urgency);
	queue_no = rows_int8(scan, Anum_queue_queue_no);
	if (queue->beyond[urgency] == 0)
		queue->place->from[urgency] = queue_no;
	queue->place->void_before[urgency] = false;
	queue->beyond[urgency] = queue_no + 1;
	return true;
}

static bool
queue_is_exhausted(const Queue *queue)
{
	return queue->left_out != NULL && *queue->left_out->rows <= 0;
}

/*
 * Makes the next row that no other transaction is inserting or deleting the
 * head of its urgency.  Returns that urgency, or NUM_LEVELS if there is no
 * such row.
 */
static int
queue_read_head(Queue *queue)
{
	RowScan    *scan = queue->scan;
	int64		dead = scan->dead;
	int			urgency = NUM_LEVELS;

	while (!queue_is_exhausted(queue) && rows_next(scan))
	{
		QueueEntry *head;

		CHECK_FOR_INTERRUPTS();
		if (TransactionIdIsValid(rows_in_doubt(scan)))
		{
			queue->passed++;
			continue;
		}
		if (queue_leave_out_row(queue))
			continue;
		urgency = rows_int2(scan, Anum_queue_urgency);
		head = &queue->heads[urgency];
		head->urgency = urgency;
		head->queue_no = rows_int8(scan, Anum_queue_queue_no);
		head->since = rows_timestamp(scan, Anum_queue_since);
		head->task_id = rows_text_copy(scan, Anum_queue_task_id);
		if (!slice_present(queue->agent_id))
			head->run_id = rows_text_copy(scan, Anum_queue_run_id);
		head->tid = rows_tid(scan);
		*queue_position(queue, urgency) = head->queue_no;
		queue->place->void_before[urgency] = false;
		break;
	}
	queue->passed += scan->dead - dead;
	return urgency;
}

/*
 * so many dead rows after a head are passed over to see whether anything
 * follows
 */
#define FEW_DEAD		4

/*
 * Is the row that was read last the last one of the queue?  Reading on costs
 * less than descending the index, but there may be any number of rows of the
 * same urgency, or of dead ones, so it is only tried.  If this returns false,
 * the row may still be the last one.
 */
static bool
queue_ends_here(Queue *queue)
{
	RowScan    *scan = queue->scan;
	int64		dead = scan->dead;
	bool		at_end;

	scan->most_dead = dead + FEW_DEAD;
	at_end = !rows_next(scan) && scan->dead < scan->most_dead;
	scan->most_dead = PG_INT64_MAX;
	scan->dead = dead;
	return at_end;
}

/* Has an urgency no rows at all, not even dead ones? */
static bool
queue_is_void(Queue *queue, int urgency)
{
	RowScan    *scan = queue->scan;
	int64		pages = queue_pages();
	int64		dead = scan->dead;
	bool		is_void;

	queue_seek(queue, urgency, urgency, 0, PG_INT64_MAX);
	scan->most_dead = dead + 1;
	is_void = !rows_next(scan) && scan->dead == dead &&
		queue_pages() - pages <= QUEUE_DESCENT_PAGES;
	scan->most_dead = PG_INT64_MAX;
	scan->dead = dead;
	return is_void;
}

/*
 * Finds the urgencies that have no rows at all, so that the next looks, which
 * start from the place, need not go to each of them.
 */
static void
queue_find_void(Queue *queue)
{
	int			urgency;

	queue->place->void_at = clock_now();
	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
		queue->place->void_before[urgency] = !slice_present(queue->heads[urgency].task_id) &&
			queue_is_void(queue, urgency);
}

/*
 * Usually all rows are of one urgency, so going directly to the next urgency
 * that exists saves lookups.
 */
static void
queue_look_from_start(Queue *queue)
{
	int64		pages = queue_pages();
	int			urgency = 0;

	queue->from_start = true;
	queue->rollbacks = queue_rollbacks();
	queue->passed = 0;
	memset(queue->place->from, 0, sizeof(queue->place->from));
	memset(queue->place->void_before, 0, sizeof(queue->place->void_before));
	while (urgency < NUM_LEVELS)
	{
		queue_seek(queue, urgency, NUM_LEVELS - 1, 0, PG_INT64_MAX);
		urgency = queue_read_head(queue) + 1;
		if (urgency < NUM_LEVELS && queue_ends_here(queue))
			break;
	}
	queue->pages = Max(queue_pages() - pages - FEW_PAGES, 0);
	if (queue->pages > 0 || queue->passed > FEW_PASSED)
		queue_find_void(queue);
}

/*
 * A scan processes all rows of a page that it is looking for, which may be
 * hundreds.  So it looks for the next few first.
 */
static void
queue_look_near(Queue *queue, int urgency)
{
	int64		from = queue->place->from[urgency];

	queue_seek(queue, urgency, urgency, from, from + NEAR);
	if (queue_read_head(queue) < NUM_LEVELS)
		return;
	queue_seek(queue, urgency, urgency, from + NEAR, PG_INT64_MAX);
	(void) queue_read_head(queue);
}

/*
 * Looks at urgencies that had no rows at all, from first to last, until one is
 * found.  Returns the last one that was looked at.
 */
static int
queue_look_at_void(Queue *queue, int first, int last)
{
	bool	   *is_void = queue->place->void_before;
	int64		passed = queue->passed;
	int			found;

	queue_seek(queue, first, last, 0, PG_INT64_MAX);
	found = queue_read_head(queue);
	last = Min(found, last);
	/* what others have taken meanwhile is not passed over again and again */
	if (queue->passed - passed > FEW_PASSED)
		memset(&is_void[first], 0, sizeof(bool) * (last - first + 1));
	return last;
}

/*
 * Is it so short a time since there were no rows that none which has come can
 * have aged?  Then it comes after every row of a more urgent kind.
 */
static bool
queue_is_void_recent(const QueuePlace *place)
{
	return clutch_aging == 0 ||
		!clock_is_over(place->void_at, clutch_aging * USECS_PER_SEC, clock_now());
}

/*
 * The last urgencies, if they had no rows, are not looked at before something
 * more urgent that was found has been passed over.
 */
static void
queue_look_from_place(Queue *queue)
{
	const bool *is_void = queue->place->void_before;
	int			urgency = 0;
	bool		found = false;

	while (urgency < NUM_LEVELS)
	{
		int			last = urgency;

		while (is_void[urgency] && last + 1 < NUM_LEVELS && is_void[last + 1])
			last++;
		if (is_void[urgency] && found && last == NUM_LEVELS - 1 && queue_is_void_recent(queue->place))
		{
			queue->unseen = urgency;
			break;
		}
		if (is_void[urgency])
			last = queue_look_at_void(queue, urgency, last);
		else
			queue_look_near(queue, urgency);
		found = found || slice_present(queue->heads[last].task_id);
		urgency = last + 1;
	}
}

/* Looks at what queue_look_from_place has left. */
static void
queue_look_at_unseen(Queue *queue)
{
	int			urgency = queue->unseen;

	queue->unseen = NUM_LEVELS;
	while (urgency < NUM_LEVELS)
		urgency = queue_look_at_void(queue, urgency, NUM_LEVELS - 1) + 1;
}

void
queue_open(Queue *queue)
{
	QueuePlace *place = queue->place;

	queue_watch_rollbacks();
	memset(queue->heads, 0, sizeof(queue->heads));
	memset(queue->beyond, 0, sizeof(queue->beyond));
	queue->passed = 0;
	queue->vain = 0;
	queue->vain_passed = 0;
	queue->unseen = NUM_LEVELS;
	queue->from_start = place->rollbacks != queue_rollbacks() ||
		queue_worth_looking(place->passed, place->looked_at, QUEUE_LOOK_BUSY);
	if (queue->from_start)
		queue_look_from_start(queue);
	else
		queue_look_from_place(queue);
}

bool
queue_look_again(Queue *queue)
{
	QueuePlace *place = queue->place;

	if (queue->from_start ||
		!queue_worth_looking(place->passed, place->looked_at, QUEUE_LOOK_IDLE))
		return false;
	memset(queue->heads, 0, sizeof(queue->heads));
	memset(queue->beyond, 0, sizeof(queue->beyond));
	queue->unseen = NUM_LEVELS;
	queue_look_from_start(queue);
	return true;
}

/* Makes the next entry that has at least that number the head of its urgency. */
static void
queue_move_on(Queue *queue, int urgency, int64 queue_no)
{
	queue->heads[urgency].task_id = SLICE_NONE;
	*queue_position(queue, urgency) = queue_no;
	queue_seek(queue, urgency, urgency, queue_no, PG_INT64_MAX);
	if (queue_read_head(queue) == NUM_LEVELS)
		queue_look_at_unseen(queue);
}

void
queue_pass(Queue *queue, QueueEntry *entry)
{
	queue->passed++;
	queue_move_on(queue, entry->urgency, entry->queue_no + 1);
}

void
queue_pass_in_vain(Queue *queue, QueueEntry *entry)
{
	int64		passed = queue->passed;

	queue->vain++;
	queue->beyond[entry->urgency] = entry->queue_no + 1;
	queue_move_on(queue, entry->urgency, entry->queue_no + 1);
	queue->vain_passed += queue->passed - passed;
}

void
queue_pass_left_out(Queue *queue, QueueEntry *entry)
{
	queue->vain_passed++;
	queue->beyond[entry->urgency] = entry->queue_no + 1;
	queue_move_on(queue, entry->urgency, entry->queue_no + 1);
}

void
queue_skip(Queue *queue, const int64 *beyond)
{
	int			urgency;

	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
	{
		const QueueEntry *head = &queue->heads[urgency];

		if (!slice_present(head->task_id) || head->queue_no >= beyond[urgency])
			continue;
		queue->beyond[urgency] = beyond[urgency];
		queue_move_on(queue, urgency, beyond[urgency]);
	}
}

/*
 * Takes nothing more from the queue.  The entry stands for everything that was
 * not looked at, so that queue_close does not change its place.
 */
void
queue_leave(Queue *queue, const QueueEntry *entry)
{
	queue->passed++;
	*queue_position(queue, entry->urgency) = entry->queue_no + 1;
}

/*
 * If a long look found no row of an urgency, there is no entry from which the
 * next look could start.  A row that comes later has a higher number than one
 * drawn before this look, so the next look starts at that number.
 */
void
queue_close(Queue *queue)
{
	QueuePlace *place = queue->place;
	int			urgency;

	if (queue->from_start)
	{
		place->passed = queue->passed + queue->pages * QUEUE_PAGE_COSTS;
		place->looked_at = GetCurrentTimestamp();
		place->rollbacks = queue->rollbacks;
	}
	/* what was not read to its end says nothing */
	if (queue->passed > FEW_PASSED && !queue_is_exhausted(queue))
	{
		for (urgency = 0; urgency < queue->unseen; urgency++)
		{
			int64	   *position = queue_position(queue, urgency);

			if (!slice_present(queue->heads[urgency].task_id))
				*position = Max(*position, place->drawn);
		}
		place->drawn = rows_nextval(SEQUENCE_QUEUE_NO);
	}
}
