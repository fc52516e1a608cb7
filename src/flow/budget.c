/*-------------------------------------------------------------------------
 *
 * budget.c
 *	  Budgets of runs.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "access/xact.h"
#include "base/guard.h"
#include "base/memo.h"
#include "base/rows.h"
#include "base/stale.h"
#include "base/wait.h"
#include "flow/budget.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "storage/procarray.h"
#include "store/epoch.h"
#include "store/spending.h"
#include "utils/snapmgr.h"

/* columns of clutch.budget */
enum
{
	Anum_budget_run_id = 1,
	Anum_budget_seq,
	Anum_budget_tokens,
	Anum_budget_cost,
	Anum_budget_tasks,
	Anum_budget_depth,
	Natts_budget = Anum_budget_depth
};

ROWS_CHECK_COLUMNS(Natts_budget, BUDGET);

/*
 * Finds the budget of a run.  Returns false if it has none.  *creator is set
 * to an open transaction that is setting it.
 */
static bool
budget_find(Slice run_id, RowSnapshot which, Budget *budget, TransactionId *creator)
{
	Datum		v[Natts_budget];
	bool		n[Natts_budget];
	RowScan		scan;

	memset(budget, 0, sizeof(*budget));
	*creator = InvalidTransactionId;
	rows_begin(&scan, TABLE_BUDGET, INDEX_BUDGET, which, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	budget->is_set = rows_next(&scan);
	if (budget->is_set)
	{
		rows_keep(&scan, v, n);
		*creator = rows_in_doubt(&scan);
		budget->seq = DatumGetInt64(v[Anum_budget_seq - 1]);
		budget->amount.tokens = n[Anum_budget_tokens - 1] ? -1 : DatumGetInt64(v[Anum_budget_tokens - 1]);
		budget->amount.cost = n[Anum_budget_cost - 1] ? NULL : DatumGetNumeric(v[Anum_budget_cost - 1]);
		budget->tasks = n[Anum_budget_tasks - 1] ? -1 : DatumGetInt64(v[Anum_budget_tasks - 1]);
		budget->depth = n[Anum_budget_depth - 1] ? -1 : DatumGetInt64(v[Anum_budget_depth - 1]);
	}
	rows_end(&scan);
	return budget->is_set;
}

static bool
budget_is_same(const Budget *a, const Budget *b)
{
	Amount		cost_a = {0, a->amount.cost};
	Amount		cost_b = {0, b->amount.cost};
	Amount		limit_a = {-1, a->amount.cost};
	Amount		limit_b = {-1, b->amount.cost};

	return a->amount.tokens == b->amount.tokens && a->tasks == b->tasks &&
		a->depth == b->depth && (a->amount.cost == NULL) == (b->amount.cost == NULL) &&
		(a->amount.cost == NULL ||
		 (amount_reaches(&cost_a, &limit_b) && amount_reaches(&cost_b, &limit_a)));
}

static void
budget_insert(Slice run_id, int64 seq, const Budget *budget)
{
	Datum		values[Natts_budget];
	bool		nulls[Natts_budget];

	values[Anum_budget_run_id - 1] = PointerGetDatum(slice_to_text(run_id));
	values[Anum_budget_seq - 1] = Int64GetDatum(seq);
	values[Anum_budget_tokens - 1] = Int64GetDatum(budget->amount.tokens);
	values[Anum_budget_cost - 1] = NumericGetDatum(budget->amount.cost);
	values[Anum_budget_tasks - 1] = Int64GetDatum(budget->tasks);
	values[Anum_budget_depth - 1] = Int64GetDatum(budget->depth);
	nulls[Anum_budget_run_id - 1] = nulls[Anum_budget_seq - 1] = false;
	nulls[Anum_budget_tokens - 1] = budget->amount.tokens < 0;
	nulls[Anum_budget_cost - 1] = budget->amount.cost == NULL;
	nulls[Anum_budget_tasks - 1] = budget->tasks < 0;
	nulls[Anum_budget_depth - 1] = budget->depth < 0;
	(void) rows_insert(TABLE_BUDGET, values, nulls);
}

void
budget_set(const Envelope *request, int64 seq)
{
	const Budget *wanted = &request->orders.budget;
	TransactionId creator;
	Budget		budget;
	uint64		guard;

	if (!wanted->is_set)
		return;
	guard = guard_key(GUARD_BUDGET, request->run_id, SLICE_NONE, 0);
	for (;;)
	{
		guard_take(guard);
		if (!budget_find(request->run_id, ROWS_DIRTY, &budget, &creator))
			budget_insert(request->run_id, seq, wanted);
		guard_release(guard);
		if (!budget.is_set)
			return;
		if (!TransactionIdIsValid(creator))
			break;
		wait_for_transaction(creator);
	}
	if (!budget_is_same(wanted, &budget))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/meta/clutch/budget", "BUDGET_EXISTS"),
				 errmsg("run \"%.*s\" has another budget already",
						request->run_id.len, request->run_id.s),
				 errhint("Leave the budget out, repeat the run's, or begin a new run.")));
}

/* ---------------------------------------------------------------- judging */

static Amount
budget_spent_in(Slice run_id)
{
	Amount		spent = {0, NULL};
	AgentSpending *agents;
	int			n = spending_read(run_id, &agents);
	int			i;

	for (i = 0; i < n; i++)
		spent = amount_sum(&spent, &agents[i].amount);
	return spent;
}

