/*-------------------------------------------------------------------------
 *
 * agenda.c
 *	  The agenda: what a transaction has caused for other tasks and has not
 *	  handled yet.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/crypto.h"
#include "base/hash64.h"
#include "base/rows.h"
#include "base/transaction.h"
#include "common/hashfn.h"
#include "flow/agenda.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

static const char *const kind_names[NUM_CONSEQUENCE_KINDS] = {
	"cancel_children", "cancel", "orphan", "dependent", "join", "wake", "lift", "share", "route",
	"displace", "call", "take_away", "emit",
	"give_up", "timed_out", "offer", "timers", "tick"
};

/*
 * Entries are found by a hash of the fields that must be equal for two of them
 * to be merged.  Those that share a hash by chance form a chain.
 */
typedef struct Entry
{
	Consequence consequence;
	int			level;			/* level of the savepoint that added it */
	int			taken_level;	/* level of the savepoint in which it was taken
								 * off */
	struct Entry *next;			/* next entry with the same hash */
} Entry;

typedef struct Bucket
{
	uint64		hash;			/* key */
	Entry	   *first;
} Bucket;

/*
 * up to this number, entries are compared one by one; beyond it, buckets are
 * made
 */
#define FEW_ENTRIES		16

/* all of this is in the transaction's memory, and is freed with it */
static HTAB *buckets = NULL;
static List *entries = NIL;

/*
 * Entries that were taken off in a savepoint inside the one that added them.
 * If that savepoint is rolled back, so is what their handlers did, and they
 * return to the agenda.
 */
static List *taken_entries = NIL;

const char *
consequence_kind_name(ConsequenceKind kind)
{
	return kind_names[kind];
}

bool
consequence_kind_parse(Slice name, ConsequenceKind *kind)
{
	int			i = slice_find(name, kind_names, NUM_CONSEQUENCE_KINDS);

	if (i >= 0)
		*kind = (ConsequenceKind) i;
	return i >= 0;
}

bool
consequence_is_share(ConsequenceKind kind)
{
	return kind == CONSEQUENCE_TIMERS || kind == CONSEQUENCE_TICK;
}

/* ----------------------------------------------------------------- finding */

/*
 * Are the two the same entry?  A JOIN of a child with another join value, a
 * LIFT to another priority, a WAKE by another message, a TAKE_AWAY from another
 * agent, and an EMIT by another rule or for another event are not.
 */
static bool
agenda_is_same(const Consequence *a, const Consequence *b)
{
	return a->kind == b->kind && slice_equal(a->subject, b->subject) &&
		((a->kind != CONSEQUENCE_JOIN && a->kind != CONSEQUENCE_LIFT) || a->amount == b->amount) &&
		((a->kind != CONSEQUENCE_WAKE && a->kind != CONSEQUENCE_EMIT) || a->seq == b->seq) &&
		((a->kind != CONSEQUENCE_TAKE_AWAY && a->kind != CONSEQUENCE_EMIT) ||
		 slice_equal(a->because, b->because));
}

/*
 * Returns the bucket of an entry and of those that are the same.  The hash has a
 * secret key.  Otherwise, tasks whose IDs were chosen would share a bucket, and a
 * tree of 100,000 of them would take minutes to cancel.
 */
static Bucket *
agenda_bucket_of(const Consequence *consequence)
{
	uint64		hash = hash_combine64(crypto_name_hash(consequence->subject), consequence->kind);
	bool		found;
	Bucket	   *bucket;

	/* a task may wait for each message of a transaction, and a rule be for each of its events */
	if (consequence->kind == CONSEQUENCE_WAKE || consequence->kind == CONSEQUENCE_EMIT)
		hash = hash_combine64(hash, consequence->seq);
	bucket = hash_search(buckets, &hash, HASH_ENTER, &found);
	if (!found)
		bucket->first = NULL;
	return bucket;
}

static void
agenda_bucket_add(Entry *entry)
{
	Bucket	   *bucket = agenda_bucket_of(&entry->consequence);

	entry->next = bucket->first;
	bucket->first = entry;
}

