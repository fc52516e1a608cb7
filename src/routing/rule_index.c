/*-------------------------------------------------------------------------
 *
 * rule_index.c
 *	  Finding the rules that may fit an envelope without trying each of them.
 *
 * Rules with phrases are found by their phrases.  Among the others, those
 * whose paths compare a member with a text are found by the text that the
 * envelope has there.  So any number of rules about "$.domain" cost only one
 * lookup of the domain.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/rule_part.h"
#include "base/array.h"

/* a text with which a rule compares a member */
typedef struct RuleText
{
	uint64		hash;
	int			rule;			/* index of the rule in the set */
} RuleText;

/* all texts with which rules compare one member */
typedef struct RuleMember
{
	SliceList	keys;
	int			n;
	int			room;
	RuleText   *texts;			/* by hash */
} RuleMember;

struct RuleIndex
{
	PhraseIndex *phrases;		/* its owners are rules */
	int			nmembers;
	RuleMember *members;
	int			nothers;
	int		   *others;			/* rules that must be tried for each envelope */

	/* by rule: the number of the lookup that last found it */
	uint64		looks;
	uint64	   *found_in;
};

/* ------------------------------------------------------------------ making */

static PhraseIndex *
rule_index_phrases(const RuleSet *set)
{
	int			n = 0;
	Phrase	   *phrases;
	PhraseIndex *index;

	for (int i = 0; i < set->n; i++)
		n += set->rules[i].phrases.n;
	phrases = palloc(sizeof(Phrase) * n);
	n = 0;
	for (int i = 0; i < set->n; i++)
		for (int p = 0; p < set->rules[i].phrases.n; p++)
			phrases[n++] = (Phrase) {i, set->rules[i].phrases.items[p]};
	index = phrase_index_make(phrases, n, set->n);
	pfree(phrases);
	return index;
}

/*
 * Returns the entry for a member.  A linear search will do, because rules use
 * only few different members.
 */
static RuleMember *
rule_index_member(RuleIndex *index, const SliceList *keys)
{
	for (int i = 0; i < index->nmembers; i++)
		if (slices_equal(index->members[i].keys, *keys))
			return &index->members[i];
	index->members = index->members == NULL ? palloc(sizeof(RuleMember)) :
		repalloc(index->members, sizeof(RuleMember) * (index->nmembers + 1));
	index->members[index->nmembers] = (RuleMember) {.keys = *keys};
	return &index->members[index->nmembers++];
}

static void
rule_index_add_text(RuleMember *member, Slice text, int rule)
{
	array_make_room(member->texts, member->n, member->room);
	member->texts[member->n++] = (RuleText) {slice_hash(text), rule};
}

static int
rule_index_compare_texts(const void *a, const void *b)
{
	const RuleText *x = a;
	const RuleText *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->rule - y->rule;
}

RuleIndex *
rule_index_make(const RuleSet *set)
{
	RuleIndex  *index = palloc0(sizeof(RuleIndex));

	index->phrases = rule_index_phrases(set);
	index->others = palloc(sizeof(int) * set->n);
	index->found_in = palloc0(sizeof(uint64) * set->n);
	for (int i = 0; i < set->n; i++)
	{
		List	   *equalities;
		ListCell   *cell;

		if (set->rules[i].phrases.n > 0)
			continue;
		equalities = path_list_equalities(&set->rules[i].path);
		if (equalities == NIL)
			index->others[index->nothers++] = i;
		foreach(cell, equalities)
		{
			const PathEquality *equality = lfirst(cell);

			rule_index_add_text(rule_index_member(index, &equality->keys), equality->text, i);
		}
	}
	for (int i = 0; i < index->nmembers; i++)
		qsort(index->members[i].texts, index->members[i].n, sizeof(RuleText), rule_index_compare_texts);
	return index;
}

/* ----------------------------------------------------------------- looking */

/* Adds a rule without phrases to the result, unless it is already there. */
static void
rule_index_add(RuleIndex *index, RuleFinds *finds, int rule)
{
	if (index->found_in[rule] == index->looks)
		return;
	index->found_in[rule] = index->looks;
	array_make_room(finds->items, finds->n, finds->room);
	finds->items[finds->n++] = (PhraseFound) {rule, 0};
}

static int
rule_index_first_of_hash(const RuleMember *member, uint64 hash)
{
	int			low = 0;
	int			high = member->n;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (member->texts[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
rule_index_find_by_member(RuleIndex *index, const RuleMember *member, const Envelope *envelope,
						  RuleFinds *finds)
{
	Slice		text;
	uint64		hash;

	switch (path_member(&member->keys, envelope->doc, &text))
	{
		case PATH_MEMBER_OTHER:
			break;
		case PATH_MEMBER_UNCLEAR:
			for (int i = 0; i < member->n; i++)
				rule_index_add(index, finds, member->texts[i].rule);
			break;
		case PATH_MEMBER_TEXT:
			hash = slice_hash(text);
			for (int i = rule_index_first_of_hash(member, hash);
				 i < member->n && member->texts[i].hash == hash; i++)
				rule_index_add(index, finds, member->texts[i].rule);
			break;
	}
}

void
rule_index_find(const RuleSet *set, const Envelope *envelope, RuleFinds *finds)
{
	RuleIndex  *index = set->index;

	*finds = (RuleFinds) {0};
	if (envelope->payload.type == jbvBinary)
		finds->n = phrase_find(index->phrases, envelope->payload.val.binary.data, &finds->items);
	finds->room = finds->n;
	index->looks++;
	for (int i = 0; i < index->nmembers; i++)
		rule_index_find_by_member(index, &index->members[i], envelope, finds);
	for (int i = 0; i < index->nothers; i++)
		rule_index_add(index, finds, index->others[i]);
}