/* number of ancestors that are looked at, because a claim does so for each task that it tries */
#define MOST_ANCESTORS	200

/*
 * Returns the depth of a task, but not more than the limit and one.  A task
 * that was requested before one of its ancestors does not know it, so they are
 * counted.  One that has not been requested yet counts as a root.
 */
static int64
budget_depth_of(const Task *task, int64 limit)
{
	int64		steps = 0;

	while (task != NULL && task->depth < 0 && steps <= Min(limit, MOST_ANCESTORS))
	{
		CHECK_FOR_INTERRUPTS();
		task = task_look(task->parent_task_id, ROWS_LATEST);
		steps++;
	}
	return task != NULL && task->depth > 0 ? steps + task->depth : steps;
}

/* --------------------------------------------------------- counting tasks */

/*
 * What this backend has counted of the tasks of a run.  n of them were
 * requested by the events up to seq, and that number does not change any more.
 * All other transactions before over_xid are over.
 *
 * Those that were requested by the events up to next_seq will not change either,
 * as soon as all other transactions before next_xid are over.  Their events
 * follow those up to seq, unless next_seq is lower.
 */
typedef struct BudgetCount
{
	uint64		budget;			/* key: seq of the request that has set the budget */
	int64		n;
	int64		seq;
	uint64		over_xid;
	int64		next_seq;
	uint64		next_xid;
} BudgetCount;

#define MOST_COUNTS		1024

/*
 * Are all other transactions before xid over?  It is known of those before
 * over_xid.  A snapshot does not list those from its xmax on.
 */
static bool
budget_others_are_over(uint64 over_xid, uint64 xid)
{
	Snapshot	snapshot = GetLatestSnapshot();
	uint64		unlisted = Max(over_xid, epoch_full_xid(snapshot->xmax));
	int			i;

	for (i = 0; i < (int) snapshot->xcnt; i++)
		if (epoch_full_xid(snapshot->xip[i]) < xid)
			return false;
	for (; unlisted < xid; unlisted++)
		if (!TransactionIdIsCurrentTransactionId((TransactionId) unlisted) &&
			TransactionIdIsInProgress((TransactionId) unlisted))
			return false;
	return true;
}

/*
 * What our own transaction has requested counts as well.  If that is rolled back,
 * or the table is rebuilt, everything is counted again.
 */
static BudgetCount *
budget_count_of(int64 seq)
{
	static Memo memo = {0};
	uint64		key = (uint64) seq;
	BudgetCount *count;
	HTAB	   *table;
	bool		found;

	table = memo_current(&memo, "clutch counts of tasks", sizeof(BudgetCount), MOST_COUNTS,
						 stale_count(STALE_TASKS));
	stale_if_rolled_back(STALE_TASKS);
	count = hash_search(table, &key, HASH_ENTER, &found);
	if (!found)
		*count = (BudgetCount) {.budget = key};
	return count;
}

/*
 * Is the task among as many as the budget allows, in the order of their
 * requests?  Reads only tasks that were requested since the oldest other
 * transaction has begun, or that this backend has not counted yet.
 *
 * No more are counted than the budget allows, so whatever was requested up to
 * the last one that is counted is among them.
 */
static bool
budget_allows_task(const Budget *budget, const Task *task)
{
	BudgetCount *count = budget_count_of(budget->seq);
	int64		last;

	if (task->request_seq <= count->seq)
		return true;
	if (count->next_seq > count->seq && budget_others_are_over(count->over_xid, count->next_xid))
	{
		count->n += task_count_requested(task->run_id, count->seq, count->next_seq,
										 budget->tasks - count->n, ROWS_LATEST, &count->seq);
		count->over_xid = count->next_xid;
		count->next_seq = 0;
	}
	if (count->next_seq <= count->seq)
	{
		count->next_seq = task->request_seq;
		count->next_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	}
	return count->n + task_count_requested(task->run_id, count->seq, task->request_seq,
										   budget->tasks - count->n + 1, ROWS_LATEST, &last) <= budget->tasks;
}

char *
budget_exceeded(const Task *task, bool *by_run)
{
	TransactionId creator;
	Budget		budget;
	Amount		spent;
	int64		depth;

	if (by_run != NULL)
		*by_run = false;
	if (!budget_find(task->run_id, ROWS_LATEST, &budget, &creator))
		return NULL;
	depth = budget.depth < 0 ? -1 : budget_depth_of(task, budget.depth);
	if (depth > budget.depth)
		return psprintf("depth " INT64_FORMAT " of " INT64_FORMAT, depth, budget.depth);
	if (budget.tasks >= 0 && !budget_allows_task(&budget, task))
		return psprintf("more than " INT64_FORMAT " tasks", budget.tasks);
	if (!amount_is_limit(&budget.amount))
		return NULL;
	spent = budget_spent_in(task->run_id);
	if (!amount_reaches(&spent, &budget.amount))
		return NULL;
	if (by_run != NULL)
		*by_run = true;
	return amount_words(&spent, &budget.amount);
}

void
budget_forget(Slice run_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_BUDGET, INDEX_BUDGET, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	(void) rows_delete_first(&scan);
}
