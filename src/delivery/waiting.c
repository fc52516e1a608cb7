/*-------------------------------------------------------------------------
 *
 * waiting.c
 *	  What waits for an agent, indexed by what it requires.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/rows.h"
#include "delivery/waiting.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "routing/router.h"
#include "store/event.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/* columns of clutch.waiting */
enum
{
	Anum_kind = 1,
	Anum_urgency,
	Anum_queue_no,
	Anum_task_id,
	Natts_waiting = Anum_task_id
};

/* how many locked or stale heads one search passes over before it gives up */
#define MAX_PASSED_OVER		64

/*
 * What a kind requires, read once from the request of any task that waits
 * with it.  A kind is a digest of the requirement, so it never changes.
 */
typedef struct Kind
{
	int64		kind;			/* key */
	Requirement requirement;
} Kind;

#define MAX_KINDS	4096

static HTAB *kinds = NULL;
static MemoryContext kinds_context = NULL;

void
waiting_put(Task *task, const Requirement *requirement)
{
	Datum		values[Natts_waiting];
	bool		nulls[Natts_waiting] = {0};

	task->queue_no = rows_nextval(SEQUENCE_QUEUE_NO);
	task->queue_kind = (int64) requirement_digest(requirement);
	values[Anum_kind - 1] = Int64GetDatum(task->queue_kind);
	values[Anum_urgency - 1] = Int16GetDatum(task_urgency(task));
	values[Anum_queue_no - 1] = Int64GetDatum(task->queue_no);
	values[Anum_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	(void) rows_insert(TABLE_WAITING, values, nulls);
}

void
waiting_remove(Task *task)
{
	RowScan		scan;

	if (task->queue_no == 0)
		return;
	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_LATEST, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, task->queue_kind);
	rows_key_int2(&scan, 2, BTEqualStrategyNumber, task_urgency(task));
	rows_key_int8(&scan, 3, BTEqualStrategyNumber, task->queue_no);
	(void) rows_delete_first(&scan);
	task->queue_no = 0;
	task->queue_kind = 0;
}

/* ------------------------------------------------------------------- kinds */

static void
kinds_begin(void)
{
	HASHCTL		control = {0};

	if (kinds_context != NULL)
		MemoryContextDelete(kinds_context);
	kinds = NULL;
	kinds_context = AllocSetContextCreate(TopMemoryContext, "clutch kinds of waiting",
										  ALLOCSET_DEFAULT_SIZES);
	control.keysize = sizeof(int64);
	control.entrysize = sizeof(Kind);
	control.hcxt = kinds_context;
	kinds = hash_create("clutch kinds of waiting", 128, &control,
						HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static SliceList
kept_list(const SliceList *list)
{
	SliceList	kept = {list->n, palloc(sizeof(Slice) * Max(list->n, 1))};
	int			i;

	for (i = 0; i < list->n; i++)
		kept.items[i] = slice_copy(list->items[i]);
	return kept;
}

/* without the request, which may be a thousand times as large */
static void
keep_kind(int64 kind, const Requirement *requirement)
{
	MemoryContext old = MemoryContextSwitchTo(kinds_context);
	Requirement kept = *requirement;
	Kind	   *entry;

	kept.requires = kept_list(&requirement->requires);
	kept.prefers = kept_list(&requirement->prefers);
	kept.policy.tool_allowlist = kept_list(&requirement->policy.tool_allowlist);
	kept.named = kept_list(&requirement->named);
	kept.groups = kept_list(&requirement->groups);
	if (slice_present(requirement->scope))
		kept.scope = slice_copy(requirement->scope);
	if (slice_present(requirement->run_id))
		kept.run_id = slice_copy(requirement->run_id);
	entry = hash_search(kinds, &kind, HASH_ENTER, NULL);
	entry->requirement = kept;
	MemoryContextSwitchTo(old);
}

/* false: the task that should tell has gone meanwhile */
static bool
read_kind(int64 kind, Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);
	Jsonb	   *request = task ? event_read(task->request_seq, ROWS_LATEST) : NULL;
	Requirement requirement;
	Envelope	envelope;

	if (request == NULL)
		return false;
	envelope_read_admitted(request, &envelope, problem_list());
	requirement_of(&envelope, task->scope, &requirement);
	keep_kind(kind, &requirement);
	return true;
}

/* NULL: nobody can tell any more */
static const Requirement *
kind_requirement(int64 kind, Slice task_id)
{
	Kind	   *entry;
	MemoryContext scratch;
	MemoryContext old;
	bool		known;

	if (kinds == NULL || hash_get_num_entries(kinds) >= MAX_KINDS)
		kinds_begin();
	entry = hash_search(kinds, &kind, HASH_FIND, NULL);
	if (entry != NULL)
		return &entry->requirement;

	scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch kind", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	known = read_kind(kind, task_id);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	if (!known)
		return NULL;
	entry = hash_search(kinds, &kind, HASH_FIND, NULL);
	return &entry->requirement;
}

/* ------------------------------------------------------------------- heads */

typedef struct Head
{
	int64		kind;
	int16		urgency;
	int64		queue_no;
	Slice		task_id;
} Head;

/* the first row of the kind after (urgency, queue_no) that nobody is taking */
static bool
next_in_kind(Head *head)
{
	RowScan		scan;
	bool		found = false;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, head->kind);
	rows_key_int2(&scan, 2, BTGreaterEqualStrategyNumber, head->urgency);
	rows_start(&scan);
	while (!found && rows_next(&scan))
	{
		int16		urgency = rows_int2(&scan, Anum_urgency);
		int64		queue_no = rows_int8(&scan, Anum_queue_no);

		CHECK_FOR_INTERRUPTS();
		if (urgency == head->urgency && queue_no <= head->queue_no)
			continue;
		if (TransactionIdIsValid(rows_in_doubt(&scan)))
			continue;
		head->urgency = urgency;
		head->queue_no = queue_no;
		head->task_id = slice_copy(rows_text(&scan, Anum_task_id));
		found = true;
	}
	rows_end(&scan);
	return found;
}

