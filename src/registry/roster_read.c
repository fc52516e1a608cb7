/*-------------------------------------------------------------------------
 *
 * roster_read.c
 *	  Reading the registry from its tables, and inverting it.
 *
 * A word stores its agents as a list if there are few of them, and as a set if
 * there are many.  So memory grows with the size of the cards, and not with
 * the number of words times that of agents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "registry/roster_part.h"

#include "base/rows.h"
#include "miscadmin.h"
#include "registry/agent_row.h"
#include "registry/pause_row.h"
#include "settings.h"
#include "utils/memutils.h"

RosterWord *
roster_intern(Roster *roster, RosterKey key, RosterWord *of, Slice text)
{
	WordKey		wanted = {key, of, text};
	WordEntry  *entry;
	RosterWord *word;
	bool		found;

	entry = wordtable_insert(roster->words, wanted, &found);
	if (found)
		return entry->word;

	word = roster_alloc(roster, sizeof(RosterWord));
	memset(word, 0, sizeof(RosterWord));
	/* the key must not point into a document that will be freed */
	if (slice_present(text))
		word->text = roster_copy_text(roster, text);
	entry->key.text = word->text;
	word->key = key;
	word->last_agent = -1;
	word->next = roster->all_words;
	roster->all_words = word;
	if (of != NULL)
	{
		word->no = of->nversions++;
		word->next_version = of->versions;
		of->versions = word;
	}
	else
		word->no = roster->nwords[key]++;
	entry->word = word;
	return word;
}

void
roster_note_word(RosterReading *reading, RosterWord *word, int agent)
{
	if (word->last_agent == agent)
		return;
	word->last_agent = agent;
	word->nagents++;
	if (reading->nmemberships == reading->capacity)
	{
		reading->capacity *= 2;
		reading->memberships = repalloc_huge(reading->memberships,
											 reading->capacity * sizeof(RosterMembership));
	}
	reading->memberships[reading->nmemberships].word = word;
	reading->memberships[reading->nmemberships].agent = agent;
	reading->nmemberships++;
}

/* --------------------------------------------------------------- the agents */

static RosterAgent *
roster_add_agent(Roster *roster)
{
	if (roster->nagents == roster->capacity)
	{
		roster->capacity *= 2;
		roster->agents = repalloc_huge(roster->agents,
									   roster->capacity * sizeof(RosterAgent));
		roster->capabilities = repalloc_huge(roster->capabilities,
											 roster->capacity * sizeof(RosterCapability *));
	}
	return &roster->agents[roster->nagents++];
}

/*
 * Reads an agent.  A malformed row, which only a superuser can have written,
 * is left out.
 */
static void
roster_read_agent(RosterReading *reading, const RowScan *scan)
{
	Roster	   *roster = reading->roster;
	Slice		agent_id = rows_text(scan, Anum_agent_registry_agent_id);
	AgentStatus status;
	RosterAgent *agent;
	Datum		card;
	Jsonb	   *document;
	bool		isnull;
	MemoryContext old;

	if (!agent_status_parse(rows_text(scan, Anum_agent_registry_status), &status))
		return;
	MemoryContextReset(reading->per_row);
	old = MemoryContextSwitchTo(reading->per_row);
	card = rows_datum(scan, Anum_agent_registry_card, &isnull);
	document = DatumGetJsonbP(card);
	MemoryContextSwitchTo(old);
	if (!JB_ROOT_IS_OBJECT(document))
		return;
	agent = roster_add_agent(roster);
	agent->agent_id = roster_copy_text(roster, agent_id);
	agent->status = status;
	roster_card_read(reading, &document->root, roster->nagents - 1, &agent->card,
					 &roster->capabilities[roster->nagents - 1]);
}

static void
roster_read_agents(RosterReading *reading)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_REGISTRY, INDEX_AGENT_REGISTRY, ROWS_LATEST,
			   AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		roster_read_agent(reading, &scan);
	}
	rows_end(&scan);
}

/* --------------------------------------------------------------- the groups */

/* columns of clutch.group_member */
enum
{
	Anum_group_member_group_id = 1,
	Anum_group_member_agent_id,
	Natts_group_member = Anum_group_member_agent_id
};
ROWS_CHECK_COLUMNS(Natts_group_member, GROUP_MEMBER);

/* Adds a text to a list whose array has room for a power of two, so that the count tells when it is full. */
static void
roster_add_text(Roster *roster, SliceList *list, Slice text)
{
	if ((list->n & (list->n - 1)) == 0)
	{
		Slice	   *items = roster_alloc(roster, Max(list->n, 1) * 2 * sizeof(Slice));

		if (list->n > 0)
			memcpy(items, list->items, list->n * sizeof(Slice));
		list->items = items;
	}
	list->items[list->n++] = text;
}

/* Adds a membership given by SQL to those of the card. */
static void
roster_keep_membership(RosterReading *reading, Slice group, int ordinal)
{
	Roster	   *roster = reading->roster;
	SliceList  *groups = &roster->agents[ordinal].card.groups;
	RosterWord *word = roster_intern(roster, BY_GROUP, NULL, group);
	int			i;

	for (i = 0; i < groups->n; i++)
	{
		if (groups->items[i].s == word->text.s)
			return;
	}
	roster_add_text(roster, groups, word->text);
	roster_note_word(reading, word, ordinal);
}

static void
roster_read_members(RosterReading *reading)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_GROUP_MEMBER, INDEX_GROUP_MEMBER, ROWS_LATEST,
			   AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int			ordinal = roster_find(reading->roster,
										  rows_text(&scan, Anum_group_member_agent_id));

		CHECK_FOR_INTERRUPTS();
		if (ordinal >= 0)
			roster_keep_membership(reading, rows_text(&scan, Anum_group_member_group_id), ordinal);
	}
	rows_end(&scan);
}

