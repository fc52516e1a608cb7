/*-------------------------------------------------------------------------
 *
 * task_place.c
 *	  A cache of where the rows of tasks are.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/memo.h"
#include "task/task_place.h"
#include "task/task_row.h"

/* When the cache is full, it is emptied. */
#define MOST_PLACES		4096

/* Two tasks may share a hash, because the row shows which task it is. */
typedef struct TaskPlace
{
	uint64		hash;			/* key */
	ItemPointerData place;
} TaskPlace;

static HTAB *places = NULL;

static TaskPlace *
task_place_entry(Slice task_id, HASHACTION action)
{
	uint64		hash = slice_hash(task_id);

	places = memo_table(places, "clutch places of tasks", sizeof(TaskPlace), MOST_PLACES);
	return hash_search(places, &hash, action, NULL);
}

void
task_place_note(Slice task_id, ItemPointerData place)
{
	task_place_entry(task_id, HASH_ENTER)->place = place;
}

bool
task_place_find(RowScan *scan, Slice task_id)
{
	const TaskPlace *known = task_place_entry(task_id, HASH_FIND);

	if (known != NULL && rows_fetch(scan, known->place, Anum_task_task_id, task_id))
		return true;
	rows_key_text(scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(scan);
	if (!rows_next(scan))
		return false;
	task_place_note(task_id, scan->place);
	return true;
}
