/*-------------------------------------------------------------------------
 *
 * notify.c
 *	  Waking listeners and the worker: the only Async_Notify.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/memo.h"
#include "base/transaction.h"
#include "commands/async.h"
#include "registry/roster.h"
#include "settings.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

static const char *const audience_names[] = {"all", "agent", "thread", "run", "task"};

/*
 * A channel that this transaction wakes, so that a batch of a thousand events
 * of one run asks once.  Those of a savepoint that is rolled back go with it.
 */
typedef struct Woken
{
	uint64		key;			/* 0: all */
	Audience	audience;
	int			level;			/* of the savepoint */
	bool		by_worker;		/* asked of it, once the transaction is over */
} Woken;

static HTAB *woken = NULL;
static Hint *hints = NULL;		/* for the worker, room for them is reserved */
static int	nhints = 0;
static TimestampTz due = DT_NOEND;

static void
forget_rolled_back(void)
{
	int			level = GetCurrentTransactionNestLevel();
	HASH_SEQ_STATUS status;
	Woken	   *entry;

	if (woken == NULL)
		return;
	hash_seq_init(&status, woken);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->level >= level)
			(void) hash_search(woken, &entry->key, HASH_REMOVE, NULL);
}

static void
hand_to_parent(void)
{
	int			level = GetCurrentTransactionNestLevel();
	HASH_SEQ_STATUS status;
	Woken	   *entry;

	if (woken == NULL)
		return;
	hash_seq_init(&status, woken);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->level >= level)
			entry->level = level - 1;
}

static char *
channel_name(Audience audience, uint64 key)
{
	if (audience == AUDIENCE_ALL)
		return pstrdup("clutch");
	return psprintf("clutch_%s_%016llx", audience_names[audience], (unsigned long long) key);
}

/* PostgreSQL sends it at commit, unless a savepoint takes it back */
static void
notify_now(Audience audience, uint64 key)
{
	char	   *channel = channel_name(audience, key);

	Async_Notify(channel, "{}");
	pfree(channel);
}

/* what the worker will not take, this transaction sends */
static void
reserve(void)
{
	HASH_SEQ_STATUS status;
	Woken	   *entry;
	int			n = 0;

	if (woken == NULL)
		return;
	hints = MemoryContextAlloc(TopTransactionContext,
							   sizeof(Hint) * hash_get_num_entries(woken));
	hash_seq_init(&status, woken);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->by_worker)
			hints[n++] = (Hint) {entry->key, entry->audience};
	if (n > 0 && mailbox_reserve(n))
		nhints = n;
	else
		while (--n >= 0)
			notify_now((Audience) hints[n].kind, hints[n].key);
}

static void
announce_due(void)
{
	if (due != DT_NOEND)
		mailbox_due(due);
}

static void
announce(void)
{
	if (nhints > 0)
		mailbox_put(hints, nhints);
	nhints = 0;
	announce_due();
}

static void
forget(void)
{
	if (nhints > 0)
		mailbox_release(nhints);
	nhints = 0;
	hints = NULL;
	due = DT_NOEND;
	if (woken != NULL)
		hash_destroy(woken);
	woken = NULL;
}

static TransactionWatch watch = {
	.rolled_back = forget_rolled_back,
	.released = hand_to_parent,
	.committing = reserve,
	.committed = announce,
	.prepared = announce_due,
	.ended = forget,
};

static void
note(Audience audience, uint64 key)
{
	bool		found;
	Woken	   *entry;

	transaction_watch(&watch);
	woken = memo_table(woken, "clutch woken channels", sizeof(Woken), INT_MAX);
	/* besides 'all' */
	if (audience != AUDIENCE_ALL && hash_get_num_entries(woken) > clutch_notify_channels)
		return;
	entry = hash_search(woken, &key, HASH_ENTER, &found);
	if (found)
		return;
	entry->audience = audience;
	entry->level = GetCurrentTransactionNestLevel();
	entry->by_worker = clutch_notify == NOTIFY_WORKER && mailbox_is_there();
	if (!entry->by_worker)
		notify_now(audience, key);
}

bool
audience_parse(Slice name, Audience *audience)
{
	int			i;

	for (i = 0; i < lengthof(audience_names); i++)
		if (slice_equal(name, slice_of_cstring(audience_names[i])))
		{
			*audience = (Audience) i;
			return true;
		}
	return false;
}

static uint64
channel_key(Audience audience, Slice id)
{
	return slice_hash(id) * UINT64CONST(0x9E3779B97F4A7C15) + audience;
}

char *
notify_channel(Audience audience, Slice id)
{
	return channel_name(audience, channel_key(audience, id));
}

static void
wake(Audience audience, Slice id)
{
	note(audience, audience == AUDIENCE_ALL ? 0 : channel_key(audience, id));
}

/* a message to a group reaches all of it */
static void
wake_group(Slice group_id)
{
	Roster	   *roster = roster_get();
	int			i;
	int			j;

	for (i = 0; i < roster_size(roster); i++)
	{
		const RosterAgent *agent = roster_agent(roster, i);

		for (j = 0; j < agent->card.groups.n; j++)
			if (slice_equal(agent->card.groups.items[j], group_id))
				wake(AUDIENCE_AGENT, agent->agent_id);
		if (slice_equal(group_id, SLICE_OF("group:*")))
			wake(AUDIENCE_AGENT, agent->agent_id);
	}
}

void
notify_event(const Event *event)
{
	const Envelope *e = &event->envelope;
	int			i;

	if (clutch_notify == NOTIFY_OFF)
		return;
	wake(AUDIENCE_ALL, SLICE_NONE);
	for (i = 0; i < e->to_agents.n; i++)
	{
		Slice		recipient = e->to_agents.items[i];

		if (!slice_starts(recipient, SLICE_OF("group:")))
			wake(AUDIENCE_AGENT, recipient);
		else if (e->type != MSG_TASK_REQUEST)
			wake_group(recipient);
	}
	wake(AUDIENCE_THREAD, e->thread_id);
	wake(AUDIENCE_RUN, e->run_id);
	wake(AUDIENCE_TASK, e->task_id);
}

void
notify_agent(Slice agent_id)
{
	if (clutch_notify != NOTIFY_OFF)
		wake(AUDIENCE_AGENT, agent_id);
}

void
notify_due(TimestampTz at)
{
	if (at >= due || !mailbox_is_there())
		return;
	transaction_watch(&watch);
	due = at;
}

void
notify_hints(const Hint *these, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		notify_now((Audience) these[i].kind, these[i].key);
}
