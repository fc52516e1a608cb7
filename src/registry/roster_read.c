/*-------------------------------------------------------------------------
 *
 * roster_read.c
 *	  The registry read from its tables and turned around.
 *
 * A word that few agents have keeps them as a list, one that many have as a
 * set: memory grows with what the cards say, not with words times agents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "registry/roster_part.h"

#include "base/rows.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "protocol/problem.h"
#include "utils/memutils.h"

/* clutch.agent_registry, clutch.group_member: sql/install/tables.sql */
#define Anum_registry_agent_id	1
#define Anum_registry_status	2
#define Anum_registry_card		3
#define Anum_member_group_id	1
#define Anum_member_agent_id	2

/* an agent has a word */
typedef struct Membership
{
	RosterWord *word;
	int			agent;
} Membership;

/* what is needed while reading only */
typedef struct Reading
{
	Roster	   *roster;
	MemoryContext per_row;
	ProblemList *faults;
	Membership *memberships;
	Size		nmemberships;
	Size		capacity;
} Reading;

static RosterWord *
intern(Roster *roster, RosterKey key, RosterWord *of, Slice text)
{
	WordKey		wanted = {key, of, text};
	WordEntry  *entry;
	RosterWord *word;
	bool		found;

	entry = wordtable_insert(roster->words, wanted, &found);
	if (found)
		return entry->word;

	/* the key must not point into a document that goes away */
	entry->key.text = slice_copy(text);
	word = palloc0(sizeof(RosterWord));
	word->key = key;
	word->text = entry->key.text;
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

static void
remember(Reading *reading, RosterWord *word, int agent)
{
	if (word->last_agent == agent)
		return;
	word->last_agent = agent;
	word->nagents++;
	if (reading->nmemberships == reading->capacity)
	{
		reading->capacity *= 2;
		reading->memberships = repalloc_huge(reading->memberships,
											 reading->capacity * sizeof(Membership));
	}
	reading->memberships[reading->nmemberships].word = word;
	reading->memberships[reading->nmemberships].agent = agent;
	reading->nmemberships++;
}

/* a list from a card, its words interned; from and to may be the same */
static void
keep_list(Reading *reading, RosterKey key, const SliceList *from, SliceList *to, int agent)
{
	Slice	   *items = palloc(pg_nextpower2_32(Max(from->n, 1)) * sizeof(Slice));
	int			i;

	for (i = 0; i < from->n; i++)
	{
		RosterWord *word = intern(reading->roster, key, NULL, from->items[i]);

		items[i] = word->text;
		remember(reading, word, agent);
	}
	to->n = from->n;
	to->items = items;
}

static void
keep_capability(Reading *reading, const Capability *from, Capability *to,
				RosterCapability *turned, int agent)
{
	Roster	   *roster = reading->roster;
	RosterWord *id = intern(roster, BY_CAPABILITY, NULL, from->id);
	RosterWord *version = intern(roster, BY_VERSION, id, from->version);
	int			i;

	*to = *from;
	to->id = id->text;
	to->version = version->text;
	remember(reading, id, agent);
	remember(reading, version, agent);
	keep_list(reading, BY_TAG, &from->tags, &to->tags, agent);
	keep_list(reading, BY_TOOL, &from->tools, &to->tools, agent);

	turned->id = id;
	turned->version = version;
	turned->trust = from->trust;
	turned->cost = from->cost;
	turned->ntools = from->tools.n;
	turned->tools = palloc(Max(from->tools.n, 1) * sizeof(RosterWord *));
	for (i = 0; i < from->tools.n; i++)
		turned->tools[i] = intern(roster, BY_TOOL, NULL, from->tools.items[i]);
}

static void
keep_agent(Reading *reading, Slice agent_id, AgentStatus status, const AgentCard *card)
{
	Roster	   *roster = reading->roster;
	int			ordinal = roster->nagents;
	RosterAgent *agent;
	int			i;

	if (ordinal == roster->capacity)
	{
		roster->capacity *= 2;
		roster->agents = repalloc_huge(roster->agents,
									   roster->capacity * sizeof(RosterAgent));
		roster->capabilities = repalloc_huge(roster->capabilities,
											 roster->capacity * sizeof(RosterCapability *));
	}
	agent = &roster->agents[ordinal];
	agent->agent_id = slice_copy(agent_id);
	agent->status = status;
	agent->card = *card;
	agent->card.agent_id = agent->agent_id;
	agent->card.max_amount = amount_copy(card->max_amount);
	agent->card.capabilities = palloc(Max(card->ncapabilities, 1) * sizeof(Capability));
	roster->capabilities[ordinal] =
		palloc(Max(card->ncapabilities, 1) * sizeof(RosterCapability));
	for (i = 0; i < card->ncapabilities; i++)
		keep_capability(reading, &card->capabilities[i], &agent->card.capabilities[i],
						&roster->capabilities[ordinal][i], ordinal);
	keep_list(reading, BY_GROUP, &card->groups, &agent->card.groups, ordinal);
	keep_list(reading, BY_SCOPE, &card->scopes, &agent->card.scopes, ordinal);
	roster->nagents++;
}

/* a card that cannot be read (written by hand) takes no work */
static void
read_agent(Reading *reading, const RowScan *scan)
{
	AgentStatus status;
	AgentCard	card;
	Jsonb	   *document;
	JsonbValue	value;
	MemoryContext old;

	MemoryContextReset(reading->per_row);
	old = MemoryContextSwitchTo(reading->per_row);
	reading->faults->n = 0;
	reading->faults->dropped = 0;
	document = rows_jsonb(scan, Anum_registry_card);
	memset(&card, 0, sizeof(card));
	JsonbToJsonbValue(document, &value);
	agent_card_read(&value, "", false, &card, reading->faults);

	MemoryContextSwitchTo(reading->roster->context);
	if (reading->faults->n == 0 &&
		agent_status_parse(rows_text(scan, Anum_registry_status), &status))
		keep_agent(reading, rows_text(scan, Anum_registry_agent_id), status, &card);
	MemoryContextSwitchTo(old);
}

static void
read_rows(Reading *reading)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_REGISTRY, INDEX_AGENT_REGISTRY, ROWS_LATEST,
			   AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		read_agent(reading, &scan);
	}
	rows_end(&scan);
}