/*
 * Makes the buckets.  That costs more than comparing the few entries that most
 * transactions have.
 */
static void
agenda_buckets_make(void)
{
	ListCell   *cell;

	buckets = hash64_create("clutch agenda", sizeof(Bucket), 64, TopTransactionContext);
	foreach(cell, entries)
		agenda_bucket_add(lfirst(cell));
}

/* Returns the entry that is the same, or NULL if there is none. */
static Entry *
agenda_entry_find(const Consequence *consequence)
{
	Entry	   *entry;
	ListCell   *cell;

	if (buckets != NULL)
	{
		for (entry = agenda_bucket_of(consequence)->first; entry != NULL; entry = entry->next)
			if (agenda_is_same(&entry->consequence, consequence))
				return entry;
		return NULL;
	}
	foreach(cell, entries)
	{
		entry = lfirst(cell);
		if (agenda_is_same(&entry->consequence, consequence))
			return entry;
	}
	return NULL;
}

/* -------------------------------------------------------------- savepoints */

static void
agenda_clear(void)
{
	buckets = NULL;
	entries = NIL;
	taken_entries = NIL;
}

static Entry *
agenda_nth(List *list, int i)
{
	return list_nth(list, i);
}

/* Returns the index of the first entry that the savepoint or one inside it has taken off. */
static int
agenda_first_taken_in(int level)
{
	int			i = list_length(taken_entries);

	while (i > 0 && agenda_nth(taken_entries, i - 1)->taken_level >= level)
		i--;
	return i;
}

static void
agenda_remove_last(void)
{
	Entry	   *entry = llast(entries);
	Bucket	   *bucket = buckets != NULL ? agenda_bucket_of(&entry->consequence) : NULL;

	/* it is the last of its bucket, too, unless adding it there has failed */
	if (bucket != NULL && bucket->first == entry)
		bucket->first = entry->next;
	entries = list_delete_last(entries);
	pfree(unconstify(char *, entry->consequence.subject.s));
	if (slice_present(entry->consequence.because))
		pfree(unconstify(char *, entry->consequence.because.s));
	pfree(entry);
}

/*
 * Handles the rollback of a savepoint: removes what it has added, and restores
 * what it has taken off.  A transaction may have a savepoint for each of many
 * thousand statements, so this must look only at what this one has done, which
 * is at the end of both lists.
 */
static void
agenda_roll_back(void)
{
	int			level = GetCurrentTransactionNestLevel();
	int			first = agenda_first_taken_in(level);
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);

	while (entries != NIL && agenda_nth(entries, list_length(entries) - 1)->level >= level)
		agenda_remove_last();
	for (int i = first; i < list_length(taken_entries); i++)
	{
		Entry	   *entry = agenda_nth(taken_entries, i);

		if (entry->level >= level)
			continue;
		entries = lappend(entries, entry);
		/* merging only saves work, so start afresh rather than repair the buckets */
		buckets = NULL;
	}
	taken_entries = list_truncate(taken_entries, first);
	MemoryContextSwitchTo(old);
}

/*
 * Handles the release of a savepoint: what it has added now belongs to the one
 * around it.
 */
static void
agenda_release(void)
{
	int			level = GetCurrentTransactionNestLevel();

	for (int i = agenda_first_taken_in(level); i < list_length(taken_entries); i++)
	{
		Entry	   *entry = agenda_nth(taken_entries, i);

		entry->level = Min(entry->level, level - 1);
		entry->taken_level = level - 1;
	}
	for (int i = list_length(entries) - 1; i >= 0 && agenda_nth(entries, i)->level >= level; i--)
		agenda_nth(entries, i)->level = level - 1;
}

/*
 * Leaves due tasks, whoever they belong to, to the next tick.  Otherwise a
 * prepared transaction would hold them until somebody commits it.
 */
