/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  A cache of the live tasks while the log is being read again.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "base/hash64.h"
#include "base/rows.h"
#include "flow/replay.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/* a cached task */
typedef struct ReplayEntry
{
	dlist_node	age;			/* link in "by_age" */
	struct ReplayEntry *next;	/* next entry with the same hash */
	uint64		hash;
	Task	   *task;
} ReplayEntry;

typedef struct ReplayBucket
{
	uint64		hash;			/* key: hash of the task_id */
	ReplayEntry *first;
} ReplayBucket;

static MemoryContext replay_context = NULL;
static HTAB *buckets = NULL;
static dlist_head by_age;		/* oldest entry first */
static int64 nkept = 0;
static int64 nwritten = 0;
static bool is_guarded = false; /* others may request tasks meanwhile */

void
replay_begin(bool others_request)
{
	replay_context = AllocSetContextCreate(CurrentMemoryContext, "clutch replay",
										   ALLOCSET_DEFAULT_SIZES);
	buckets = hash64_create("clutch replay", sizeof(ReplayBucket), REPLAY_MOST, replay_context);
	dlist_init(&by_age);
	nkept = nwritten = 0;
	is_guarded = others_request;
}

/* ------------------------------------------------------------------ copies */

/* All slices of a task, so that they can be copied and freed uniformly. */
#define NUM_TASK_SLICES		11

static void
replay_list_slices(Task *task, Slice **slices)
{
	Slice	   *all[NUM_TASK_SLICES] = {
		&task->task_id, &task->run_id, &task->thread_id, &task->parent_task_id,
		&task->scope, &task->agent_id, &task->from_agent, &task->domain,
		&task->payload_type, &task->code, &task->detail
	};

	memcpy(slices, all, sizeof(all));
}

static Size
replay_list_size(const SliceList *list)
{
	Size		size = sizeof(Slice) * list->n;
	int			i;

	for (i = 0; i < list->n; i++)
		size += list->items[i].len;
	return size;
}

static void
replay_slice_move(Slice *slice, char **at)
{
	if (!slice_present(*slice))
		return;
	memcpy(*at, slice->s, slice->len);
	slice->s = *at;
	*at += slice->len;
}

static void
replay_list_move(SliceList *list, Slice *items, char **at)
{
	int			i;

	for (i = 0; i < list->n; i++)
	{
		items[i] = list->items[i];
		replay_slice_move(&items[i], at);
	}
	list->items = items;
}

/* Returns a copy in one piece of memory, to be freed by pfree. */
static Task *
replay_task_copy(Task *task)
{
	Slice	   *slices[NUM_TASK_SLICES];
	Size		size = sizeof(Task) + replay_list_size(&task->requires) + replay_list_size(&task->past_agents);
	Slice	   *items;
	Task	   *copy;
	char	   *at;
	int			i;

	replay_list_slices(task, slices);
	for (i = 0; i < NUM_TASK_SLICES; i++)
		size += slices[i]->len;
	copy = MemoryContextAlloc(replay_context, size);
	*copy = *task;
	copy->trace = NULL;			/* a rebuild sends nothing */
	copy->request = NULL;		/* nor does the copy have what others store
								 * beside it */
	copy->read = NULL;
	items = (Slice *) (copy + 1);
	at = (char *) (items + task->requires.n + task->past_agents.n);
	replay_list_slices(copy, slices);
	for (i = 0; i < NUM_TASK_SLICES; i++)
		replay_slice_move(slices[i], &at);
	replay_list_move(&copy->requires, items, &at);
	replay_list_move(&copy->past_agents, items + task->requires.n, &at);
	return copy;
}

/* ----------------------------------------------------------------- keeping */

static void
replay_task_write(Task *task)
{
	if (ItemPointerIsValid(&task->tid))
		task_save(task);
	else
	{
		if (!is_guarded)
			task_insert(task);
		else if (!task_insert_guarded(task))
			ereport(ERROR,
					(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
					 errproblem("lines", "TASK_IN_OTHER_RUN"),
					 errmsg("task \"%.*s\" has been requested here during the import", task->task_id.len, task->task_id.s),
					 errhint("Task IDs are unique in a database: import the run when the other one has been pruned, or into another database.")));
		nwritten++;
	}
}

static ReplayEntry *
replay_entry_find(Slice task_id)
{
	uint64		hash = crypto_name_hash(task_id);
	ReplayBucket *bucket = hash_search(buckets, &hash, HASH_FIND, NULL);
	ReplayEntry *entry = bucket != NULL ? bucket->first : NULL;

	while (entry != NULL && !slice_equal(entry->task->task_id, task_id))
		entry = entry->next;
	return entry;
}

static ReplayEntry *
replay_entry_add(Task *task)
{
	ReplayEntry *entry = MemoryContextAllocZero(replay_context, sizeof(ReplayEntry));
	ReplayBucket *bucket;
	bool		found;

	entry->hash = crypto_name_hash(task->task_id);
	entry->task = replay_task_copy(task);
	bucket = hash_search(buckets, &entry->hash, HASH_ENTER, &found);
	entry->next = found ? bucket->first : NULL;
	bucket->first = entry;
	dlist_push_tail(&by_age, &entry->age);
	nkept++;
	return entry;
}

static void
replay_entry_remove(ReplayEntry *entry)
{
	ReplayBucket *bucket = hash_search(buckets, &entry->hash, HASH_FIND, NULL);
	ReplayEntry **link = &bucket->first;

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	if (bucket->first == NULL)
		(void) hash_search(buckets, &entry->hash, HASH_REMOVE, NULL);
	dlist_delete(&entry->age);
	pfree(entry->task);
	pfree(entry);
	nkept--;
}

/* Evicts entries until only so many are left.  arg points to that number. */
static void
replay_evict_oldest(void *arg)
{
	const int64 *most = arg;

	while (nkept > *most)
	{
		ReplayEntry *entry = dlist_head_element(ReplayEntry, age, &by_age);

		CHECK_FOR_INTERRUPTS();
		replay_task_write(entry->task);
		replay_entry_remove(entry);
	}
}

static void
replay_evict(int64 most)
{
	rows_batch(replay_evict_oldest, &most);
}

Task *
replay_find(Slice task_id)
{
	ReplayEntry *entry = replay_entry_find(task_id);

	return entry != NULL ? entry->task : task_look(task_id, ROWS_LATEST);
}

/* Tasks that are over are written before all others. */
void
replay_keep(Task *task)
{
	ReplayEntry *entry = replay_entry_find(task->task_id);
	Task	   *before;

	if (entry != NULL)
	{
		/*
		 * make the copy first, because the task may be the very one that is
		 * cached
		 */
		before = entry->task;
		entry->task = replay_task_copy(task);
		pfree(before);
	}
	else
		entry = replay_entry_add(task);
	if (task_status_is_over(entry->task->status))
		dlist_move_head(&by_age, &entry->age);
	if (nkept > REPLAY_MOST)
		replay_evict(REPLAY_MOST - REPLAY_BATCH);
}

int64
replay_end(void)
{
	replay_evict(0);
	MemoryContextDelete(replay_context);
	buckets = NULL;
	return nwritten;
}
