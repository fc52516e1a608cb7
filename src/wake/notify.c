/*-------------------------------------------------------------------------
 *
 * notify.c
 *	  Waking listeners and the worker: the only user of Async_Notify and
 *	  Async_Listen.
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
#include "tcop/utility.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/listener.h"
#include "wake/notify.h"

static const char *const audience_names[] = {"all", "agent", "thread", "run", "task", "outbox"};

/*
 * A channel that this transaction notifies.  It is remembered so that a batch
 * of a thousand events of one run notifies the channel of the run only once.
 */
typedef struct WokenChannel
{
	uint64		place;			/* the key or, if channels of other kinds have
								 * the same one, a number after it */
	uint64		key;			/* the audience itself if it has a single
								 * channel */
	Audience	audience;
	int			level;			/* level of the savepoint in which it was noted */
	bool		by_worker;		/* the worker notifies it after the transaction */
} WokenChannel;

static HTAB *woken = NULL;

/* hints for the worker, for which room has been reserved; set at commit */
static Hint *hints = NULL;
static int	nhints = 0;

/* the earliest time at which this transaction needs the worker */
static TimestampTz due = DT_NOEND;

static ProcessUtility_hook_type previous_utility = NULL;

/* ------------------------------------------------- the end of a transaction */

static void
notify_forget_savepoint(void)
{
	int			level = GetCurrentTransactionNestLevel();
	HASH_SEQ_STATUS status;
	WokenChannel *entry;

	if (woken == NULL)
		return;
	hash_seq_init(&status, woken);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->level >= level)
			(void) hash_search(woken, &entry->place, HASH_REMOVE, NULL);
}

static void
notify_hand_savepoint_to_parent(void)
{
	int			level = GetCurrentTransactionNestLevel();
	HASH_SEQ_STATUS status;
	WokenChannel *entry;

	if (woken == NULL)
		return;
	hash_seq_init(&status, woken);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->level >= level)
			entry->level = level - 1;
}

static char *
notify_channel_name_of(Audience audience, uint64 key)
{
	if (audience == AUDIENCE_ALL)
		return pstrdup("clutch");
	if (audience == AUDIENCE_OUTBOX)
		return pstrdup("clutch_outbox");
	return psprintf("clutch_%s_%016llx", audience_names[audience], (unsigned long long) key);
}

/* PostgreSQL sends it at commit, unless the savepoint is rolled back. */
static void
notify_in_transaction(Audience audience, uint64 key)
{
	char	   *channel = notify_channel_name_of(audience, key);

	Async_Notify(channel, "{}");
	pfree(channel);
}

/*
 * If the worker cannot take the hints, this transaction notifies the channels.
 */
static void
notify_reserve_hints(void)
{
	HASH_SEQ_STATUS status;
	WokenChannel *entry;
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
			notify_in_transaction((Audience) hints[n].kind, hints[n].key);
}

static void
notify_tell_due(void)
{
	if (due != DT_NOEND)
		(void) mailbox_due(due);
}

/* Leaves the worker the hints of channels that may have listeners. */
static void
notify_put_hints(void)
{
	int			n = 0;
	int			i;

	for (i = 0; i < nhints; i++)
		if (listener_may_be_there(hints[i].key))
			hints[n++] = hints[i];
	if (nhints > 0)
		mailbox_put(hints, n, nhints);
	nhints = 0;
	notify_tell_due();
}

static void
notify_forget_transaction(void)
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
	.rolled_back = notify_forget_savepoint,
	.released = notify_hand_savepoint_to_parent,
	.committing = notify_reserve_hints,
	.committed = notify_put_hints,
	.prepared = notify_tell_due,
	.ended = notify_forget_transaction,
};

/* ----------------------------------------------------------------- channels */

/*
 * Somebody may have chosen an ID by which a channel of another kind has the
 * same key.
 */
static WokenChannel *
notify_find_channel(Audience audience, uint64 key, bool *found)
{
	uint64		place = key;
	WokenChannel *entry = hash_search(woken, &place, HASH_ENTER, found);

	while (*found && (entry->audience != audience || entry->key != key))
	{
		place++;
		entry = hash_search(woken, &place, HASH_ENTER, found);
	}
	return entry;
}

static void
notify_note_channel(Audience audience, uint64 key)
{
	bool		found;
	WokenChannel *entry;

	transaction_watch(&watch);
	woken = memo_table(woken, "clutch woken channels", sizeof(WokenChannel), INT_MAX);
	/* the channel of all does not count towards the limit */
	if (!audience_is_one(audience) && hash_get_num_entries(woken) > clutch_notify_channels)
		return;
	entry = notify_find_channel(audience, key, &found);
	if (found)
		return;
	entry->key = key;
	entry->audience = audience;
	entry->level = GetCurrentTransactionNestLevel();
	entry->by_worker = clutch_notify == NOTIFY_WORKER && mailbox_is_there();
	if (!entry->by_worker)
		notify_in_transaction(audience, key);
}