static void
agenda_leave_what_is_due(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	List	   *kept = NIL;
	ListCell   *cell;

	foreach(cell, entries)
	{
		Entry	   *entry = lfirst(cell);

		if (!consequence_is_share(entry->consequence.kind))
			kept = lappend(kept, entry);
	}
	buckets = NULL;
	entries = kept;
	MemoryContextSwitchTo(old);
}

static TransactionWatch agenda_watch = {
	.preparing = agenda_leave_what_is_due,
	.rolled_back = agenda_roll_back,
	.released = agenda_release,
	.ended = agenda_clear,
};

/* ------------------------------------------------------------------ adding */

static void
agenda_merge_into(Consequence *first, const Consequence *other)
{
	first->depth = Min(first->depth, other->depth);
	first->seq = Max(first->seq, other->seq);
	if (first->kind != CONSEQUENCE_JOIN && first->kind != CONSEQUENCE_LIFT)
		first->amount = (int) Min((int64) first->amount + other->amount, PG_INT32_MAX);
}

static Entry *
agenda_entry_make(const Consequence *consequence)
{
	Entry	   *entry = palloc0(sizeof(Entry));

	entry->consequence = *consequence;
	entry->consequence.subject = slice_copy(consequence->subject);
	if (slice_present(consequence->because))
		entry->consequence.because = slice_copy(consequence->because);
	entry->level = GetCurrentTransactionNestLevel();
	return entry;
}

void
agenda_add(const Consequence *consequence)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	Entry	   *entry = agenda_entry_find(consequence);

	/*
	 * settling may have to write, which this transaction may not be allowed to
	 */
	rows_require_writable();
	transaction_watch(&agenda_watch);
	if (entry != NULL)
		agenda_merge_into(&entry->consequence, consequence);
	else
	{
		entry = agenda_entry_make(consequence);
		entries = lappend(entries, entry);
		if (buckets != NULL)
			agenda_bucket_add(entry);
		else if (list_length(entries) > FEW_ENTRIES)
			agenda_buckets_make();
	}
	MemoryContextSwitchTo(old);
}

void
agenda_add_task(ConsequenceKind kind, int depth, Slice task_id)
{
	Consequence consequence = {kind, depth, task_id};

	agenda_add(&consequence);
}

void
agenda_add_agent(ConsequenceKind kind, Slice agent_id, int amount)
{
	Consequence consequence = {kind, 0, agent_id, .amount = amount};

	agenda_add(&consequence);
}

/* ------------------------------------------------------------------ taking */

/*
 * Compares: tasks before agents; tasks by depth and ID; entries of one task by
 * kind, the highest priority to which it is lifted, and seq.
 */
static int
agenda_compare_consequences(const ListCell *a, const ListCell *b)
{
	const Consequence *x = lfirst(a);
	const Consequence *y = lfirst(b);
	bool		x_is_task = x->kind < CONSEQUENCE_GIVE_UP;
	bool		y_is_task = y->kind < CONSEQUENCE_GIVE_UP;
	int			order;

	if (x_is_task != y_is_task)
		return x_is_task ? -1 : 1;
	if (!x_is_task && x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	order = slice_compare(x->subject, y->subject);
	if (order == 0)
		order = (int) x->kind - (int) y->kind;
	if (order == 0 && x->kind == CONSEQUENCE_LIFT)
		order = y->amount - x->amount;
	return order != 0 ? order : x->seq < y->seq ? -1 : x->seq > y->seq;
}

bool
agenda_is_empty(void)
{
	return entries == NIL;
}

List *
agenda_take(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	int			level = GetCurrentTransactionNestLevel();
	List	   *taken = NIL;
	ListCell   *cell;

	foreach(cell, entries)
	{
		Entry	   *entry = lfirst(cell);

		taken = lappend(taken, &entry->consequence);
		if (entry->level >= level)
			continue;
		entry->taken_level = level;
		taken_entries = lappend(taken_entries, entry);
	}
	list_sort(taken, agenda_compare_consequences);
	buckets = NULL;
	entries = NIL;
	MemoryContextSwitchTo(old);
	return taken;
}
