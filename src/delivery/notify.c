/*-------------------------------------------------------------------------
 *
 * notify.c
 *	  Waking listeners: the only Async_Notify.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/transaction.h"
#include "commands/async.h"
#include "delivery/notify.h"
#include "registry/roster.h"
#include "settings.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

static const char *const audience_names[] = {"all", "agent", "thread", "run", "task"};

/*
 * What this transaction has woken, so that a batch of a thousand events of
 * one run asks once.  Forgotten at its end; after a rolled back savepoint a
 * channel may stay here though its hint was dropped, so that also forgets.
 */
static HTAB *woken = NULL;
static bool all_woken = false;

static void
forget(void)
{
	if (woken != NULL)
		hash_destroy(woken);
	woken = NULL;
	all_woken = false;
}

static TransactionWatch watch = {forget, forget};

/* the first time this transaction wakes the channel? */
static bool
is_new(uint64 channel)
{
	bool		found;

	transaction_watch(&watch);
	if (woken == NULL)
	{
		HASHCTL		control = {0};

		control.keysize = sizeof(uint64);
		control.entrysize = sizeof(uint64);
		control.hcxt = TopMemoryContext;
		woken = hash_create("clutch woken channels", 32, &control,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (hash_get_num_entries(woken) >= clutch_notify_channels)
		return false;
	(void) hash_search(woken, &channel, HASH_ENTER, &found);
	return !found;
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
	if (audience == AUDIENCE_ALL)
		return pstrdup("clutch");
	return psprintf("clutch_%s_%016llx", audience_names[audience],
					(unsigned long long) channel_key(audience, id));
}

static void
wake(Audience audience, Slice id)
{
	if (audience == AUDIENCE_ALL ? !all_woken : is_new(channel_key(audience, id)))
		Async_Notify(notify_channel(audience, id), "{}");
	if (audience == AUDIENCE_ALL)
	{
		all_woken = true;
		(void) is_new(0);		/* sees to it that it is forgotten */
	}
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
