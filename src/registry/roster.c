/*-------------------------------------------------------------------------
 *
 * roster.c
 *	  The registry as this backend knows it: bitmaps over agents.
 *
 * Reading ten thousand cards takes tens of milliseconds, choosing among them
 * some tens of microseconds; so each backend reads once, turns the registry
 * around (from words of the cards to the agents), and reads again only after
 * somebody changed it.  Who changes it says so with roster_invalidate, a
 * relcache invalidation of agent_registry: transactional, replayed on
 * standbys, without shared memory of ours.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "registry/roster_part.h"

#include "base/rows.h"
#include "base/transaction.h"
#include "utils/inval.h"
#include "utils/memutils.h"

static Roster *current = NULL;
static Roster *before = NULL;	/* somebody up the stack may still hold it */
static Oid	watched = InvalidOid;	/* the registry that was read last */
static uint64 invalidations = 0;
static uint64 generations = 0;
static bool read_in_transaction = false;
static bool watching = false;

/* ------------------------------------------------------------ invalidation */

/* may be called at any moment: counts, and nothing else */
static void
registry_changed(Datum arg, Oid relid)
{
	if (relid == InvalidOid || relid == watched)
		invalidations++;
}

/*
 * What was read in a transaction that aborts may have held its own rows, and
 * an invalidation of the command that failed never comes.
 */
static void
rolled_back(void)
{
	if (read_in_transaction)
		invalidations++;
}

static void
transaction_ended(void)
{
	read_in_transaction = false;
}

static void
watch(void)
{
	static TransactionWatch transaction = {rolled_back, transaction_ended};

	if (watching)
		return;
	CacheRegisterRelcacheCallback(registry_changed, (Datum) 0);
	transaction_watch(&transaction);
	watching = true;
}

uint64
roster_changes(void)
{
	watch();
	return invalidations;
}

/* others hear of it when we commit; we ourselves go on with what we wrote */
void
roster_invalidate(void)
{
	CacheInvalidateRelcacheByRelid(rows_table_oid(TABLE_AGENT_REGISTRY));
	invalidations++;
}

/* ----------------------------------------------------------------- reading */

/*
 * An invalidation that arrives while we read is counted against the new
 * roster, whose built_at is older: the next roster_get reads again.  For it
 * to be noticed, the callback must know the table before the reading starts.
 */
static void
read_registry(void)
{
	uint64		built_at;
	Roster	   *roster;

	watched = rows_table_oid(TABLE_AGENT_REGISTRY);
	built_at = invalidations;
	roster = roster_read();
	roster->relid = watched;
	roster->built_at = built_at;
	roster->generation = ++generations;
	MemoryContextSetParent(roster->context, TopMemoryContext);
	if (before != NULL)
		MemoryContextDelete(before->context);
	before = current;
	current = roster;
	read_in_transaction = true;
}

/* ----------------------------------------------------------------- looking */

Roster *
roster_get(void)
{
	watch();
	/* another's commit may not have reached us: no lock was taken since */
	AcceptInvalidationMessages();
	if (current == NULL || current->built_at != invalidations ||
		current->relid != rows_table_oid(TABLE_AGENT_REGISTRY))
		read_registry();
	return current;
}

int
roster_size(const Roster *roster)
{
	return roster->nagents;
}

uint64
roster_generation(const Roster *roster)
{
	return roster->generation;
}

const RosterAgent *
roster_agent(const Roster *roster, int ordinal)
{
	return &roster->agents[ordinal];
}

const RosterCapability *
roster_capabilities(const Roster *roster, int ordinal)
{
	return roster->capabilities[ordinal];
}

int
roster_find(const Roster *roster, Slice agent_id)
{
	int			low = 0;
	int			high = roster->nagents - 1;

	while (low <= high)
	{
		int			middle = low + (high - low) / 2;
		int			order = slice_compare(agent_id, roster->agents[middle].agent_id);

		if (order == 0)
			return middle;
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return -1;
}

const RosterWord *
roster_word(const Roster *roster, RosterKey key, Slice text)
{
	WordKey		wanted = {key, NULL, text};
	WordEntry  *entry = wordtable_lookup(roster->words, wanted);

	return entry ? entry->word : NULL;
}

int
roster_count_words(const Roster *roster, RosterKey key)
{
	return roster->nwords[key];
}

void
roster_add_agents(const RosterWord *word, AgentSet *set)
{
	int			i;

	if (word->set != NULL)
		agent_set_or(set, word->set);
	else
	{
		for (i = 0; i < word->nagents; i++)
			agent_set_add(set, word->agents[i]);
	}
}

const AgentSet *
roster_taking_work(const Roster *roster)
{
	return roster->taking_work;
}

bool
roster_limits_spending(const Roster *roster)
{
	return roster->limits_spending;
}

const AgentSet *
roster_sandboxed(const Roster *roster)
{
	return roster->sandboxed;
}

const AgentSet *
roster_network(const Roster *roster, NetworkLevel level)
{
	return roster->network[level];
}