/* membership given by SQL, added to what the card says */
static void
keep_membership(Reading *reading, Slice group, int ordinal)
{
	SliceList  *groups = &reading->roster->agents[ordinal].card.groups;
	RosterWord *word = intern(reading->roster, BY_GROUP, NULL, group);
	int			i;

	for (i = 0; i < groups->n; i++)
	{
		if (groups->items[i].s == word->text.s)
			return;
	}
	/* room is made in powers of two, and found by looking at the count */
	if ((groups->n & (groups->n - 1)) == 0)
		groups->items = repalloc(groups->items, Max(groups->n, 1) * 2 * sizeof(Slice));
	groups->items[groups->n++] = word->text;
	remember(reading, word, ordinal);
}

static void
read_members(Reading *reading)
{
	RowScan		scan;
	MemoryContext old = MemoryContextSwitchTo(reading->roster->context);

	rows_begin(&scan, TABLE_GROUP_MEMBER, INDEX_GROUP_MEMBER, ROWS_LATEST,
			   AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int			ordinal = roster_find(reading->roster,
										  rows_text(&scan, Anum_member_agent_id));

		CHECK_FOR_INTERRUPTS();
		if (ordinal >= 0)
			keep_membership(reading, rows_text(&scan, Anum_member_group_id), ordinal);
	}
	rows_end(&scan);
	MemoryContextSwitchTo(old);
}

/* a set costs nagents / 8 bytes, a list 4 for each who has the word */
static void
turn_around(Reading *reading)
{
	Roster	   *roster = reading->roster;
	RosterWord *word;
	Size		i;

	for (word = roster->all_words; word != NULL; word = word->next)
	{
		if (word->nagents > roster->nagents / 32)
			word->set = agent_set_none(roster->nagents);
		else
			word->agents = palloc(word->nagents * sizeof(int));
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

static void
sort_by_traits(Roster *roster)
{
	NetworkLevel level;
	int			i;

	roster->taking_work = agent_set_none(roster->nagents);
	roster->sandboxed = agent_set_none(roster->nagents);
	for (level = NETWORK_NONE; level <= NETWORK_OPEN; level++)
		roster->network[level] = agent_set_none(roster->nagents);
	for (i = 0; i < roster->nagents; i++)
	{
		const RosterAgent *agent = &roster->agents[i];

		if (agent->status == AGENT_READY || agent->status == AGENT_BUSY)
			agent_set_add(roster->taking_work, i);
		if (amount_is_limit(&agent->card.max_amount))
			roster->limits_spending = true;
		if (agent->card.sandbox)
			agent_set_add(roster->sandboxed, i);
		for (level = NETWORK_NONE; level <= agent->card.network; level++)
			agent_set_add(roster->network[level], i);
	}
}

static Roster *
make_roster(MemoryContext context)
{
	Roster	   *roster = palloc0(sizeof(Roster));

	roster->context = context;
	roster->capacity = 64;
	roster->agents = palloc(roster->capacity * sizeof(RosterAgent));
	roster->capabilities = palloc(roster->capacity * sizeof(RosterCapability *));
	roster->words = wordtable_create(context, 256, NULL);
	return roster;
}

Roster *
roster_read(void)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(outer, "clutch roster reading",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext context = AllocSetContextCreate(outer, "clutch roster",
												  ALLOCSET_DEFAULT_SIZES);
	Reading		reading = {0};

	MemoryContextSwitchTo(context);
	reading.roster = make_roster(context);
	MemoryContextSwitchTo(scratch);
	reading.per_row = AllocSetContextCreate(scratch, "clutch card", ALLOCSET_DEFAULT_SIZES);
	/* the cards were admitted; the limits may have been lowered since */
	reading.faults = problem_list_admitted();
	reading.capacity = 1024;
	reading.memberships = palloc(reading.capacity * sizeof(Membership));
	read_rows(&reading);
	read_members(&reading);

	MemoryContextSwitchTo(context);
	turn_around(&reading);
	sort_by_traits(reading.roster);
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(scratch);
	return reading.roster;
}
