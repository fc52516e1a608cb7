/*-------------------------------------------------------------------------
 *
 * phrase.c
 *	  Finding phrases in a document.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/phrase_part.h"

#include "base/array.h"
#include "miscadmin.h"

/* ------------------------------------------------------------------- index */

typedef struct IndexedPhrase
{
	int			owner;
	int			nwords;
	int			anchor;			/* the word by which the phrase is looked up */
	PhraseWord *words;
	int			next;			/* the next phrase with the same anchor, or -1
								 * if none */
} IndexedPhrase;

typedef struct PhraseSlot
{
	uint64		hash;
	int			nphrases;		/* number of phrases that contain the word, or
								 * 0 if the slot is free */
	int			first;			/* the first phrase whose anchor is this word,
								 * or -1 if none */
} PhraseSlot;

struct PhraseIndex
{
	int			n;
	IndexedPhrase *phrases;
	uint64		nwords;			/* number of different words in all phrases;
								 * each has a slot */
	uint64		mask;			/* number of slots, which is a power of two,
								 * minus 1 */
	PhraseSlot *slots;

	/*
	 * by owner: the number of the search that last found it, and its index in
	 * "found"
	 */
	uint64		looks;
	uint64	   *found_in;
	int		   *places;
};

/* Returns the slot of the word, or the free slot in which it belongs. */
static inline PhraseSlot *
phrase_slot(const PhraseIndex *index, uint64 hash)
{
	uint64		i = (hash ^ (hash >> 32)) & index->mask;

	while (index->slots[i].nphrases != 0 && index->slots[i].hash != hash)
		i = (i + 1) & index->mask;
	return &index->slots[i];
}

static void
phrase_make_slots(PhraseIndex *index, uint64 n)
{
	index->mask = n - 1;
	index->slots = palloc_extended(sizeof(PhraseSlot) * n, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/*
 * Most slots stay free, so that one comparison suffices for most words that
 * are in no phrase.
 */
#define SLOTS_PER_WORD	4

static void
phrase_widen(PhraseIndex *index)
{
	PhraseSlot *slots = index->slots;
	uint64		n = index->mask + 1;

	phrase_make_slots(index, n * 2);
	for (uint64 i = 0; i < n; i++)
		if (slots[i].nphrases != 0)
			*phrase_slot(index, slots[i].hash) = slots[i];
	pfree(slots);
}

static void
phrase_count_word(PhraseIndex *index, uint64 hash)
{
	PhraseSlot *slot = phrase_slot(index, hash);

	if (slot->nphrases == 0)
	{
		if (++index->nwords * SLOTS_PER_WORD > index->mask + 1)
		{
			phrase_widen(index);
			slot = phrase_slot(index, hash);
		}
		*slot = (PhraseSlot) {.hash = hash, .first = -1};
	}
	slot->nphrases++;
}

static void
phrase_index_fill(PhraseIndex *index, const Phrase *phrases, int n)
{
	PhraseWords words = {0};

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		phrase_words_of(&words, phrases[i].text);
		if (words.n == 0)
			continue;
		index->phrases[index->n++] = (IndexedPhrase) {
			.owner = phrases[i].owner, .nwords = words.n, .words = phrase_keep_words(&words)
		};
		for (int w = 0; w < words.n; w++)
			phrase_count_word(index, words.items[w].hash);
	}
	if (words.items != NULL)
		pfree(words.items);
}

static void
phrase_index_anchor(PhraseIndex *index, int no)
{
	IndexedPhrase *phrase = &index->phrases[no];
	PhraseSlot *slot = phrase_slot(index, phrase->words[0].hash);

	for (int i = 1; i < phrase->nwords; i++)
	{
		PhraseSlot *other = phrase_slot(index, phrase->words[i].hash);

		if (other->nphrases < slot->nphrases)
		{
			slot = other;
			phrase->anchor = i;
		}
	}
	phrase->next = slot->first;
	slot->first = no;
}

PhraseIndex *
phrase_index_make(const Phrase *phrases, int n, int nowners)
{
	PhraseIndex *index = palloc0(sizeof(PhraseIndex));

	phrase_fold_begin();
	index->phrases = palloc(sizeof(IndexedPhrase) * n);
	index->found_in = palloc0(sizeof(uint64) * nowners);
	index->places = palloc(sizeof(int) * nowners);
	phrase_make_slots(index, 64);
	phrase_index_fill(index, phrases, n);
	for (int i = 0; i < index->n; i++)
		phrase_index_anchor(index, i);
	return index;
}

/* ----------------------------------------------------------------- looking */

typedef struct PhraseLook
{
	PhraseIndex *index;
	PhraseWords words;
	int			n;
	int			room;
	PhraseFound *found;
} PhraseLook;

static void
phrase_note(PhraseLook *look, const IndexedPhrase *phrase)
{
	PhraseIndex *index = look->index;
	PhraseFound *found;

	if (index->found_in[phrase->owner] != index->looks)
	{
		array_make_room(look->found, look->n, look->room);
		index->found_in[phrase->owner] = index->looks;
		index->places[phrase->owner] = look->n;
		look->found[look->n++] = (PhraseFound) {phrase->owner, 0};
	}
	found = &look->found[index->places[phrase->owner]];
	found->nwords = Max(found->nwords, phrase->nwords);
}

static bool
phrase_stands_at(const IndexedPhrase *phrase, const PhraseWords *words, int from)
{
	if (from < 0 || from + phrase->nwords > words->n)
		return false;
	for (int i = 0; i < phrase->nwords; i++)
		if (!phrase_word_equal(&phrase->words[i], &words->items[from + i]))
			return false;
	return true;
}

static void
phrase_look_in_text(PhraseLook *look, Slice text)
{
	const PhraseIndex *index = look->index;

	phrase_words_of(&look->words, text);
	for (int i = 0; i < look->words.n; i++)
	{
		const PhraseSlot *slot = phrase_slot(index, look->words.items[i].hash);

		/*
		 * thousands of phrases may share an anchor, and the text may be
		 * nothing but repetitions of it
		 */
		CHECK_FOR_INTERRUPTS();
		for (int no = slot->nphrases > 0 ? slot->first : -1; no >= 0; no = index->phrases[no].next)
			if (phrase_stands_at(&index->phrases[no], &look->words, i - index->phrases[no].anchor))
				phrase_note(look, &index->phrases[no]);
	}
}

static void
phrase_look_in(PhraseLook *look, const JsonbContainer *container)
{
	bool		is_object = JsonContainerIsObject(container);
	int			n = JsonContainerSize(container);
	const JEntry *entries = container->children + (is_object ? n : 0);
	const char *data = (const char *) (entries + n);
	uint32		start = is_object && n > 0 ? getJsonbOffset(container, n) : 0;

	check_stack_depth();
	for (int i = 0; i < n; i++)
	{
		JEntry		entry = entries[i];
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : start + JBE_OFFLENFLD(entry);

		if (JBE_ISSTRING(entry))
			phrase_look_in_text(look, (Slice) {data + start, end - start});
		else if (JBE_ISCONTAINER(entry))
			phrase_look_in(look, (const JsonbContainer *) (data + INTALIGN(start)));
		start = end;
	}
}

int
phrase_find(PhraseIndex *index, const JsonbContainer *document, PhraseFound **found)
{
	PhraseLook	look = {.index = index};

	*found = NULL;
	if (index->n == 0)
		return 0;
	index->looks++;
	phrase_look_in(&look, document);
	*found = look.found;
	return look.n;
}
