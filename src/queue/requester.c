/*-------------------------------------------------------------------------
 *
 * requester.c
 *	  Limiting how many kinds of waiting tasks an agent may have requested.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "queue/queue.h"
#include "queue/requester.h"
#include "queue/waiting_kind.h"
#include "settings.h"

/*
 * Returns how many kinds the agent's requests form, counted up to the limit.
 */
static int
requester_count_kinds_of(Slice from_agent, int limit)
{
	int			n = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING_FROM_AGENT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, from_agent);
	rows_key_int8(&scan, 2, BTGreaterEqualStrategyNumber, PG_INT64_MIN);
	rows_start(&scan);
	while (n < limit && rows_next_value(&scan, Anum_queue_key))
	{
		CHECK_FOR_INTERRUPTS();
		n++;
	}
	rows_end(&scan);
	return n;
}

static bool
requester_has_kind(Slice from_agent, int64 kind)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING_FROM_AGENT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, from_agent);
	rows_key_int8(&scan, 2, BTEqualStrategyNumber, kind);
	return rows_look(&scan, NULL);
}

void
requester_require_room(Slice from_agent, const Requirement *requirement)
{
	if (requester_has_kind(from_agent, waiting_kind_of(requirement)) ||
				  requester_count_kinds_of(from_agent, clutch_max_waiting_kinds) < clutch_max_waiting_kinds)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errproblem("/requires", "TOO_MANY_KINDS"),
			 errmsg("requests of \"%.*s\" are waiting for agents in %d different ways, which is the limit",
					from_agent.len, from_agent.s, clutch_max_waiting_kinds),
			 errhint("Requests that differ in \"requires\", \"prefers\", policy, scope or recipients count separately. "
					 "Register agents for those that wait, cancel them, or raise clutch.max_waiting_kinds.")));
}
