/*-------------------------------------------------------------------------
 *
 * ready.c
 *	  What agents can claim, in the order of claims, and nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/crypto.h"
#include "base/memo.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "miscadmin.h"
#include "queue/queue.h"
#include "queue/ready.h"
#include "queue/waiting.h"
#include "registry/roster.h"
#include "routing/filter_agents.h"
#include "utils/timestamp.h"

/* where this backend last found a task for an agent */
typedef struct AgentPlace
{
	uint64		agent;			/* hash of agent_id */
	QueuePlace	place;
} AgentPlace;

#define MAX_PLACES	10000

/* The places are forgotten if the table is created again, because its rows are then numbered from 1 again. */
static AgentPlace *
ready_find_place(Slice agent_id)
{
	static Memo places = {0};
	uint64		key = crypto_name_hash(agent_id);
	HTAB	   *table = memo_current(&places, "clutch places in ready", sizeof(AgentPlace), MAX_PLACES,
									 rows_table_oid(TABLE_READY));
	AgentPlace *found;
	bool		known;

	found = hash_search(table, &key, HASH_ENTER, &known);
	if (!known)
		memset(&found->place, 0, sizeof(found->place));
	return found;
}

void
ready_put(Task *task)
{
	Datum		values[Natts_ready];
	bool		nulls[Natts_ready] = {0};

	task->queue_no = rows_nextval(SEQUENCE_QUEUE_NO);
	task->queue_kind = 0;
	column_put_int8(values, nulls, Anum_ready_waited_no, task->left_no);
	column_put_int8(values, nulls, Anum_ready_waited_since, task->left_since);
	values[Anum_queue_key - 1] = PointerGetDatum(slice_to_text(task->agent_id));
	values[Anum_queue_urgency - 1] = Int16GetDatum(task_urgency(task));
	values[Anum_queue_queue_no - 1] = Int64GetDatum(task->queue_no);
	values[Anum_queue_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	values[Anum_queue_since - 1] = TimestampTzGetDatum(clock_now());
	(void) rows_insert(TABLE_READY, values, nulls);
}

/*
 * Notes the place in clutch.waiting to which the task of the current row would
 * return.
 */
static void
ready_note_place(const RowScan *scan, Task *task)
{
	bool		has_waited = !rows_is_null(scan, Anum_ready_waited_no);

	task->left_no = rows_int8(scan, has_waited ? Anum_ready_waited_no : Anum_queue_queue_no);
	task->left_since = rows_timestamp(scan, has_waited ? Anum_ready_waited_since : Anum_queue_since);
}

void
ready_remove(Task *task)
{
	RowScan		scan;

	if (task->queue_no == 0)
		return;
	rows_begin(&scan, TABLE_READY, INDEX_READY, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->agent_id);
	rows_key_int2(&scan, 2, BTEqualStrategyNumber, task_urgency(task));
	rows_key_int8(&scan, 3, BTEqualStrategyNumber, task->queue_no);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		ItemPointerData tid = rows_tid(&scan);

		ready_note_place(&scan, task);
		rows_delete(TABLE_READY, &tid);
	}
	rows_end(&scan);
	waiting_end_offer(task);
	task->queue_no = 0;
}

/*
 * Does the task require a capability that is paused?  This does not lock
 * anything.
 */
static bool
ready_is_paused(Slice task_id)
{
	Roster	   *roster = roster_get();
	Task	   *task;

	if (!roster_has_pauses(roster))
		return false;
	task = task_look(task_id, ROWS_LATEST);
	return task != NULL && slice_present(filter_paused_capability(roster, &task->requires));
}

List *
ready_list(Slice agent_id, int n)
{
	List	   *tasks = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_READY, INDEX_READY, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	while (list_length(tasks) < n && rows_next(&scan))
	{
		Slice		task_id = rows_text(&scan, Anum_queue_task_id);

		CHECK_FOR_INTERRUPTS();
		if (!ready_is_paused(task_id))
			tasks = slice_list_add(tasks, task_id);
	}
	rows_end(&scan);
	return tasks;
}

/*
 * Locks the task of an entry and takes it out of the queue.  Returns NULL if
 * that is not possible.
 */
static Task *
ready_lock(QueueEntry *entry, Slice agent_id)
{
	bool		busy;
	Task	   *task = ready_is_paused(entry->task_id) ? NULL : task_lock_now(entry->task_id, &busy);

	if (task == NULL || task->status != TASK_ASSIGNED ||
		task->queue_no != entry->queue_no || !slice_equal(task->agent_id, agent_id))
		return NULL;
	rows_delete(TABLE_READY, &entry->tid);
	waiting_end_offer(task);
	task->queue_no = 0;
	return task;
}

/* an attempt to take the task of an entry */
typedef struct ReadyAttempt
{
	QueueEntry *entry;
	Slice		agent_id;
	ReadyTake	take;
	void	   *arg;
	bool		is_taken;
} ReadyAttempt;

