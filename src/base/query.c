/*-------------------------------------------------------------------------
 *
 * query.c
 *	  The only SPI: statements whose plan is kept.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/query.h"

#include "catalog/pg_type.h"
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

/* Runs the plan, and leaves SPI connected. */
static void
query_run(QueryPlan *plan, Datum *arguments, bool read_only)
{
	int			result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (plan->plan == NULL)
		query_prepare(plan);
	result = SPI_execute_plan(plan->plan, arguments, NULL, read_only, 0);
	if (result < 0)
		elog(ERROR, "could not run \"%s\": %s", plan->sql, SPI_result_code_string(result));
}

uint64
query_execute(QueryPlan *plan, Datum *arguments)
{
	uint64		processed;

	query_run(plan, arguments, false);
	processed = SPI_processed;
	SPI_finish();
	return processed;
}

bool
query_find_int8(QueryPlan *plan, Datum *arguments, int64 *value)
{
	bool		isnull = true;

	query_run(plan, arguments, true);
	if (SPI_processed > 0)
		*value = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	SPI_finish();
	return !isnull;
}

List *
query_list_jsonb(const char *sql, Jsonb **arguments, int narguments)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			types[QUERY_MAX_ARGUMENTS];
	Datum		values[QUERY_MAX_ARGUMENTS];
	List	   *list = NIL;
	int			result;

	Assert(narguments <= QUERY_MAX_ARGUMENTS);
	for (int i = 0; i < narguments; i++)
	{
		types[i] = JSONBOID;
		values[i] = JsonbPGetDatum(arguments[i]);
	}
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	result = SPI_execute_with_args(sql, narguments, types, values, NULL, false, 0);
	if (result < 0)
		elog(ERROR, "could not run \"%s\": %s", sql, SPI_result_code_string(result));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &isnull);

		if (!isnull)
			list = lappend(list, DatumGetJsonbPCopy(value));
		MemoryContextSwitchTo(spi);
	}
	SPI_finish();
	return list;
}
