/*-------------------------------------------------------------------------
 *
 * row_fn.c
 *	  Triggers that check the rows that operators write with INSERT and UPDATE.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "adapters/catalog.h"
#include "base/rows.h"
#include "commands/trigger.h"
#include "outbox/endpoint.h"
#include "routing/rule.h"
#include "utils/rel.h"

/* maximum number of columns of a table whose rows are checked */
#define MOST_COLUMNS	16

StaticAssertDecl(COLUMNS_ROUTING_RULE <= MOST_COLUMNS, "columns of clutch.routing_rule");
StaticAssertDecl(COLUMNS_ENDPOINT <= MOST_COLUMNS, "columns of clutch.endpoint");
StaticAssertDecl(COLUMNS_ADAPTER <= MOST_COLUMNS, "columns of clutch.adapter");

PG_FUNCTION_INFO_V1(clutch_check_rule);
PG_FUNCTION_INFO_V1(clutch_check_endpoint);
PG_FUNCTION_INFO_V1(clutch_check_adapter);

/* raises all faults of a row */
typedef void (*CheckRow) (const Datum *values, const bool *nulls);

static void
require_row_trigger(FunctionCallInfo fcinfo, StateTable table, const char *function)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || TRIGGER_FIRED_BY_DELETE(trigger->tg_event) ||
		RelationGetRelid(trigger->tg_relation) != rows_table_oid(table))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called as the BEFORE INSERT OR UPDATE row trigger of its table", function)));
}

/* Checks the row and returns it unchanged. */
static Datum
check_row(FunctionCallInfo fcinfo, StateTable table, const char *function, CheckRow check)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Datum		values[MOST_COLUMNS];
	bool		nulls[MOST_COLUMNS];
	TupleDesc	desc;
	HeapTuple	row;

	require_row_trigger(fcinfo, table, function);
	desc = RelationGetDescr(trigger->tg_relation);
	row = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : trigger->tg_trigtuple;
	for (int i = 0; i < Min(desc->natts, MOST_COLUMNS); i++)
		values[i] = heap_getattr(row, i + 1, desc, &nulls[i]);
	check(values, nulls);
	return PointerGetDatum(row);
}

Datum
clutch_check_rule(PG_FUNCTION_ARGS)
{
	return check_row(fcinfo, TABLE_ROUTING_RULE, "check_rule", rule_check);
}

Datum
clutch_check_endpoint(PG_FUNCTION_ARGS)
{
	return check_row(fcinfo, TABLE_ENDPOINT, "check_endpoint", endpoint_check);
}

Datum
clutch_check_adapter(PG_FUNCTION_ARGS)
{
	return check_row(fcinfo, TABLE_ADAPTER, "check_adapter", catalog_check);
}
