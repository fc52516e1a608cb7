/*-------------------------------------------------------------------------
 *
 * spending.c
 *	  What the tasks of a run have cost: the ledger of meta.clutch.usage.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "store/spending.h"

/* columns of clutch.spending */
enum
{
	Anum_run_id = 1,
	Anum_seq,
	Anum_task_id,
	Anum_agent_id,
	Anum_tokens,
	Anum_cost,
	Natts_spending = Anum_cost
};

void
spending_charge(const Envelope *report, int64 seq)
{
	const Amount *usage = &report->orders.usage;
	Datum		values[Natts_spending];
	bool		nulls[Natts_spending] = {0};

	if (!report->orders.has_usage ||
		(report->type != MSG_TASK_PROGRESS && report->type != MSG_TASK_RESULT &&
		 report->type != MSG_TASK_ERROR))
		return;
	column_put_text(values, nulls, Anum_run_id, report->run_id);
	values[Anum_seq - 1] = Int64GetDatum(seq);
	column_put_text(values, nulls, Anum_task_id, report->task_id);
	column_put_text(values, nulls, Anum_agent_id, report->from_agent);
	values[Anum_tokens - 1] = Int64GetDatum(usage->tokens);
	values[Anum_cost - 1] = NumericGetDatum(usage->cost != NULL ? usage->cost : int64_to_numeric(0));
	(void) rows_insert(TABLE_SPENDING, values, nulls);
}

static void
add(AgentSpending **agents, int *n, int *room, Slice agent_id, const Amount *amount)
{
	int			i;

	for (i = 0; i < *n && !slice_equal((*agents)[i].agent_id, agent_id); i++)
		;
	if (i == *room)
		*agents = repalloc(*agents, sizeof(AgentSpending) * (*room *= 2));
	if (i < *n)
		(*agents)[i].amount = amount_sum(&(*agents)[i].amount, amount);
	else
		(*agents)[(*n)++] = (AgentSpending) {slice_copy(agent_id), amount_copy(*amount)};
}

int
spending_read(Slice run_id, AgentSpending **agents)
{
	int			room = 8;
	int			n = 0;
	RowScan		scan;

	*agents = palloc(sizeof(AgentSpending) * room);
	rows_begin(&scan, TABLE_SPENDING, INDEX_SPENDING, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		bool		isnull;
		Amount		amount = {rows_int8(&scan, Anum_tokens),
		DatumGetNumeric(rows_datum(&scan, Anum_cost, &isnull))};

		CHECK_FOR_INTERRUPTS();
		add(agents, &n, &room, rows_text(&scan, Anum_agent_id), &amount);
	}
	rows_end(&scan);
	return n;
}
