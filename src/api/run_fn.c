/*-------------------------------------------------------------------------
 *
 * run_fn.c
 *	  SQL functions that drive the system: ticks, the agenda, rebuilds and
 *	  grants.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/owner.h"
#include "base/query.h"
#include "base/rows.h"
#include "commands/extension.h"
#include "flow/agenda.h"
#include "flow/due.h"
#include "flow/rebuild.h"
#include "flow/restored.h"
#include "flow/settle.h"
#include "flow/tick.h"
#include "flow/ticker.h"
#include "miscadmin.h"
#include "settings.h"
#include "trust/principal.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_now);
PG_FUNCTION_INFO_V1(clutch_tick);
PG_FUNCTION_INFO_V1(clutch_settle);
PG_FUNCTION_INFO_V1(clutch_rebuild);
PG_FUNCTION_INFO_V1(clutch_grant_again);

Datum
clutch_now(PG_FUNCTION_ARGS)
{
	PG_RETURN_TIMESTAMPTZ(clock_now());
}

/* Ticks at once, and handles the consequences. */
static Jsonb *
run_tick_now(void)
{
	DocumentBuilder b;
	TickReport	report;

	(void) restored_epoch();
	report = tick_all(clutch_tick_batch);
	(void) settle_postponed(clutch_tick_batch);
	(void) settle_agenda();
	tick_seal(&report);
	ticker_called();
	document_begin(&b);
	document_put_int(&b, "expired", report.due.expired);
	document_put_int(&b, "timed_out", report.due.timed_out);
	document_put_int(&b, "woken", report.due.woken);
	document_put_int(&b, "unclaimed", report.due.unclaimed);
	document_put_int(&b, "lost", report.lost);
	document_put_int(&b, "sent", report.sent);
	document_put_int(&b, "unanswered", report.expired);
	document_put_int(&b, "routed", report.routed);
	document_put_int(&b, "sealed", report.sealed);
	return document_end(&b);
}

/*
 * Ticks when the transaction commits, because a transaction that stays open
 * must not hold the tasks that a tick moves.
 */
static Jsonb *
run_tick_at_commit(void)
{
	DocumentBuilder b;

	agenda_add_agent(CONSEQUENCE_TICK, SLICE_OF(""), clutch_tick_batch);
	document_begin(&b);
	document_put_bool(&b, "deferred", true);
	return document_end(&b);
}

Datum
clutch_tick(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(due_may_move_now() ? run_tick_now() : run_tick_at_commit());
}

Datum
clutch_settle(PG_FUNCTION_ARGS)
{
	int64		handled;

	(void) restored_epoch();
	handled = settle_agenda();
	handled += settle_postponed(clutch_tick_batch);
	/* what was postponed may have had consequences of its own */
	handled += settle_agenda();
	PG_RETURN_INT64(handled);
}

Datum
clutch_rebuild(PG_FUNCTION_ARGS)
{
	DocumentBuilder b;
	RebuildReport report;
	OwnerCaller caller;

	principal_require_operator("rebuild the state");
	/*
	 * the tables belong to the owner of the extension, whichever operator
	 * calls
	 */
	caller = owner_begin();
	report = rebuild_all();
	owner_end(caller);

	document_begin(&b);
	document_put_int(&b, "events", report.events);
	document_put_int(&b, "tasks", report.tasks);
	document_put_int(&b, "agents", report.agents);
	PG_RETURN_JSONB_P(document_end(&b));
}

/*
 * Grants privileges again.  An update from 0.1.0 passes through 0.2.0, whose
 * script calls this before the functions that it needs exist.  To look for their
 * names would not do: the owner may have made functions of these names, and they
 * would be called with the rights of the superuser who updates.  PostgreSQL
 * records the version to which a script updates before it runs the script.
 */
static void
run_grants(void)
{
	static QueryPlan guard = {"LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE", 0};
	static QueryPlan ready = {
		"SELECT FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'clutch' "
		"AND e.extversion OPERATOR(pg_catalog.=) '" CLUTCH_VERSION "'"
	};
	static QueryPlan grants = {"SELECT clutch.grant_all()", 0};

	if (query_execute(&ready, NULL) == 0)
		return;
	/* two GRANTs on the same object at once fail */
	(void) query_execute(&guard, NULL);
	(void) query_execute(&grants, NULL);
}

/*
 * While a script of an extension runs, GRANT records the grants as if they
 * belonged to the extension, and pg_dump would omit them.  But these are
 * grants to users' roles.
 */
Datum
clutch_grant_again(PG_FUNCTION_ARGS)
{
	bool		in_script = creating_extension;

	creating_extension = false;
	PG_TRY();
	{
		run_grants();
	}
	PG_FINALLY();
	{
		creating_extension = in_script;
	}
	PG_END_TRY();
	PG_RETURN_VOID();
}
