/*-------------------------------------------------------------------------
 *
 * ready.c
 *	  What an agent can claim, in claim order, and nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/memo.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "queue/queue.h"
#include "queue/ready.h"
#include "utils/timestamp.h"

/* where this backend last found a task for an agent */
typedef struct AgentPlace
{
	uint64		agent;			/* hash of agent_id */
	QueuePlace	place;
} AgentPlace;

#define MAX_PLACES	10000

static HTAB *places = NULL;
static Oid	places_of = InvalidOid;	/* the table: a new one numbers its rows from 1 again */

static QueuePlace *
ready_place(Slice agent_id)
{
	uint64		key = slice_hash(agent_id);
	AgentPlace *found;
	bool		known;

	places = memo_table(places, "clutch places in ready", sizeof(AgentPlace),
						places_of == rows_table_oid(TABLE_READY) ? MAX_PLACES : 0);
	places_of = rows_table_oid(TABLE_READY);
	found = hash_search(places, &key, HASH_ENTER, &known);
	if (!known)
		memset(&found->place, 0, sizeof(found->place));
	return &found->place;
}

void
ready_put(Task *task)
{
	Datum		values[Natts_ready];
	bool		nulls[Natts_ready] = {0};

	task->queue_no = rows_nextval(SEQUENCE_QUEUE_NO);
	task->queue_kind = 0;
	values[Anum_queue_key - 1] = PointerGetDatum(slice_to_text(task->agent_id));
	values[Anum_queue_urgency - 1] = Int16GetDatum(task_urgency(task));
	values[Anum_queue_queue_no - 1] = Int64GetDatum(task->queue_no);
	values[Anum_queue_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	values[Anum_queue_since - 1] = TimestampTzGetDatum(clock_now());
	(void) rows_insert(TABLE_READY, values, nulls);
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
	(void) rows_delete_first(&scan);
	task->queue_no = 0;
}

/* the task of an entry, locked and out of the queue; NULL: it is not to be had */
static Task *
ready_lock(QueueEntry *entry, Slice agent_id)
{
	bool		busy;
	Task	   *task = task_lock_now(entry->task_id, &busy);

	if (task == NULL || task->status != TASK_ASSIGNED ||
		task->queue_no != entry->queue_no || !slice_equal(task->agent_id, agent_id))
		return NULL;
	rows_delete(TABLE_READY, &entry->tid);
	task->queue_no = 0;
	return task;
}

int
ready_take(Slice agent_id, int n, QueueLevel least_level, ReadyTake take, void *arg)
{
	int			taken = 0;
	RowScan		scan;
	Queue		queue = {&scan, agent_id};

	queue.place = ready_place(agent_id);
	rows_begin(&scan, TABLE_READY, INDEX_READY, ROWS_DIRTY, RowExclusiveLock);
	queue_open(&queue);
	while (taken < n)
	{
		QueueEntry *entry = queue_first(&queue);
		Task	   *task;

		CHECK_FOR_INTERRUPTS();
		if (entry != NULL && queue_level(entry, clock_now()) >= least_level)
		{
			QueueLevel	level = queue_level(entry, clock_now());

			task = ready_lock(entry, agent_id);
			if (task != NULL && take(task, arg))
			{
				taken++;
				if (level > LEVEL_BATCH)
					least_level = Max(least_level, LEVEL_LOW);
			}
			queue_pass(&queue, entry);
		}
		else if (!queue_look_again(&queue))
			break;
	}
	queue_close(&queue);
	rows_end(&scan);
	return taken;
}
