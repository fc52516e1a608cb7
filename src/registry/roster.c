/*-------------------------------------------------------------------------
 *
 * roster.c
 *	  The roster: the registry as each backend caches it.
 *
 * Choosing among ten thousand agents takes microseconds if the registry is in
 * memory in inverted form (from words of the cards to the agents), but reading
 * it takes milliseconds.  Therefore each backend reads it once, and again
 * after a change.  A change is announced by a relcache invalidation, which is
 * transactional, is replayed on standbys, and needs no shared memory of our
 * own.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include <ctype.h>

#include "registry/roster_part.h"

#include "base/stale.h"
#include "utils/inval.h"
#include "utils/memutils.h"

static Roster *current = NULL;
static Roster *before = NULL;	/* the previous one, which a caller up the
								 * stack may still be using */
static uint64 generations = 0;

uint64
roster_changes(void)
{
	return stale_count(STALE_CARDS);
}

void
roster_invalidate(void)
{
	stale_announce(STALE_CARDS);
}

static void
roster_release(void *arg)
{
	Roster	   *roster = arg;

	if (--roster->holders == 0 && roster->is_past)
		MemoryContextDelete(roster->context);
}

void
roster_hold(Roster *roster)
{
	MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));

	callback->func = roster_release;
	callback->arg = roster;
	roster->holders++;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
}

static void
roster_forget(Roster *roster)
{
	roster->is_past = true;
	if (roster->holders == 0)
		MemoryContextDelete(roster->context);
}

/*
 * A change that arrives while we read is counted after built_at was taken, so
 * the next roster_get reads again.
 */
static void
roster_read_registry(uint64 built_at)
{
	Roster	   *roster = roster_read();

	roster->built_at = built_at;
	roster->generation = ++generations;
	MemoryContextSetParent(roster->context, TopMemoryContext);
	if (before != NULL)
		roster_forget(before);
	before = current;
	current = roster;
	stale_if_rolled_back(STALE_CARDS);
}

Roster *
roster_get(void)
{
	uint64		changes;

	/*
	 * without a lock taken since then, the commit of another transaction may
	 * not have reached us
	 */
	AcceptInvalidationMessages();
	changes = stale_count(STALE_CARDS);
	if (current == NULL || current->built_at != changes)
		roster_read_registry(changes);
	return current;
}

Roster *
roster_current(void)
{
	return current;
}

void *
roster_alloc(Roster *roster, Size size)
{
	const Size	block_size = 32 * 1024;
	void	   *at;

	size = MAXALIGN(size);
	if (size > block_size / 4)
		return MemoryContextAllocHuge(roster->context, size);
	if (roster->block_left < size)
	{
		roster->block = MemoryContextAlloc(roster->context, block_size);
		roster->block_left = block_size;
	}
	at = roster->block;
	roster->block += size;
	roster->block_left -= size;
	return at;
}

Slice
roster_copy_text(Roster *roster, Slice text)
{
	char	   *copy = roster_alloc(roster, Max(text.len, 1));

	return (Slice) {memcpy(copy, text.s, text.len), text.len};
}

AgentMemory *
roster_memory(Slice agent_id)
{
	int			ordinal = current == NULL ? -1 : roster_find(current, agent_id);
	AgentMemory *memory;

	if (ordinal < 0)
		return NULL;
	if (current->memories == NULL)
		current->memories = MemoryContextAllocExtended(current->context,
													   current->nagents * sizeof(AgentMemory *),
													   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	memory = current->memories[ordinal];
	if (memory == NULL)
	{
		memory = roster_alloc(current, sizeof(AgentMemory));
		memset(memory, 0, sizeof(AgentMemory));
		memory->free_slot = -1;
		memory->highest = -1;
		memory->beat_at = DT_NOBEGIN;
		current->memories[ordinal] = memory;
	}
	return memory;
}

/* ----------------------------------------------------------------- looking */

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

const RosterAgent *
roster_look(Slice agent_id)
{
	Roster	   *roster = roster_get();
	int			ordinal = roster_find(roster, agent_id);

	return ordinal < 0 ? NULL : roster_agent(roster, ordinal);
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

static bool
roster_model_is_of_family(Slice model, Slice family)
{
	return model.len >= family.len && pg_strncasecmp(model.s, family.s, family.len) == 0 &&
		(model.len == family.len || !isalnum((unsigned char) model.s[family.len]));
}

void
roster_add_agents_of_family(const Roster *roster, Slice family, AgentSet *set)
{
	const RosterWord *word;

	if (roster_count_words(roster, BY_MODEL) == 0)
		return;
	for (word = roster->all_words; word != NULL; word = word->next)
		if (word->key == BY_MODEL && roster_model_is_of_family(word->text, family))
			roster_add_agents(word, set);
}

static bool
roster_word_has(const RosterWord *word, int ordinal)
{
	if (word->set != NULL)
		return agent_set_has(word->set, ordinal);
	for (int i = 0; i < word->nagents; i++)
		if (word->agents[i] == ordinal)
			return true;
	return false;
}

void
roster_add_agents_like(const Roster *roster, int ordinal, AgentSet *set)
{
	agent_set_add(set, ordinal);
	for (const RosterWord *word = roster->all_words; word != NULL; word = word->next)
		if (word->key == BY_MODEL && roster_word_has(word, ordinal))
			roster_add_agents(word, set);
}

const AgentSet *
roster_taking_work(const Roster *roster)
{
	return roster->taking_work;
}

bool
roster_has_pauses(const Roster *roster)
{
	return roster->pauses.n > 0;
}

const AgentSet *
roster_paused(const Roster *roster)
{
	return roster->paused;
}

bool
roster_pauses_capability(const Roster *roster, Slice capability)
{
	return slices_have(roster->pauses, capability);
}

bool
roster_pauses_agent(const Roster *roster, Slice agent_id)
{
	int			ordinal = roster_has_pauses(roster) ? roster_find(roster, agent_id) : -1;

	return ordinal >= 0 && agent_set_has(roster->paused, ordinal);
}

bool
roster_limits_spending(const Roster *roster)
{
	return roster->limits_spending;
}

bool
roster_limits_delegation(const Roster *roster)
{
	return roster->limits_delegation;
}

bool
roster_limits_egress(const Roster *roster)
{
	return roster->limits_egress;
}

const AgentSet *
roster_sandboxed(const Roster *roster)
{
	return roster->sandboxed;
}

const AgentSet *
roster_with_tools(const Roster *roster)
{
	return roster->with_tools;
}

const AgentSet *
roster_network(const Roster *roster, NetworkLevel level)
{
	return roster->network[level];
}
