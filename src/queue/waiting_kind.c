/*-------------------------------------------------------------------------
 *
 * waiting_kind.c
 *	  A cache of the kinds of clutch.waiting.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/hash64.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "queue/queue.h"
#include "queue/waiting_kind.h"
#include "routing/anchor.h"
#include "routing/rule.h"
#include "store/event.h"
#include "task/task.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#define DIGEST_BITS		40
#define DIGEST_MASK		((UINT64CONST(1) << DIGEST_BITS) - 1)

/* number of kinds that are cached; one more replaces the oldest */
#define MAX_KINDS		4096

static HTAB *kinds = NULL;
static MemoryContext kinds_context = NULL;
static Oid	kinds_of = InvalidOid;	/* the table, because the extension may be
									 * created again */
static uint64 kinds_rules = 0;	/* number of changes of the rules */
static bool kinds_limited = false;	/* do cards limit delegation? */
static int64 turns[MAX_KINDS];	/* the kinds in the order in which they were
								 * added */
static int	next_turn = 0;

int64
waiting_kind_of(const Requirement *requirement)
{
	return waiting_kind_of_offered(requirement, SLICE_NONE);
}

int64
waiting_kind_of_offered(const Requirement *requirement, Slice holder)
{
	return (int64) (requirement_anchor(requirement) << DIGEST_BITS |
					(requirement_digest(requirement, holder) & DIGEST_MASK));
}

uint64
waiting_kind_anchor(int64 kind)
{
	return (uint64) kind >> DIGEST_BITS;
}

void
waiting_kind_range(uint64 anchor, int64 *first, int64 *last)
{
	*first = (int64) (anchor << DIGEST_BITS);
	*last = (int64) (anchor << DIGEST_BITS | DIGEST_MASK);
}

/* ------------------------------------------------------------- remembering */

static void
waiting_kind_begin(void)
{
	kinds = NULL;
	if (kinds_context == NULL)
		kinds_context = AllocSetContextCreate(TopMemoryContext, "clutch kinds of waiting",
											  ALLOCSET_DEFAULT_SIZES);
	else
		MemoryContextReset(kinds_context);
	kinds = hash64_create("clutch kinds of waiting", sizeof(WaitingKind), 128, kinds_context);
	kinds_of = rows_table_oid(TABLE_WAITING);
	kinds_rules = rule_changes();
	kinds_limited = roster_limits_delegation(roster_get());
	next_turn = 0;
}

static void
waiting_kind_list_free_kept(SliceList *list)
{
	int			i;

	for (i = 0; i < list->n; i++)
		pfree(unconstify(char *, list->items[i].s));
	pfree(list->items);
}

static void
waiting_kind_forget(int64 kind)
{
	WaitingKind *entry = hash_search(kinds, &kind, HASH_FIND, NULL);
	Requirement *kept;

	if (entry == NULL)
		return;
	kept = &entry->requirement;
	waiting_kind_list_free_kept(&kept->requires);
	waiting_kind_list_free_kept(&kept->prefers);
	waiting_kind_list_free_kept(&kept->policy.tool_allowlist);
	waiting_kind_list_free_kept(&kept->policy.egress_allowlist);
	waiting_kind_list_free_kept(&kept->named);
	waiting_kind_list_free_kept(&kept->groups);
	if (kept->rules != NULL)
		pfree(kept->rules);
	if (slice_present(kept->scope))
		pfree(unconstify(char *, kept->scope.s));
	pfree(unconstify(char *, kept->sender.s));
	if (slice_present(entry->holder))
		pfree(unconstify(char *, entry->holder.s));
	(void) hash_search(kinds, &kind, HASH_REMOVE, NULL);
}

/*
 * Caches the requirement without the request, which may be a thousand times as
 * large.  The run is left out, because tasks of many runs may be of the same
 * kind.
 */