bool
audience_parse(Slice name, Audience *audience)
{
	int			i = slice_find(name, audience_names, lengthof(audience_names));

	if (i >= 0)
		*audience = (Audience) i;
	return i >= 0;
}

bool
audience_is_one(Audience audience)
{
	return audience == AUDIENCE_ALL || audience == AUDIENCE_OUTBOX;
}

static uint64
notify_channel_key(Audience audience, Slice id)
{
	if (audience_is_one(audience))
		return audience;
	return slice_hash(id) * UINT64CONST(0x9E3779B97F4A7C15) + audience;
}

char *
notify_channel(Audience audience, Slice id)
{
	return notify_channel_name_of(audience, notify_channel_key(audience, id));
}

static void
notify_wake_channel(Audience audience, Slice id)
{
	notify_note_channel(audience, notify_channel_key(audience, id));
}

/* A message to a group reaches all of its members. */
static void
notify_wake_group(Slice group_id)
{
	Roster	   *roster = roster_get();
	int			i;

	for (i = 0; i < roster_size(roster); i++)
	{
		const RosterAgent *agent = roster_agent(roster, i);

		if (slice_is(group_id, "group:*") || slices_have(agent->card.groups, group_id))
			notify_wake_channel(AUDIENCE_AGENT, agent->agent_id);
	}
}

void
notify_event(const Event *event)
{
	const Envelope *e = &event->envelope;
	int			i;

	if (clutch_notify == NOTIFY_OFF)
		return;
	notify_wake_channel(AUDIENCE_ALL, SLICE_NONE);
	for (i = 0; i < e->to_agents.n; i++)
	{
		Slice		recipient = e->to_agents.items[i];

		/* a topic or a group, too, has listeners of its own */
		notify_wake_channel(AUDIENCE_AGENT, recipient);
		if (slice_starts(recipient, SLICE_OF("group:")) && e->type != MSG_TASK_REQUEST)
			notify_wake_group(recipient);
	}
	notify_wake_channel(AUDIENCE_THREAD, e->thread_id);
	notify_wake_channel(AUDIENCE_RUN, e->run_id);
	notify_wake_channel(AUDIENCE_TASK, e->task_id);
}

void
notify_agent(Slice agent_id)
{
	if (clutch_notify != NOTIFY_OFF)
		notify_wake_channel(AUDIENCE_AGENT, agent_id);
}

void
notify_outbox(void)
{
	if (clutch_notify != NOTIFY_OFF)
		notify_wake_channel(AUDIENCE_OUTBOX, SLICE_NONE);
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
notify_hints(const Hint *left, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		notify_in_transaction((Audience) left[i].kind, left[i].key);
}

/* ---------------------------------------------------------------- listeners */

/* Returns the key of a channel that notify_channel_name_of has named. */
static bool
notify_parse_channel(const char *name, uint64 *key)
{
	const char *digits = strrchr(name, '_');

	if (strcmp(name, "clutch") == 0)
		*key = AUDIENCE_ALL;
	else if (strcmp(name, "clutch_outbox") == 0)
		*key = AUDIENCE_OUTBOX;
	else if (strncmp(name, "clutch_", strlen("clutch_")) == 0 && strlen(digits) == strlen("_") + 16)
		*key = strtoull(digits + 1, NULL, 16);
	else
		return false;
	return true;
}

static void
notify_count_listener(const char *channel)
{
	uint64		key;

	if (notify_parse_channel(channel, &key))
		listener_add(key);
}

void
notify_listen(const char *channel)
{
	notify_count_listener(channel);
	Async_Listen(channel);
}

/* Clients also execute LISTEN with the name that clutch.channel() returned. */
static void
notify_process_utility(PlannedStmt *plan, const char *text, bool read_only,
					   ProcessUtilityContext context, ParamListInfo parameters,
					   QueryEnvironment *environment, DestReceiver *receiver,
					   QueryCompletion *completion)
{
	if (IsA(plan->utilityStmt, ListenStmt))
		notify_count_listener(((ListenStmt *) plan->utilityStmt)->conditionname);
	if (previous_utility)
		previous_utility(plan, text, read_only, context, parameters, environment, receiver,
						 completion);
	else
		standard_ProcessUtility(plan, text, read_only, context, parameters, environment,
								receiver, completion);
}

void
notify_watch(void)
{
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = notify_process_utility;
}
