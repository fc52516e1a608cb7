/*-------------------------------------------------------------------------
 *
 * phrase.c
 *	  Finding phrases in a document.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/phrase.h"

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/formatting.h"

/* ------------------------------------------------------------------- words */

/* a word in a text; the hash (FNV-1a) is that of its bytes in lower case */
typedef struct PhraseWord
{
	uint64		hash;
	Slice		text;
} PhraseWord;

#define HASH_BASIS	UINT64CONST(14695981039346656037)
#define HASH_PRIME	UINT64CONST(1099511628211)

/* the words of one string; the array is reused for the next string */
typedef struct PhraseWords
{
	int			n;
	int			room;
	PhraseWord *items;
} PhraseWords;

/* by byte: the byte in lower case; 0: it is not a part of a word */
static unsigned char folded[256];

static void
phrase_fold_begin(void)
{
	if (folded['a'] != 0)
		return;
	for (int i = 0; i < 256; i++)
		folded[i] = i >= 'A' && i <= 'Z' ? i + ('a' - 'A') :
			(i >= 'a' && i <= 'z') || (i >= '0' && i <= '9') || IS_HIGHBIT_SET(i) ? i : 0;
}

static void
phrase_words_add(PhraseWords *words, uint64 hash, Slice text)
{
	if (words->n == words->room)
	{
		words->room = Max(64, words->room * 2);
		words->items = words->items == NULL ? palloc(sizeof(PhraseWord) * words->room) :
			repalloc_huge(words->items, sizeof(PhraseWord) * words->room);
	}
	words->items[words->n++] = (PhraseWord) {hash, text};
}

/* Splits a text; returns whether it has a byte that is not ASCII. */
static bool
phrase_words_split(PhraseWords *words, Slice text)
{
	const unsigned char *at = (const unsigned char *) text.s;
	const unsigned char *end = at + text.len;
	unsigned char seen = 0;

	words->n = 0;
	while (at < end)
	{
		const unsigned char *begin;
		uint64		hash = HASH_BASIS;
		unsigned char c;

		if (folded[*at] == 0)
		{
			at++;
			continue;
		}
		for (begin = at; at < end && (c = folded[*at]) != 0; at++)
		{
			hash = (hash ^ c) * HASH_PRIME;
			seen |= c;
		}
		phrase_words_add(words, hash, (Slice) {(const char *) begin, at - begin});
	}
	return IS_HIGHBIT_SET(seen);
}

/* Does the character separate words, as punctuation and blanks of most scripts do? */
static bool
phrase_separates(pg_wchar c)
{
	return (c >= 0x80 && c <= 0xBF && c != 0xAA && c != 0xB5 && c != 0xBA) || c == 0xD7 || c == 0xF7 ||
		(c >= 0x2000 && c <= 0x206F) || (c >= 0x3000 && c <= 0x303F) ||
		(c >= 0xFF00 && c <= 0xFF0F) || (c >= 0xFF1A && c <= 0xFF20);
}

/* a copy in lower case, by the rules of the database, with blanks in place of characters that separate words */
static Slice
phrase_fold(Slice text)
{
	char	   *copy = str_tolower(text.s, text.len, DEFAULT_COLLATION_OID);
	int			len = strlen(copy);

	if (GetDatabaseEncoding() != PG_UTF8)
		return (Slice) {copy, len};
	for (int i = 0; i < len;)
	{
		int			bytes = pg_utf_mblen((const unsigned char *) copy + i);

		if (bytes > 1 && i + bytes <= len &&
			phrase_separates(utf8_to_unicode((const unsigned char *) copy + i)))
			memset(copy + i, ' ', bytes);
		i += bytes;
	}
	return (Slice) {copy, len};
}

static void
phrase_words_of(PhraseWords *words, Slice text)
{
	if (phrase_words_split(words, text))
		(void) phrase_words_split(words, phrase_fold(text));
}

