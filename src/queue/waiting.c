/*-------------------------------------------------------------------------
 *
 * waiting.c
 *	  What waits for an agent, indexed by what it requires.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "queue/queue.h"
#include "queue/waiting.h"
#include "routing/router.h"
#include "store/event.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* how many locked or stale heads one search passes over before it gives up */
#define MAX_PASSED_OVER		64

/*
 * Who frees a slot at this very moment does not see the task, nor does who
 * puts it here see the slot.  By then both should be over.
 */
#define SLOT_MISSED			USECS_PER_SEC

/*
 * What a kind requires, read once from the request of any task that waits
 * with it.  A kind is a digest of the requirement, so it never changes.
 */
typedef struct Kind
{
	int64		kind;			/* key */
	Requirement requirement;
	QueuePlace	place;
} Kind;

#define MAX_KINDS	16384

/* what reading a requirement costs, in rows passed over */
#define READING_COSTS	20

static HTAB *kinds = NULL;
static MemoryContext kinds_context = NULL;
static Oid	kinds_of = InvalidOid;	/* the table; a new one counts from 1 again */

void
waiting_put(Task *task, const Requirement *requirement)
{
	int64		kind = (int64) requirement_digest(requirement);

	if (task->queue_no != 0 && task->queue_kind == kind)
		return;
	waiting_remove(task);
	waiting_put_kind(task, kind);
}