bool
waiting_is_empty(void)
{
	RowScan		scan;
	bool		empty;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	empty = !rows_next(&scan);
	rows_end(&scan);
	return empty;
}

/* one Head for each kind that has a task nobody is taking */
static List *
list_heads(void)
{
	List	   *heads = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTGreaterEqualStrategyNumber, PG_INT64_MIN);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Head	   *head = palloc0(sizeof(Head));

		CHECK_FOR_INTERRUPTS();
		head->kind = rows_int8(&scan, Anum_kind);
		head->urgency = -1;
		if (next_in_kind(head))
			heads = lappend(heads, head);
		if (head->kind == PG_INT64_MAX)
			break;
		scan.nkeys = 0;
		rows_key_int8(&scan, 1, BTGreaterStrategyNumber, head->kind);
		rows_restart(&scan);
	}
	rows_end(&scan);
	return heads;
}

static int
compare_urgency(const ListCell *a, const ListCell *b)
{
	const Head *x = lfirst(a);
	const Head *y = lfirst(b);

	if (x->urgency != y->urgency)
		return x->urgency < y->urgency ? -1 : 1;
	return x->queue_no < y->queue_no ? -1 : x->queue_no > y->queue_no ? 1 : 0;
}

static Head *
most_urgent(List *heads)
{
	ListCell   *best = NULL;
	ListCell   *cell;

	foreach(cell, heads)
	{
		if (best == NULL || compare_urgency(cell, best) < 0)
			best = cell;
	}
	return best ? lfirst(best) : NULL;
}

/* the task of a head, locked, if it still waits in that place */
static Task *
lock_head(const Head *head)
{
	Task	   *task = task_lock(head->task_id, false);

	if (task != NULL && task->status == TASK_PENDING &&
		task->queue_no == head->queue_no)
		return task;
	return NULL;
}

Task *
waiting_take(Slice agent_id)
{
	List	   *fitting = NIL;
	ListCell   *cell;
	int			passed_over = 0;

	foreach(cell, list_heads())
	{
		Head	   *head = lfirst(cell);
		const Requirement *requirement = kind_requirement(head->kind, head->task_id);

		if (requirement != NULL && router_fits(requirement, agent_id))
			fitting = lappend(fitting, head);
	}
	while (fitting != NIL && passed_over++ < MAX_PASSED_OVER)
	{
		Head	   *head = most_urgent(fitting);
		Task	   *task = lock_head(head);

		if (task != NULL)
			return task;
		if (!next_in_kind(head))
			fitting = list_delete_ptr(fitting, head);
	}
	return NULL;
}

Task *
waiting_next(int64 kind)
{
	Head		head = {kind, -1};
	int			passed_over = 0;

	while (passed_over++ < MAX_PASSED_OVER && next_in_kind(&head))
	{
		Task	   *task = lock_head(&head);

		if (task != NULL)
			return task;
	}
	return NULL;
}

List *
waiting_heads(int n)
{
	List	   *heads = list_heads();
	List	   *tasks = NIL;
	ListCell   *cell;

	list_sort(heads, compare_urgency);
	foreach(cell, heads)
	{
		Task	   *task;

		if (list_length(tasks) >= n)
			break;
		task = lock_head(lfirst(cell));
		if (task != NULL)
			tasks = lappend(tasks, task);
	}
	return tasks;
}
