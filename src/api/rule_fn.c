/*-------------------------------------------------------------------------
 *
 * rule_fn.c
 *	  The triggers of clutch.routing_rule.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "base/rows.h"
#include "commands/trigger.h"
#include "routing/rule.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(clutch_check_rule);
PG_FUNCTION_INFO_V1(clutch_rules_changed);

/* Refuses a rule that could not be applied, with all its faults. */
Datum
clutch_check_rule(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Datum		values[COLUMNS_ROUTING_RULE];
	bool		nulls[COLUMNS_ROUTING_RULE];
	TupleDesc	desc;
	HeapTuple	row;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || TRIGGER_FIRED_BY_DELETE(trigger->tg_event) ||
		RelationGetRelid(trigger->tg_relation) != rows_table_oid(TABLE_ROUTING_RULE))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("clutch.check_rule is the BEFORE INSERT OR UPDATE row trigger of clutch.routing_rule")));
	desc = RelationGetDescr(trigger->tg_relation);
	row = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : trigger->tg_trigtuple;
	for (int i = 0; i < COLUMNS_ROUTING_RULE; i++)
		values[i] = heap_getattr(row, i + 1, desc, &nulls[i]);
	rule_check(values, nulls);
	return PointerGetDatum(row);
}

/* Makes the backends, which remember the rules, read them again. */
Datum
clutch_rules_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "rules_changed")));
	rule_announce();
	PG_RETURN_POINTER(NULL);
}