static WaitingKind *
waiting_kind_remember(const WaitingKind *read)
{
	MemoryContext old = MemoryContextSwitchTo(kinds_context);
	WaitingKind copy = *read;
	Requirement *kept = &copy.requirement;
	WaitingKind *entry;

	if (hash_get_num_entries(kinds) >= MAX_KINDS)
		waiting_kind_forget(turns[next_turn]);
	kept->requires = slices_copy(kept->requires);
	kept->prefers = slices_copy(kept->prefers);
	kept->policy.tool_allowlist = slices_copy(kept->policy.tool_allowlist);
	kept->policy.egress_allowlist = slices_copy(kept->policy.egress_allowlist);
	kept->named = slices_copy(kept->named);
	kept->groups = slices_copy(kept->groups);
	kept->rules = requirement_copy_rules(kept);
	kept->scope = slice_copy(kept->scope);
	kept->sender = slice_copy(kept->sender);
	kept->run_id = SLICE_NONE;
	kept->added_to = SLICE_NONE;
	copy.holder = slice_copy(read->holder);
	entry = hash_search(kinds, &read->kind, HASH_ENTER, NULL);
	*entry = copy;
	turns[next_turn] = read->kind;
	next_turn = (next_turn + 1) % MAX_KINDS;
	MemoryContextSwitchTo(old);
	return entry;
}

/* ------------------------------------------------------------------- places */

void
waiting_kind_note_return(int64 kind, int urgency, int64 queue_no)
{
	WaitingKind *entry = waiting_kind_known(kind);

	if (entry == NULL)
		return;
	entry->place.from[urgency] = Min(entry->place.from[urgency], queue_no);
	if (entry->returned[urgency] == 0 || queue_no < entry->returned[urgency])
		entry->returned[urgency] = queue_no;
}

void
waiting_kind_note_place(WaitingKind *entry, const QueuePlace *place)
{
	int			urgency;

	entry->place = *place;
	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
		if (entry->returned[urgency] > 0)
			entry->place.from[urgency] = Min(entry->place.from[urgency], entry->returned[urgency]);
	memset(entry->returned, 0, sizeof(entry->returned));
}

/* ----------------------------------------------------------------- reading */

static WaitingKind *
waiting_kind_read(int64 kind, Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);
	bool		is_there = task != NULL && task->queue_kind == kind;
	Jsonb	   *request = is_there ? event_read(task->request_seq, ROWS_LATEST) : NULL;
	WaitingKind read = {kind};
	Envelope	envelope;

	if (request == NULL)
		return NULL;
	envelope_read_admitted(request, &envelope, problem_list());
	rule_requirement_of(&envelope, task->scope, &read.requirement);
	/* before 0.3.0, offered tasks shared the kind of pending ones */
	if (task_is_offered(task) && kind == waiting_kind_of_offered(&read.requirement, task->agent_id))
		read.holder = task->agent_id;
	else
		read.is_old = kind != waiting_kind_of(&read.requirement);
	return waiting_kind_remember(&read);
}

WaitingKind *
waiting_kind_known(int64 kind)
{
	if (kinds == NULL || kinds_of != rows_table_oid(TABLE_WAITING))
		waiting_kind_begin();
	return hash_search(kinds, &kind, HASH_FIND, NULL);
}

WaitingKind *
waiting_kind_get(int64 kind, Slice task_id, bool *was_read)
{
	WaitingKind *entry;
	MemoryContext scratch;
	MemoryContext old;

	if (kinds_rules != rule_changes() || kinds_limited != roster_limits_delegation(roster_get()))
		waiting_kind_begin();
	entry = waiting_kind_known(kind);
	*was_read = entry == NULL;
	if (entry != NULL)
		return entry;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch kind of waiting",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	entry = waiting_kind_read(kind, task_id);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return entry;
}

int64
waiting_kind_visit(int64 first, int64 last, WaitingKindVisit visit, void *arg)
{
	int64		passed = 0;
	int64		pages = queue_pages();
	RowScan		scan;
	bool		found;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTLessEqualStrategyNumber, last);
	rows_key_int8(&scan, 1, BTGreaterEqualStrategyNumber, first);
	rows_start(&scan);
	found = rows_next_value(&scan, Anum_queue_key);
	while (found)
	{
		int64		kind = rows_int8(&scan, Anum_queue_key);
		WaitingKindVisited visited = rows_is_being_inserted(&scan) ? KIND_TASK_GONE :
			visit(kind, rows_text(&scan, Anum_queue_task_id), arg);

		CHECK_FOR_INTERRUPTS();
		passed++;
		if (visited == KIND_TASK_GONE)
			found = rows_next(&scan);
		else
			found = visited == KIND_VISITED && kind < last &&
				rows_next_value(&scan, Anum_queue_key);
	}
	pages = queue_pages() - pages - (passed + 1) * QUEUE_DESCENT_PAGES;
	passed += Max(pages, 0) * QUEUE_PAGE_COSTS + scan.dead;
	rows_end(&scan);
	return passed;
}