void
waiting_put_kind(Task *task, int64 kind)
{
	Datum		values[Natts_queue];
	bool		nulls[Natts_queue] = {0};
	TimestampTz now = clock_now();

	task->queue_no = rows_nextval(SEQUENCE_QUEUE_NO);
	task->queue_kind = kind;
	values[Anum_queue_key - 1] = Int64GetDatum(task->queue_kind);
	values[Anum_queue_urgency - 1] = Int16GetDatum(task_urgency(task));
	values[Anum_queue_queue_no - 1] = Int64GetDatum(task->queue_no);
	values[Anum_queue_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	values[Anum_queue_since - 1] = TimestampTzGetDatum(now);
	(void) rows_insert(TABLE_WAITING, values, nulls);
	notify_due(now + SLOT_MISSED);
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

/* which kinds there were when this backend last looked at all */
static struct
{
	int			n;
	Kind	  **kinds;			/* in kinds_context; NULL: never looked */
	int64		passed;			/* what looking cost, in rows */
	TimestampTz looked_at;
}			present;

/* and which of them an agent fits, as long as neither they nor cards change */
typedef struct Fitting
{
	uint64		agent;			/* key: hash of agent_id */
	uint64		registry;		/* count of its changes */
	int			n;
	Kind	  **kinds;
} Fitting;

/* beyond it they are found anew: agents come and go, a backend may serve for long */
#define MOST_FITTING_BYTES	(4 * 1024 * 1024)

static HTAB *fitting = NULL;
static MemoryContext fitting_context = NULL;

static HTAB *
make_table(MemoryContext context, const char *name, Size keysize, Size entrysize)
{
	HASHCTL		control = {0};

	control.keysize = keysize;
	control.entrysize = entrysize;
	control.hcxt = context;
	return hash_create(name, 128, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void
fitting_begin(void)
{
	if (fitting_context != NULL)
		MemoryContextDelete(fitting_context);
	fitting = NULL;
	fitting_context = AllocSetContextCreate(kinds_context, "clutch fitting kinds",
											ALLOCSET_DEFAULT_SIZES);
	fitting = make_table(fitting_context, "clutch fitting kinds", sizeof(uint64), sizeof(Fitting));
}

static void
kinds_begin(void)
{
	memset(&present, 0, sizeof(present));
	fitting_context = NULL;
	if (kinds_context != NULL)
		MemoryContextDelete(kinds_context);
	kinds = NULL;
	kinds_context = AllocSetContextCreate(TopMemoryContext, "clutch kinds of waiting",
										  ALLOCSET_DEFAULT_SIZES);
	kinds = make_table(kinds_context, "clutch kinds of waiting", sizeof(int64), sizeof(Kind));
	kinds_of = rows_table_oid(TABLE_WAITING);
	fitting_begin();
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
	kept.run_id = SLICE_NONE;	/* tasks of several runs may wait in one kind */
	entry = hash_search(kinds, &kind, HASH_ENTER, NULL);
	entry->requirement = kept;
	memset(&entry->place, 0, sizeof(entry->place));
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
static Kind *
find_kind(int64 kind, Slice task_id)
{
	Kind	   *entry;
	MemoryContext scratch;
	MemoryContext old;

	entry = hash_search(kinds, &kind, HASH_FIND, NULL);
	if (entry != NULL)
		return entry;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch kind", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	present.passed += READING_COSTS;
	if (read_kind(kind, task_id))
		entry = hash_search(kinds, &kind, HASH_FIND, NULL);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return entry;
}

/* from one kind to the next, whatever stands in them; a List of Kind * */
static List *
list_kinds(void)
{
	List	   *found = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTGreaterEqualStrategyNumber, PG_INT64_MIN);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int64		kind = rows_int8(&scan, Anum_queue_key);
		Kind	   *entry = find_kind(kind, rows_text(&scan, Anum_queue_task_id));

		CHECK_FOR_INTERRUPTS();
		present.passed++;
		if (entry != NULL)
			found = lappend(found, entry);
		if (kind == PG_INT64_MAX)
			break;
		scan.nkeys = 0;
		rows_key_int8(&scan, 1, BTGreaterStrategyNumber, kind);
		rows_restart(&scan);
	}
	present.passed += scan.dead;
	rows_end(&scan);
	return found;
}

static bool
are_present(const List *found)
{
	const ListCell *cell;

	if (list_length(found) != present.n)
		return false;
	foreach(cell, found)
	{
		if (lfirst(cell) != present.kinds[foreach_current_index(cell)])
			return false;
	}
	return true;
}

/* factor: as of queue_worth_looking; 0: in any case; false: it was not worth it */
static bool
look_at_kinds(int factor)
{
	List	   *found;
	ListCell   *cell;
	Kind	  **now_present;

	if (kinds == NULL || hash_get_num_entries(kinds) >= MAX_KINDS ||
		kinds_of != rows_table_oid(TABLE_WAITING))
		kinds_begin();
	if (!queue_worth_looking(present.passed, present.looked_at, factor))
		return false;
	present.passed = 0;
	found = list_kinds();
	present.looked_at = GetCurrentTimestamp();
	if (are_present(found))
		return true;
	fitting_begin();
	now_present = MemoryContextAlloc(kinds_context, sizeof(Kind *) * Max(list_length(found), 1));
	if (present.kinds != NULL)
		pfree(present.kinds);
	present.kinds = now_present;
	present.n = 0;
	foreach(cell, found)
		present.kinds[present.n++] = lfirst(cell);
	return true;
}

/* those of the kinds present that the agent fits */
static Fitting *
fitting_kinds(Slice agent_id)
{
	uint64		key = slice_hash(agent_id);
	uint64		registry;
	Fitting    *entry;
	bool		known;
	Kind	  **fits;
	Kind	  **kept;
	int			n = 0;
	int			i;

	(void) roster_get();
	registry = roster_changes();
	entry = hash_search(fitting, &key, HASH_FIND, NULL);
	if (entry != NULL && entry->registry == registry)
		return entry;
	fits = palloc(sizeof(Kind *) * Max(present.n, 1));
	for (i = 0; i < present.n; i++)
		if (router_fits(&present.kinds[i]->requirement, agent_id))
			fits[n++] = present.kinds[i];
	if (MemoryContextMemAllocated(fitting_context, true) > MOST_FITTING_BYTES)
		fitting_begin();
	kept = MemoryContextAlloc(fitting_context, sizeof(Kind *) * Max(n, 1));
	memcpy(kept, fits, sizeof(Kind *) * n);
	pfree(fits);
	entry = hash_search(fitting, &key, HASH_ENTER, &known);
	if (known)
		pfree(entry->kinds);
	entry->registry = registry;
	entry->n = n;
	entry->kinds = kept;
	return entry;
}

void
waiting_forget_fitting(Slice agent_id)
{
	uint64		key = slice_hash(agent_id);

	(void) hash_search(fitting, &key, HASH_REMOVE, NULL);
}

bool
waiting_is_empty(void)
{
	(void) look_at_kinds(QUEUE_LOOK_IDLE);
	return present.n == 0;
}

/* ------------------------------------------------------------------- heads */

static Queue *
open_queues(Kind **of, int n, RowScan *scan)
{
	Queue	   *queues = palloc0(sizeof(Queue) * Max(n, 1));
	int			i;

	rows_begin(scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, RowExclusiveLock);
	for (i = 0; i < n; i++)
	{
		queues[i].scan = scan;
		queues[i].kind = of[i]->kind;
		queues[i].place = &of[i]->place;
		queue_open(&queues[i]);
	}
	return queues;
}

static void
close_queues(Queue *queues, int n, RowScan *scan)
{
	int			i;

	for (i = 0; i < n; i++)
		queue_close(&queues[i]);
	rows_end(scan);
}

/* locked, if it still waits in that place */
static Task *
lock_in_place(Slice task_id, int64 queue_no)
{
	Task	   *task = task_lock(task_id, false);

	if (task != NULL && task->status == TASK_PENDING && task->queue_no == queue_no)
		return task;
	return NULL;
}

static Task *
lock_entry(const QueueEntry *entry)
{
	return lock_in_place(entry->task_id, entry->queue_no);
}

Task *
waiting_again(const Task *before)
{
	return lock_in_place(before->task_id, before->queue_no);
}

/*
 * The first task of several kinds that can be had; NULL: none.  A task of a run
 * on which the agent may spend no more is passed over (agent_id absent: none is).
 */
static Task *
take_first(Kind **of, int n, Slice agent_id)
{
	Task	   *task = NULL;
	RowScan		scan;
	Queue	   *queues = open_queues(of, n, &scan);
	int			passed_over;

	for (passed_over = 0; task == NULL && passed_over < MAX_PASSED_OVER; passed_over++)
	{
		Queue	   *whose;
		QueueEntry *entry = queue_first_of(queues, n, &whose);

		if (entry == NULL)
			break;
		task = lock_entry(entry);
		if (task != NULL && slice_present(agent_id) &&
			!router_may_spend(agent_id, task->run_id))
			task = NULL;
		if (task == NULL)
			queue_pass(whose, entry);
	}
	close_queues(queues, n, &scan);
	return task;
}

static Task *
take_fitting(Slice agent_id)
{
	Fitting    *fits;

	if (present.n == 0)
		return NULL;
	fits = fitting_kinds(agent_id);
	return take_first(fits->kinds, fits->n, agent_id);
}

/*
 * A kind that came since the last look is not known yet.  While there is
 * work of the known ones it can wait for the next look.
 */
Task *
waiting_take(Slice agent_id)
{
	Task	   *task;

	(void) look_at_kinds(QUEUE_LOOK_KINDS);
	task = take_fitting(agent_id);
	if (task == NULL && look_at_kinds(QUEUE_LOOK_IDLE))
		task = take_fitting(agent_id);
	return task;
}

Task *
waiting_next(int64 kind)
{
	Kind	   *entry = kinds ? hash_search(kinds, &kind, HASH_FIND, NULL) : NULL;

	return entry ? take_first(&entry, 1, SLICE_NONE) : NULL;
}

List *
waiting_heads(int n)
{
	List	   *tasks = NIL;
	RowScan		scan;
	Queue	   *queues;
	int			left;

	(void) look_at_kinds(0);
	left = present.n;
	queues = open_queues(present.kinds, present.n, &scan);
	while (list_length(tasks) < n && left > 0)
	{
		Queue	   *whose;
		Queue		done;
		QueueEntry *entry = queue_first_of(queues, left, &whose);
		Task	   *task = entry ? lock_entry(entry) : NULL;

		if (entry == NULL)
			break;
		if (task != NULL)
			tasks = lappend(tasks, task);
		/* no other of this kind */
		done = *whose;
		*whose = queues[--left];
		queues[left] = done;
	}
	close_queues(queues, present.n, &scan);
	return tasks;
}
