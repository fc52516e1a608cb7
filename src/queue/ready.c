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

/* where this backend last found something for an agent */
typedef struct AgentPlace
{
	uint64		agent;			/* hash of agent_id */
	QueuePlace	place;
} AgentPlace;

#define MAX_PLACES	10000

static HTAB *places = NULL;
static Oid	places_of = InvalidOid;	/* the table; a new one counts from 1 again */

static QueuePlace *
place_of(Slice agent_id)
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
	Datum		values[Natts_queue];
	bool		nulls[Natts_queue] = {0};

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

/* the task of an entry, locked and out of the queue; NULL: somebody has it */
static Task *
take(QueueEntry *entry, Slice agent_id)
{
	Task	   *task = task_lock(entry->task_id, false);

	if (task == NULL || task->status != TASK_ASSIGNED ||
		task->queue_no != entry->queue_no || !slice_equal(task->agent_id, agent_id))
		return NULL;
	rows_delete(TABLE_READY, &entry->tid);
	return task;
}

List *
ready_take(Slice agent_id, int n, int least_level)
{
	List	   *tasks = NIL;
	RowScan		scan;
	Queue		queue = {&scan, agent_id};

	queue.place = place_of(agent_id);
	rows_begin(&scan, TABLE_READY, INDEX_READY, ROWS_DIRTY, RowExclusiveLock);
	queue_open(&queue);
	while (list_length(tasks) < n)
	{
		QueueEntry *entry = queue_first(&queue);
		int			level = entry ? queue_level(entry, clock_now()) : -1;

		CHECK_FOR_INTERRUPTS();
		if (level >= least_level)
		{
			Task	   *task = take(entry, agent_id);

			if (task != NULL)
				tasks = lappend(tasks, task);
			/* batch work is not for who has other work */
			if (task != NULL && level > LEVEL_BATCH)
				least_level = Max(least_level, LEVEL_LOW);
			queue_pass(&queue, entry);
		}
		else if (!queue_look_again(&queue))
			break;
	}
	queue_close(&queue);
	rows_end(&scan);
	return tasks;
}
