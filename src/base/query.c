/*-------------------------------------------------------------------------
 *
 * query.c
 *	  The only SPI: statements whose plan is kept.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/query.h"
#include "executor/spi.h"

static void
query_prepare(QueryPlan *plan)
{
	SPIPlanPtr	prepared = SPI_prepare(plan->sql, plan->narguments, plan->types);

	if (prepared == NULL)
		elog(ERROR, "could not prepare \"%s\": %s", plan->sql,
			 SPI_result_code_string(SPI_result));
	if (SPI_keepplan(prepared) != 0)
		elog(ERROR, "could not keep the plan of \"%s\"", plan->sql);
	plan->plan = prepared;
}

uint64
query_execute(QueryPlan *plan, Datum *arguments, const char *nulls)
{
	uint64		processed;
	int			result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (plan->plan == NULL)
		query_prepare(plan);
	result = SPI_execute_plan(plan->plan, arguments, nulls, false, 0);
	if (result < 0)
		elog(ERROR, "could not run \"%s\": %s", plan->sql, SPI_result_code_string(result));
	processed = SPI_processed;
	SPI_finish();
	return processed;
}
