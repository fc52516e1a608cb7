/*-------------------------------------------------------------------------
 *
 * retention_fn.c
 *	  Pruning, redacting, exporting and importing parts of the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/owner.h"
#include "base/rows.h"
#include "catalog/pg_type.h"
#include "flow/restored.h"
#include "flow/settle.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "retention/import.h"
#include "retention/prune.h"
#include "retention/redact.h"
#include "trust/principal.h"
#include "utils/array.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_prune);
PG_FUNCTION_INFO_V1(clutch_redact);
PG_FUNCTION_INFO_V1(clutch_import);

/* ----------------------------------------------------------------- as owner */

/* Switches to the owner of the tables, whichever operator calls. */
static OwnerCaller
begin_as_owner(const char *what)
{
	principal_require_operator(what);
	(void) restored_epoch();
	return owner_begin();
}

/* -------------------------------------------------------------------- prune */

#define PRUNE_DEFAULT	10000
#define PRUNE_MOST		1000000

static void
notice_kept(const PruneReport *report)
{
	if (slice_present(report->unread_by))
		ereport(NOTICE,
				(errmsg("subscription \"%.*s\" has not handled some of the events, which stay in the log",
						report->unread_by.len, report->unread_by.s),
				 errhint("Let it read, run SELECT clutch.unsubscribe(name), or let a superuser set clutch.prune_unread to on.")));
	if (report->referenced > 0)
		ereport(NOTICE,
				(errmsg_plural("%d run or message stays in the log because rows of other tables refer to it",
							   "%d runs or messages stay in the log because rows of other tables refer to them",
							   report->referenced, report->referenced),
				 errhint("Delete those rows, or add ON DELETE CASCADE to the foreign key.")));
	if (report->locked > 0)
		ereport(NOTICE,
				(errmsg_plural("at least %d run or message stays in the log because an open transaction has locked it, or a row or table that refers to it",
							   "at least %d runs or messages stay in the log because an open transaction has locked them, or a row or table that refers to them",
							   report->locked, report->locked),
				 errhint("Call the function again when that transaction has ended.")));
}

Datum
clutch_prune(PG_FUNCTION_ARGS)
{
	int			max_events = argument_count(fcinfo, 1, "max_events", PRUNE_DEFAULT, PRUNE_MOST,
											"Call the function again until it returns 0.");
	OwnerCaller caller;
	PruneReport report;

	argument_require(fcinfo, 0, "before");
	caller = begin_as_owner("prune the log");
	/*
	 * handle the consequences of this transaction first, because they must not
	 * find their tasks gone
	 */
	(void) settle_agenda();
	report = prune_batch(PG_GETARG_TIMESTAMPTZ(0), max_events, 0);
	owner_end(caller);
	notice_kept(&report);
	PG_RETURN_INT64(report.events);
}

/* ------------------------------------------------------------------- redact */

Datum
clutch_redact(PG_FUNCTION_ARGS)
{
	int64		seq = argument_int8(fcinfo, 0, "seq");
	Slice		reason;
	OwnerCaller caller;
	bool		done;

	argument_require(fcinfo, 1, "reason");
	reason = argument_reason(fcinfo, 1);
	caller = begin_as_owner("redact events");
	done = redact_event(seq, reason);
	owner_end(caller);
	if (!done)
		ereport(NOTICE,
				(errmsg("event " INT64_FORMAT " has been redacted before", seq)));
	PG_RETURN_VOID();
}

/* ------------------------------------------------------------------- import */

Datum
clutch_import(PG_FUNCTION_ARGS)
{
	Datum	   *elements;
	bool	   *nulls;
	Slice	   *lines;
	OwnerCaller caller;
	int64		events;
	int			n;
	int			i;

	argument_require(fcinfo, 0, "lines");
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	lines = palloc(sizeof(Slice) * n);
	for (i = 0; i < n; i++)
		lines[i] = nulls[i] ? SLICE_OF("null") : slice_of_text(DatumGetTextPP(elements[i]));
	caller = begin_as_owner("import a run");
	events = import_lines(lines, n);
	owner_end(caller);
	PG_RETURN_INT64(events);
}
