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
#include "store/event.h"

/* maximum number of rules, each triggered by the request of the next one, that are looked behind */
#define MOST_RULES		16

Slice
requester_of(const Requirement *requirement)
{
	Slice		requester = requirement->sender;
	Slice		event = requirement->added_to;

	for (int i = 0; i < MOST_RULES && slice_present(event); i++)
	{
		Jsonb	   *document = event_read_of_run(event, requirement->run_id, ROWS_LATEST);
		Envelope	envelope;

		if (document == NULL)
			break;
		envelope_read_admitted(document, &envelope, problem_list());
		requester = requirement_sender(&envelope);
		event = requirement_added_to(&envelope);
	}
	return requester;
}

/*
 * Returns how many kinds the agent's requests form, counted up to the limit.
 * What open transactions have put there counts as well.
 */
static int
requester_count_kinds_of(Slice from_agent, int limit)
{
	int			n = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING_FROM_AGENT, ROWS_DIRTY, AccessShareLock);
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

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING_FROM_AGENT, ROWS_DIRTY, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, from_agent);
	rows_key_int8(&scan, 2, BTEqualStrategyNumber, kind);
	return rows_look(&scan, NULL);
}

bool
requester_has_room(const Requirement *requirement)
{
	Slice		requester = requester_of(requirement);

	return requester_has_kind(requester, waiting_kind_of(requirement)) ||
		requester_count_kinds_of(requester, clutch_max_waiting_kinds) < clutch_max_waiting_kinds;
}

char *
requester_no_room(const Requirement *requirement)
{
	Slice		requester = requester_of(requirement);

	return psprintf("requests of \"%.*s\" are waiting for agents in %d different ways, which is the limit",
					requester.len, requester.s, clutch_max_waiting_kinds);
}

void
requester_require_room(const Requirement *requirement)
{
	if (!requester_has_room(requirement))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errproblem("/requires", "TOO_MANY_KINDS"),
				 errmsg("%s", requester_no_room(requirement)),
				 errhint("Requests that differ in \"requires\", \"prefers\", policy, scope or recipients count separately. "
						 "Register agents for those that wait, cancel them, or let a superuser raise clutch.max_waiting_kinds.")));
}
