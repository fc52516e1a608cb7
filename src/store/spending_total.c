/*-------------------------------------------------------------------------
 *
 * spending_total.c
 *	  Spending in runs that have been pruned.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/rows.h"
#include "store/spending_total.h"

/* columns of clutch.spending_total */
enum
{
	Anum_spending_total_run_id = 1,
	Anum_spending_total_agent_id,
	Anum_spending_total_day,
	Anum_spending_total_tokens,
	Anum_spending_total_cost,
	Natts_spending_total = Anum_spending_total_cost
};

ROWS_CHECK_COLUMNS(Natts_spending_total, SPENDING_TOTAL);

/* Finds the row of a day.  Returns false if there is none. */
static bool
spending_total_find(Slice run_id, Slice agent_id, DateADT day, ItemPointerData *tid, Amount *amount)
{
	bool		found;
	RowScan		scan;

	rows_begin(&scan, TABLE_SPENDING_TOTAL, INDEX_SPENDING_TOTAL, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, agent_id);
	rows_key_date(&scan, 3, BTEqualStrategyNumber, day);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
	{
		bool		isnull;

		*tid = rows_tid(&scan);
		*amount = amount_copy((Amount) {
			rows_int8(&scan, Anum_spending_total_tokens),
			DatumGetNumeric(rows_datum(&scan, Anum_spending_total_cost, &isnull))
		});
	}
	rows_end(&scan);
	return found;
}

static void
spending_total_write(Slice run_id, Slice agent_id, DateADT day, Amount amount, ItemPointer tid)
{
	Datum		values[Natts_spending_total];
	bool		nulls[Natts_spending_total] = {0};

	column_put_text(values, nulls, Anum_spending_total_run_id, run_id);
	column_put_text(values, nulls, Anum_spending_total_agent_id, agent_id);
	values[Anum_spending_total_day - 1] = DateADTGetDatum(day);
	values[Anum_spending_total_tokens - 1] = Int64GetDatum(amount.tokens);
	values[Anum_spending_total_cost - 1] = NumericGetDatum(amount.cost);
	if (tid != NULL)
		rows_update(TABLE_SPENDING_TOTAL, tid, values, nulls);
	else
		(void) rows_insert(TABLE_SPENDING_TOTAL, values, nulls);
}

void
spending_total_add(Slice run_id, Slice agent_id, DateADT day, Amount amount)
{
	Amount		sum = {0, int64_to_numeric(0)};
	ItemPointerData tid;
	bool		found = spending_total_find(run_id, agent_id, day, &tid, &sum);

	spending_total_write(run_id, agent_id, day, amount_sum(&sum, &amount), found ? &tid : NULL);
}

void
spending_total_take(Slice run_id, Slice agent_id, DateADT day, Amount amount)
{
	Amount		rest;
	ItemPointerData tid;

	if (!spending_total_find(run_id, agent_id, day, &tid, &rest))
		return;
	rest = amount_rest(&rest, &amount);
	if (amount_is_zero(&rest))
		rows_delete(TABLE_SPENDING_TOTAL, &tid);
	else
		spending_total_write(run_id, agent_id, day, rest, &tid);
}