/* Compares a word with one in an index, which is in lower case. */
static bool
phrase_word_equal(const PhraseWord *indexed, const PhraseWord *word)
{
	if (indexed->hash != word->hash || indexed->text.len != word->text.len)
		return false;
	for (int i = 0; i < word->text.len; i++)
		if (folded[(unsigned char) word->text.s[i]] != (unsigned char) indexed->text.s[i])
			return false;
	return true;
}

int
phrase_count_words(Slice text)
{
	PhraseWords words = {0};

	phrase_fold_begin();
	phrase_words_of(&words, text);
	return words.n;
}

/* ------------------------------------------------------------------- index */

typedef struct IndexedPhrase
{
	int			owner;
	int			nwords;
	int			anchor;			/* the word by which it is found */
	PhraseWord *words;
	int			next;			/* the next phrase with the same anchor; -1: none */
} IndexedPhrase;

typedef struct PhraseSlot
{
	uint64		hash;
	int			nphrases;		/* that contain the word; 0: the slot is free */
	int			first;			/* the first phrase whose anchor the word is; -1: none */
} PhraseSlot;

struct PhraseIndex
{
	int			n;
	IndexedPhrase *phrases;
	uint64		mask;			/* number of slots, a power of two, minus 1 */
	PhraseSlot *slots;

	/* by owner: the number of the search that found it last, and its place in "found" */
	uint64		looks;
	uint64	   *found_in;
	int		   *places;
};

/* the slot of the word, or the free slot in which it belongs */
static inline PhraseSlot *
phrase_slot(const PhraseIndex *index, uint64 hash)
{
	uint64		i = (hash ^ (hash >> 32)) & index->mask;

	while (index->slots[i].nphrases != 0 && index->slots[i].hash != hash)
		i = (i + 1) & index->mask;
	return &index->slots[i];
}

static PhraseWord *
phrase_keep_words(const PhraseWords *words)
{
	PhraseWord *kept = palloc(sizeof(PhraseWord) * words->n);

	for (int i = 0; i < words->n; i++)
	{
		char	   *copy = palloc(words->items[i].text.len);

		for (int c = 0; c < words->items[i].text.len; c++)
			copy[c] = folded[(unsigned char) words->items[i].text.s[c]];
		kept[i] = (PhraseWord) {words->items[i].hash, {copy, words->items[i].text.len}};
	}
	return kept;
}

/* Adds the phrases, and returns the number of words in all of them. */
static int
phrase_index_fill(PhraseIndex *index, const Phrase *phrases, int n)
{
	PhraseWords words = {0};
	int			total = 0;

	for (int i = 0; i < n; i++)
	{
		phrase_words_of(&words, phrases[i].text);
		if (words.n == 0)
			continue;
		index->phrases[index->n++] = (IndexedPhrase) {
			.owner = phrases[i].owner, .nwords = words.n, .words = phrase_keep_words(&words)
		};
		total += words.n;
	}
	return total;
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
	int			total;
	uint64		slots;

	phrase_fold_begin();
	index->phrases = palloc(sizeof(IndexedPhrase) * Max(n, 1));
	index->found_in = palloc0(sizeof(uint64) * Max(nowners, 1));
	index->places = palloc(sizeof(int) * Max(nowners, 1));
	total = phrase_index_fill(index, phrases, n);
	/* most slots are free, so one comparison is enough for most words that are in no phrase */
	slots = pg_nextpower2_64((uint64) Max(total, 1) * 8);
	index->mask = slots - 1;
	index->slots = palloc0(sizeof(PhraseSlot) * slots);
	for (int i = 0; i < index->n; i++)
		for (int w = 0; w < index->phrases[i].nwords; w++)
		{
			PhraseSlot *slot = phrase_slot(index, index->phrases[i].words[w].hash);

			slot->hash = index->phrases[i].words[w].hash;
			slot->nphrases++;
			slot->first = -1;
		}
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
		if (look->n == look->room)
		{
			look->room = Max(16, look->room * 2);
			look->found = look->found == NULL ? palloc(sizeof(PhraseFound) * look->room) :
				repalloc_huge(look->found, sizeof(PhraseFound) * look->room);
		}
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

		if (slot->nphrases == 0)
			continue;
		for (int no = slot->first; no >= 0; no = index->phrases[no].next)
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
