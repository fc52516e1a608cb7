/*-------------------------------------------------------------------------
 *
 * waiting_fitting.c
 *	  A cache of the kinds of clutch.waiting that each agent fits.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "base/hash64.h"
#include "queue/queue.h"
#include "queue/waiting_fitting.h"
#include "queue/waiting_kind.h"
#include "routing/anchor.h"
#include "routing/router.h"
#include "routing/rule.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* what reading the requirement of a kind costs, in rows passed over */
#define READING_COSTS	20

/*
 * A look at all kinds only drops those that have no rows any more, so it is put
 * off so many times as long as one for new kinds, unless these have become as
 * many as the others, and a few.
 */
#define LOOK_AT_ALL		10
#define FEW_NEW			16

/* beyond either of these limits, the lists of all agents are discarded */
#define MAX_AGENTS			10000
#define MAX_FITTING_BYTES	(4 * 1024 * 1024)

static HTAB *fitting = NULL;
static MemoryContext fitting_context = NULL;

typedef struct FittingVisit
{
	Slice		agent_id;
	FittingKinds *list;
	int64		readings;
} FittingVisit;

static void
waiting_fitting_add(FittingKinds *list, int64 kind, bool fits)
{
	if (list->n == list->room)
	{
		list->room = Max(16, list->room * 2);
		list->kinds = list->kinds == NULL ?
			MemoryContextAlloc(fitting_context, sizeof(SeenKind) * list->room) :
			repalloc_huge(list->kinds, sizeof(SeenKind) * list->room);
	}
	list->kinds[list->n++] = (SeenKind) {kind, fits};
}

static WaitingKindVisited
waiting_fitting_note(int64 kind, Slice task_id, void *arg)
{
	FittingVisit *visit = arg;
	bool		was_read;
	WaitingKind *entry = waiting_kind_get(kind, task_id, &was_read);

	visit->readings += was_read;
	if (entry == NULL)
		return KIND_TASK_GONE;
	waiting_fitting_add(visit->list, kind,
						entry->is_old || (!slice_equal(entry->holder, visit->agent_id) &&
										  router_fits(&entry->requirement, visit->agent_id)));
	return KIND_VISITED;
}

/*
 * Makes the list of the kinds from first to last; those that were seen before,
 * of which there are n, are taken over without a look at their rows.  Returns
 * how many of them were in the range, and adds the cost.
 */
static int
waiting_fitting_look_between(FittingVisit *visit, int64 first, int64 last, const SeenKind *before, int n, int64 *passed)
{
	int			i;

	for (i = 0; i < n && before[i].kind >= first && before[i].kind <= last; i++)
	{
		int64		kind = before[i].kind;

		if (kind > first)
			*passed += 1 + waiting_kind_visit(first, kind - 1, waiting_fitting_note, visit);
		waiting_fitting_add(visit->list, kind, before[i].fits);
		if (kind == last)
			return i + 1;
		first = kind + 1;
	}
	*passed += waiting_kind_visit(first, last, waiting_fitting_note, visit);
	return i;
}

/* Makes the list again, from the kinds that were seen before and new ones. */
static int64
waiting_fitting_look(FittingKinds *list, Slice agent_id, const SeenKind *before, int n_before)
{
	FittingVisit visit = {agent_id, list, 0};
	Roster	   *roster = roster_get();
	int			ordinal = roster_find(roster, agent_id);
	int64		passed = 0;
	uint64	   *anchors;
	int			n;
	int			i;

	list->n = 0;
	n = ordinal < 0 ? 0 : requirement_anchors_of_agent(roster, ordinal, &anchors);
	for (i = 0; i < n; i++)
	{
		int64		first;
		int64		last;
		int			taken;

		waiting_kind_range(anchors[i], &first, &last);
		taken = waiting_fitting_look_between(&visit, first, last, before, n_before, &passed);
		before += taken;
		n_before -= taken;
	}
	return passed + visit.readings * READING_COSTS;
}

static void
waiting_fitting_look_at_all(FittingKinds *list, Slice agent_id)
{
	list->registry = roster_changes();
	list->rules = rule_changes();
	list->table = rows_table_oid(TABLE_WAITING);
	list->looked_at = DT_NOBEGIN;	/* if there is an error meanwhile */
	list->passed = 0;
	list->passed = waiting_fitting_look(list, agent_id, NULL, 0);
	list->n_looked_at = list->n;
	list->looked_at = list->added_at = GetCurrentTimestamp();
	list->added_passed = 0;
}

static void
waiting_fitting_look_for_new(FittingKinds *list, Slice agent_id)
{
	int			n = list->n;
	SeenKind   *before = palloc(sizeof(SeenKind) * n);

	if (n > 0)
		memcpy(before, list->kinds, sizeof(SeenKind) * n);
	list->table = InvalidOid;	/* if there is an error meanwhile */
	list->added_passed = waiting_fitting_look(list, agent_id, before, n);
	list->added_at = GetCurrentTimestamp();
	list->table = rows_table_oid(TABLE_WAITING);
	pfree(before);
}

static void
waiting_fitting_provide(void)
{
	if (fitting != NULL && hash_get_num_entries(fitting) < MAX_AGENTS &&
		MemoryContextMemAllocated(fitting_context, true) < MAX_FITTING_BYTES)
		return;
	fitting = NULL;
	if (fitting_context == NULL)
		fitting_context = AllocSetContextCreate(TopMemoryContext, "clutch fitting kinds",
												ALLOCSET_DEFAULT_SIZES);
	else
		MemoryContextReset(fitting_context);
	fitting = hash64_create("clutch fitting kinds", sizeof(FittingKinds), 64, fitting_context);
}

FittingKinds *
waiting_fitting_get(Slice agent_id, int factor)
{
	uint64		key = crypto_name_hash(agent_id);
	FittingKinds *list;
	bool		known;

	waiting_fitting_provide();
	list = hash_search(fitting, &key, HASH_ENTER, &known);
	if (!known)
	{
		list->n = list->room = 0;
		list->kinds = NULL;
		list->table = InvalidOid;
	}
	(void) roster_get();
	if (list->table != rows_table_oid(TABLE_WAITING) || list->registry != roster_changes() ||
		list->rules != rule_changes() ||
		list->n > list->n_looked_at * 2 + FEW_NEW ||
		queue_worth_looking(list->passed, list->looked_at, factor * LOOK_AT_ALL))
		waiting_fitting_look_at_all(list, agent_id);
	else if (queue_worth_looking(list->added_passed, list->added_at, factor))
		waiting_fitting_look_for_new(list, agent_id);
	return list;
}

int64 *
waiting_fitting_copy(const FittingKinds *list, int *n)
{
	int64	   *kinds = palloc(sizeof(int64) * list->n);
	int			i;

	*n = 0;
	for (i = 0; i < list->n; i++)
		if (list->kinds[i].fits)
			kinds[(*n)++] = list->kinds[i].kind;
	return kinds;
}
