/*-------------------------------------------------------------------------
 *
 * stale.c
 *	  Detecting when what a backend has cached becomes stale.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "base/transaction.h"
#include "base/stale.h"
#include "utils/inval.h"

static struct
{
	StateTable	table;
	Oid			relid;			/* the table as it was last used */
	uint64		changes;
	bool		used;			/* in the current transaction */
}			parts[] = {
	[STALE_CARDS] = {TABLE_AGENT_REGISTRY},
	[STALE_FAILURES] = {TABLE_AGENT_FAILURE},
	[STALE_SLOTS] = {TABLE_AGENT_SLOT},
	[STALE_KEYS] = {TABLE_AGENT_KEY},
	[STALE_QUOTAS] = {TABLE_QUOTA},
	[STALE_RULES] = {TABLE_ROUTING_RULE},
	[STALE_ENDPOINTS] = {TABLE_ENDPOINT},
	[STALE_ADAPTERS] = {TABLE_ADAPTER},
	[STALE_PRINCIPALS] = {TABLE_PRINCIPAL},
	[STALE_TASKS] = {TABLE_TASK},
};

/* Invalidations may arrive at any moment, so this only counts. */
static void
stale_invalidated(Datum arg, Oid relid)
{
	int			i;

	for (i = 0; i < lengthof(parts); i++)
		if (relid == InvalidOid || relid == parts[i].relid)
			parts[i].changes++;
}

static void
stale_rolled_back(void)
{
	int			i;

	for (i = 0; i < lengthof(parts); i++)
		if (parts[i].used)
			parts[i].changes++;
}

static void
stale_transaction_ended(void)
{
	int			i;

	for (i = 0; i < lengthof(parts); i++)
		parts[i].used = false;
}

static void
stale_watch(void)
{
	static TransactionWatch watch = {
		.rolled_back = stale_rolled_back,
		.prepared = stale_rolled_back,	/* it may be rolled back later */
		.ended = stale_transaction_ended
	};

	if (watch.watching)
		return;
	CacheRegisterRelcacheCallback(stale_invalidated, (Datum) 0);
	transaction_watch(&watch);
}

/*
 * After the extension was dropped and created again, it is a different table.
 */
uint64
stale_count(StalePart part)
{
	Oid			relid;

	stale_watch();
	relid = rows_table_oid(parts[part].table);
	if (parts[part].relid != relid)
	{
		parts[part].relid = relid;
		parts[part].changes++;
	}
	return parts[part].changes;
}

void
stale_if_rolled_back(StalePart part)
{
	stale_watch();
	parts[part].used = true;
}

void
stale_announce(StalePart part)
{
	(void) stale_count(part);
	CacheInvalidateRelcacheByRelid(parts[part].relid);
	parts[part].changes++;
	parts[part].used = true;
}
