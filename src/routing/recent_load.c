/*-------------------------------------------------------------------------
 *
 * recent_load.c
 *	  What this backend read of the agents' loads a moment ago.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/recent_load.h"

#include "base/transaction.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

typedef struct RecentLoad
{
	TimestampTz read_at;		/* 0: never */
	AgentLoad	load;
} RecentLoad;

static RecentLoad *loads = NULL;	/* by ordinal of the roster ... */
static uint64 generation = 0;		/* ... of this generation */

static void
forget_all(void)
{
	if (loads != NULL)
		pfree(loads);
	loads = NULL;
}

static TransactionWatch watch = {forget_all};

static void
provide(const Roster *roster)
{
	transaction_watch(&watch);
	if (loads != NULL && generation == roster_generation(roster))
		return;
	forget_all();
	loads = MemoryContextAllocExtended(TopMemoryContext,
									   Max(roster_size(roster), 1) * sizeof(RecentLoad),
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	generation = roster_generation(roster);
}

static const AgentLoad *
read_now(const Roster *roster, int ordinal)
{
	RecentLoad *recent = &loads[ordinal];

	CHECK_FOR_INTERRUPTS();
	recent->read_at = 0;
	load_read(roster_agent(roster, ordinal)->agent_id,
			  roster_agent(roster, ordinal)->card.max_concurrency, &recent->load);
	recent->read_at = GetCurrentTimestamp();
	return &recent->load;
}

const AgentLoad *
recent_load(const Roster *roster, int ordinal, TimestampTz now, int64 max_age)
{
	provide(roster);
	/* a clock that was set back makes everything old */
	if (loads[ordinal].read_at <= now && now - loads[ordinal].read_at <= max_age)
		return &loads[ordinal].load;
	return read_now(roster, ordinal);
}

const AgentLoad *
recent_load_refresh(const Roster *roster, int ordinal)
{
	provide(roster);
	return read_now(roster, ordinal);
}

void
recent_load_forget(const Roster *roster, int ordinal)
{
	provide(roster);
	loads[ordinal].read_at = 0;
}