/* An agent that is not registered is in the groups that SQL has given it. */
bool
roster_is_member(const Roster *roster, Slice agent_id, Slice group)
{
	int			ordinal = roster_find(roster, agent_id);
	RowScan		scan;

	if (ordinal >= 0)
		return slices_have(roster->agents[ordinal].card.groups, group);
	rows_begin(&scan, TABLE_GROUP_MEMBER, INDEX_GROUP_MEMBER, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, group);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, agent_id);
	return rows_look(&scan, NULL);
}

/* --------------------------------------------------------------- the pauses */

static void
roster_keep_pause(Roster *roster, Slice what)
{
	int			ordinal = roster_find(roster, what);

	roster_add_text(roster, &roster->pauses, roster_copy_text(roster, what));
	if (ordinal >= 0)
		agent_set_add(roster->paused, ordinal);
}

static void
roster_read_pauses(Roster *roster)
{
	RowScan		scan;

	roster->paused = agent_set_none(roster->nagents);
	rows_begin(&scan, TABLE_PAUSE, INDEX_PAUSE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
		roster_keep_pause(roster, rows_text(&scan, Anum_pause_what));
	rows_end(&scan);
}

/* ----------------------------------------------------------- turning around */

/*
 * Converts lists to sets.  A set takes nagents / 8 bytes, and a list 4 for
 * each agent that has the word.
 */
static void
roster_turn_around(RosterReading *reading)
{
	Roster	   *roster = reading->roster;
	RosterWord *word;
	Size		i;

	for (word = roster->all_words; word != NULL; word = word->next)
	{
		if (word->nagents > roster->nagents / 32)
			word->set = agent_set_none(roster->nagents);
		else
			word->agents = roster_alloc(roster, word->nagents * sizeof(int));
		word->nagents = 0;
	}
	for (i = 0; i < reading->nmemberships; i++)
	{
		word = reading->memberships[i].word;
		if (word->set != NULL)
			agent_set_add(word->set, reading->memberships[i].agent);
		else
			word->agents[word->nagents] = reading->memberships[i].agent;
		word->nagents++;
	}
}

static bool
roster_uses_tools(const RosterCapability *capability)
{
	for (; capability != NULL; capability = roster_next_capability(capability))
		if (capability->ntools > 0)
			return true;
	return false;
}

static void
roster_sort_by_traits(Roster *roster)
{
	NetworkLevel level;
	int			i;

	roster->taking_work = agent_set_none(roster->nagents);
	roster->sandboxed = agent_set_none(roster->nagents);
	roster->with_tools = agent_set_none(roster->nagents);
	for (level = NETWORK_NONE; level <= NETWORK_OPEN; level++)
		roster->network[level] = agent_set_none(roster->nagents);
	for (i = 0; i < roster->nagents; i++)
	{
		const RosterAgent *agent = &roster->agents[i];

		/*
		 * the orchestrator may be registered (in the handshake of spec 001),
		 * but works on no tasks
		 */
		if ((agent->status == AGENT_READY || agent->status == AGENT_BUSY) &&
			!slice_is(agent->agent_id, clutch_orchestrator))
			agent_set_add(roster->taking_work, i);
		if (amount_is_limit(&agent->card.max_amount))
			roster->limits_spending = true;
		if (agent->card.egress != NULL)
			roster->limits_egress = true;
		if (agent->card.serves != NULL || agent->card.delegates_to != NULL)
			roster->limits_delegation = true;
		if (agent->card.sandbox)
			agent_set_add(roster->sandboxed, i);
		if (roster_uses_tools(roster->capabilities[i]))
			agent_set_add(roster->with_tools, i);
		for (level = NETWORK_NONE; level <= agent->card.network; level++)
			agent_set_add(roster->network[level], i);
	}
}

static Roster *
roster_make(MemoryContext context)
{
	Roster	   *roster = palloc0(sizeof(Roster));

	roster->context = context;
	roster->capacity = 64;
	roster->agents = palloc(roster->capacity * sizeof(RosterAgent));
	roster->capabilities = palloc(roster->capacity * sizeof(RosterCapability *));
	roster->words = wordtable_create(context, 256, NULL);
	return roster;
}

/* Returns the excess memory of the arrays, which grew by doubling. */
static void
roster_trim(Roster *roster)
{
	Size		n = Max(roster->nagents, 1);

	roster->agents = repalloc_huge(roster->agents, n * sizeof(RosterAgent));
	roster->capabilities = repalloc_huge(roster->capabilities, n * sizeof(RosterCapability *));
	roster->capacity = n;
}

Roster *
roster_read(void)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(outer, "clutch roster reading",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext context = AllocSetContextCreate(outer, "clutch roster",
												  ALLOCSET_DEFAULT_MINSIZE,
												  ALLOCSET_DEFAULT_INITSIZE, 128 * 1024);
	RosterReading reading = {0};

	MemoryContextSwitchTo(context);
	reading.roster = roster_make(context);
	reading.per_row = AllocSetContextCreate(scratch, "clutch card", ALLOCSET_DEFAULT_SIZES);
	reading.capacity = 1024;
	reading.memberships = MemoryContextAlloc(scratch, reading.capacity * sizeof(RosterMembership));
	roster_read_agents(&reading);
	roster_read_members(&reading);
	roster_read_pauses(reading.roster);
	roster_trim(reading.roster);
	roster_turn_around(&reading);
	roster_sort_by_traits(reading.roster);
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(scratch);
	return reading.roster;
}
