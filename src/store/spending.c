/*-------------------------------------------------------------------------
 *
 * spending.c
 *	  Spending of agents in each run.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/column.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "store/spending.h"
#include "store/spending_total.h"

/* columns of clutch.spending */
enum
{
	Anum_spending_run_id = 1,
	Anum_spending_agent_id,
	Anum_spending_day,
	Anum_spending_seq,
	Anum_spending_tokens,
	Anum_spending_cost,
	Natts_spending = Anum_spending_cost
};

ROWS_CHECK_COLUMNS(Natts_spending, SPENDING);

static Amount
spending_amount(const RowScan *scan)
{
	bool		isnull;

	return (Amount) {
		.tokens = rows_int8(scan, Anum_spending_tokens),
		.cost = DatumGetNumeric(rows_datum(scan, Anum_spending_cost, &isnull))
	};
}

/*
 * The number of rows, and of dead rows, that a report looks at.  There are
 * more than a few only while many transactions report for the same agent and
 * run, or while an old snapshot keeps dead rows; in that case some rows are
 * left to later reports.
 */
#define MOST_FOLDED	32

/* Returns the day of a time, in UTC. */
static DateADT
spending_day_of(TimestampTz at)
{
	return (DateADT) (at >= 0 ? at / USECS_PER_DAY : -((-at + USECS_PER_DAY - 1) / USECS_PER_DAY));
}

/*
 * Deletes the rows of the run, agent and day that no other transaction holds,
 * and returns their sum.  The last row comes first, because it is seldom a
 * dead one.
 */
static Amount
spending_take_up_rows(Slice run_id, Slice agent_id, DateADT day)
{
	ItemPointerData tids[MOST_FOLDED];
	Amount		amounts[MOST_FOLDED];
	Amount		sum = {0, int64_to_numeric(0)};
	int			n = 0;
	int			i;
	RowScan		scan;

	rows_begin(&scan, TABLE_SPENDING, INDEX_SPENDING, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, agent_id);
	rows_key_date(&scan, 3, BTEqualStrategyNumber, day);
	scan.most_dead = MOST_FOLDED;
	rows_start(&scan);
	while (n < MOST_FOLDED && rows_previous(&scan))
	{
		tids[n] = rows_tid(&scan);
		amounts[n++] = amount_copy(spending_amount(&scan));
	}
	rows_end(&scan);
	for (i = 0; i < n; i++)
		if (rows_delete_if_free(TABLE_SPENDING, &tids[i]))
			sum = amount_sum(&sum, &amounts[i]);
	return sum;
}

void
spending_charge(const Envelope *report, int64 seq, TimestampTz at)
{
	Datum		values[Natts_spending];
	bool		nulls[Natts_spending] = {0};
	DateADT		day = spending_day_of(at);
	Amount		sum;

	if (!report->orders.has_usage ||
		(report->type != MSG_TASK_PROGRESS && report->type != MSG_TASK_RESULT &&
		 report->type != MSG_TASK_ERROR))
		return;
	sum = spending_take_up_rows(report->run_id, report->from_agent, day);
	sum = amount_sum(&sum, &report->orders.usage);
	column_put_text(values, nulls, Anum_spending_run_id, report->run_id);
	column_put_text(values, nulls, Anum_spending_agent_id, report->from_agent);
	values[Anum_spending_day - 1] = DateADTGetDatum(day);
	values[Anum_spending_seq - 1] = Int64GetDatum(seq);
	values[Anum_spending_tokens - 1] = Int64GetDatum(sum.tokens);
	values[Anum_spending_cost - 1] = NumericGetDatum(sum.cost);
	(void) rows_insert(TABLE_SPENDING, values, nulls);
}

/* Adds an amount.  The rows come in the order of the agents. */
static void
spending_add_to_last(AgentSpending **agents, int *n, int *room, Slice agent_id, Amount amount)
{
	AgentSpending *last = *n > 0 ? &(*agents)[*n - 1] : NULL;

	if (last != NULL && slice_equal(last->agent_id, agent_id))
	{
		last->amount = amount_sum(&last->amount, &amount);
		return;
	}
	array_make_room(*agents, *n, *room);
	(*agents)[(*n)++] = (AgentSpending) {slice_copy(agent_id), amount_copy(amount)};
}

int
spending_read(Slice run_id, AgentSpending **agents)
{
	int			room = 0;
	int			n = 0;
	RowScan		scan;

	*agents = NULL;
	rows_begin(&scan, TABLE_SPENDING, INDEX_SPENDING, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		spending_add_to_last(agents, &n, &room, rows_text(&scan, Anum_spending_agent_id),
							 spending_amount(&scan));
	}
	rows_end(&scan);
	return n;
}

static DateADT
spending_day(const RowScan *scan)
{
	bool		isnull;

	return DatumGetDateADT(rows_datum(scan, Anum_spending_day, &isnull));
}

bool
spending_fold(Slice run_id)
{
	bool		is_free = true;
	RowScan		scan;

	rows_begin(&scan, TABLE_SPENDING, INDEX_SPENDING, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (is_free && rows_next(&scan))
	{
		ItemPointerData tid = rows_tid(&scan);

		CHECK_FOR_INTERRUPTS();
		spending_total_add(run_id, rows_text(&scan, Anum_spending_agent_id), spending_day(&scan),
						   spending_amount(&scan));
		is_free = rows_delete_if_free(TABLE_SPENDING, &tid);
	}
	rows_end(&scan);
	return is_free;
}

void
spending_unfold(Slice run_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_SPENDING, INDEX_SPENDING, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		spending_total_take(run_id, rows_text(&scan, Anum_spending_agent_id), spending_day(&scan),
							spending_amount(&scan));
	}
	rows_end(&scan);
}