static void
ready_attempt(void *arg)
{
	ReadyAttempt *attempt = arg;
	Task	   *task = ready_lock(attempt->entry, attempt->agent_id);

	attempt->is_taken = task != NULL && attempt->take(task, attempt->arg);
}

/* The same in a savepoint.  If it fails, the task is where it was before. */
static void
ready_attempt_safely(ReadyAttempt *attempt, ReadyFail fail)
{
	ErrorData  *error = savepoint_run_whole(ready_attempt, attempt);

	if (error == NULL)
		return;
	attempt->is_taken = false;
	fail(attempt->entry->task_id, error, attempt->arg);
}

int
ready_take(Slice agent_id, int n, PriorityLevel least_level, ReadyTake take, ReadyFail fail, void *arg)
{
	int			taken = 0;
	RowScan		scan;
	Queue		queue = {&scan, agent_id};
	QueuePlace	place = ready_find_place(agent_id)->place;

	/* a copy, because a trigger that fires in take may empty the cache */
	queue.place = &place;
	rows_begin(&scan, TABLE_READY, INDEX_READY, ROWS_DIRTY, RowExclusiveLock);
	queue_open(&queue);
	while (taken < n)
	{
		QueueEntry *entry = queue_first(&queue);

		CHECK_FOR_INTERRUPTS();
		if (entry != NULL && queue_level(entry, clock_now()) >= least_level)
		{
			PriorityLevel	level = queue_level(entry, clock_now());
			ReadyAttempt attempt = {entry, agent_id, take, arg};

			if (fail == NULL)
				ready_attempt(&attempt);
			else
				ready_attempt_safely(&attempt, fail);
			if (attempt.is_taken)
			{
				taken++;
				if (level > LEVEL_BATCH)
					least_level = Max(least_level, LEVEL_LOW);
			}
			if (taken < n)
				queue_pass(&queue, entry);
			else
				queue_leave(&queue, entry);
		}
		else if (!queue_look_again(&queue))
			break;
	}
	queue_close(&queue);
	rows_end(&scan);
	ready_find_place(agent_id)->place = place;
	return taken;
}

/* ---------------------------------------------------------------- yielding */

/*
 * So many rows of an agent are looked at, and so many dead ones.  More than
 * one live row needs to be looked at only if other transactions hold its
 * tasks, or if they have aged.
 */
#define YIELDING_LOOKS	64
#define YIELDING_DEAD	1000

/* Scans the less urgent rows of the agent backwards. */
static void
ready_scan_yielding(RowScan *scan, Slice agent_id, int priority)
{
	rows_begin(scan, TABLE_READY, INDEX_READY, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int2(scan, 2, BTGreaterStrategyNumber, LEVEL_CRITICAL - priority);
	scan->most_dead = YIELDING_DEAD;
	rows_start(scan);
}

/*
 * Must the task of the current row yield?  Not if it has become as urgent by
 * aging.
 */
static bool
ready_yields(const RowScan *scan, int priority, QueueEntry *entry)
{
	if (TransactionIdIsValid(rows_in_doubt(scan)))
		return false;
	entry->urgency = rows_int2(scan, Anum_queue_urgency);
	entry->queue_no = rows_int8(scan, Anum_queue_queue_no);
	entry->since = rows_timestamp(scan, Anum_queue_since);
	entry->task_id = rows_text(scan, Anum_queue_task_id);
	return (int) queue_level(entry, clock_now()) < priority;
}

bool
ready_look_for_yielding(Slice agent_id, int priority, int *urgency, int64 *queue_no)
{
	RowScan		scan;
	QueueEntry	entry;
	bool		found = false;
	int			i;

	ready_scan_yielding(&scan, agent_id, priority);
	for (i = 0; i < YIELDING_LOOKS && !found && rows_previous(&scan); i++)
		found = ready_yields(&scan, priority, &entry);
	if (found)
	{
		*urgency = entry.urgency;
		*queue_no = entry.queue_no;
	}
	rows_end(&scan);
	return found;
}

Task *
ready_lock_yielding(Slice agent_id, int priority)
{
	RowScan		scan;
	QueueEntry	entry;
	Task	   *task = NULL;
	int			i;

	ready_scan_yielding(&scan, agent_id, priority);
	for (i = 0; i < YIELDING_LOOKS && task == NULL && rows_previous(&scan); i++)
	{
		bool		busy;

		CHECK_FOR_INTERRUPTS();
		if (!ready_yields(&scan, priority, &entry))
			continue;
		task = task_lock_now(entry.task_id, &busy);
		if (task != NULL && (task->status != TASK_ASSIGNED || task->queue_no != entry.queue_no ||
							 !slice_equal(task->agent_id, agent_id)))
			task = NULL;
		if (task != NULL)
			ready_note_place(&scan, task);
	}
	rows_end(&scan);
	return task;
}
