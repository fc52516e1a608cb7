/*-------------------------------------------------------------------------
 *
 * phrase_word.c
 *	  Finding phrases in a document: the words of a text.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/phrase_part.h"

#include "base/array.h"
#include "base/collation.h"
#include "common/unicode_norm.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/formatting.h"

#define HASH_BASIS	UINT64CONST(14695981039346656037)
#define HASH_PRIME	UINT64CONST(1099511628211)

/* by byte: the byte in lower case, or 0 if it is not part of a word */
static unsigned char folded[256];

void
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
	array_make_room(words->items, words->n, words->room);
	words->items[words->n++] = (PhraseWord) {hash, text};
}

/* Splits a text.  Returns whether it has a byte that is not ASCII. */
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

/*
 * Ranges of Unicode characters that are not part of a word, in ascending
 * order.
 */
typedef struct PhraseRange
{
	pg_wchar	first;
	pg_wchar	last;
	bool		is_symbol;		/* each character is a word by itself; other
								 * characters separate words */
} PhraseRange;

static const PhraseRange phrase_ranges[] = {
	{0x80, 0xA9, false}, {0xAB, 0xB4, false}, {0xB6, 0xB9, false}, {0xBB, 0xBF, false}, {0xD7, 0xD7, false},
	{0xF7, 0xF7, false}, {0x37E, 0x37E, false}, {0x387, 0x387, false}, {0x55A, 0x55F, false}, {0x589, 0x58A, false},
	{0x5BE, 0x5BE, false}, {0x5C0, 0x5C0, false}, {0x5C3, 0x5C3, false}, {0x5C6, 0x5C6, false}, {0x5F3, 0x5F4, false},
	{0x60C, 0x60D, false}, {0x61B, 0x61F, false}, {0x66A, 0x66D, false}, {0x6D4, 0x6D4, false}, {0x700, 0x70D, false},
	{0x964, 0x965, false}, {0x970, 0x970, false}, {0xE4F, 0xE4F, false}, {0xE5A, 0xE5B, false}, {0xF04, 0xF12, false},
	{0x104A, 0x104F, false}, {0x1361, 0x1368, false}, {0x17D4, 0x17DA, false}, {0x1800, 0x180A, false},
	{0x2000, 0x206F, false}, {0x20A0, 0x20CF, false}, {0x2190, 0x22FF, false}, {0x2300, 0x23FF, true},
	{0x2400, 0x25FF, false}, {0x2600, 0x27BF, true}, {0x27C0, 0x2AFF, false}, {0x2B00, 0x2BFF, true},
	{0x2E00, 0x2E7F, false}, {0x3000, 0x3004, false}, {0x3008, 0x3020, false}, {0x3030, 0x3030, false},
	{0x303D, 0x303F, false}, {0x30FB, 0x30FB, false}, {0xFE00, 0xFE19, false}, {0xFE30, 0xFE6F, false},
	{0xFEFF, 0xFF0F, false}, {0xFF1A, 0xFF20, false}, {0xFF3B, 0xFF40, false}, {0xFF5B, 0xFF65, false},
	/*
	 * skin tones, which are between other symbols: an emoji is the same word
	 * in all of them
	 */
	{0x1F000, 0x1F3FA, true}, {0x1F3FB, 0x1F3FF, false}, {0x1F400, 0x1FAFF, true}, {0xE0000, 0xE007F, false}
};

/*
 * Returns the range that contains the character, or NULL if it is part of a
 * word.
 */
static const PhraseRange *
phrase_range_of(pg_wchar c)
{
	int			from = 0;
	int			to = lengthof(phrase_ranges);

	while (from < to)
	{
		int			middle = (from + to) / 2;

		if (c > phrase_ranges[middle].last)
			from = middle + 1;
		else
			to = middle;
	}
	return from < lengthof(phrase_ranges) && c >= phrase_ranges[from].first ? &phrase_ranges[from] : NULL;
}

/*
 * Is the character unchanged in normal form C, and never combined with the one
 * before it?  This is not so for combining marks, for vowels and finals of
 * Hangul, and for characters that normal form C replaces.  After U+0345, which
 * has the highest combining class of all, every mark would be out of order.
 */
static bool
phrase_begins_anew(pg_wchar c)
{
	pg_wchar	alone[] = {c, 0};
	pg_wchar	behind_mark[] = {0x345, c, 0};

	/* Latin letters, ideographs and Hangul syllables */
	if (c < 0x300 || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7A3))
		return true;
	return unicode_is_normalized_quickcheck(UNICODE_NFC, alone) == UNICODE_NORM_QC_YES &&
		unicode_is_normalized_quickcheck(UNICODE_NFC, behind_mark) != UNICODE_NORM_QC_NO;
}

/*
 * The time for normalizing grows with the square of the number of marks in a
 * row, and it cannot be interrupted.  Therefore the text is cut into pieces:
 * before a character that begins anew and, within a row of marks that is
 * longer than in any language, between two of them.
 */
#define PIECE_CHARACTERS		32
#define PIECE_OF_MARKS			128

/* Appends the characters, which end with 0, in normal form C. */
static void
phrase_append_composed(StringInfo composed, const pg_wchar *characters)
{
	pg_wchar   *normal = unicode_normalize(UNICODE_NFC, characters);

	for (const pg_wchar *c = normal; *c != 0; c++)
	{
		unsigned char bytes[8];

		unicode_to_utf8(*c, bytes);
		appendBinaryStringInfo(composed, (const char *) bytes, pg_utf_mblen(bytes));
	}
	pfree(normal);
}

/*
 * Returns the text in normal form C, in which letters and their marks are one
 * character if there is one.
 */
static Slice
phrase_compose(Slice text)
{
	pg_wchar	piece[PIECE_OF_MARKS + 1];
	StringInfoData composed;
	int			n = 0;

	initStringInfo(&composed);
	for (int i = 0; i < text.len; i += pg_utf_mblen((const unsigned char *) text.s + i))
	{
		pg_wchar	c = utf8_to_unicode((const unsigned char *) text.s + i);

		if (n >= PIECE_OF_MARKS || (n >= PIECE_CHARACTERS && phrase_begins_anew(c)))
		{
			CHECK_FOR_INTERRUPTS();
			piece[n] = 0;
			phrase_append_composed(&composed, piece);
			n = 0;
		}
		piece[n++] = c;
	}
	piece[n] = 0;
	phrase_append_composed(&composed, piece);
	return (Slice) {composed.data, composed.len};
}

/*
 * Puts blanks in place of characters that separate words, and around symbols.
 */
static Slice
phrase_separate(Slice text)
{
	StringInfoData separated;

	initStringInfo(&separated);
	enlargeStringInfo(&separated, text.len + text.len / 4);
	for (int i = 0; i < text.len;)
	{
		int			bytes = pg_utf_mblen((const unsigned char *) text.s + i);
		const PhraseRange *range = bytes == 1 ? NULL : phrase_range_of(utf8_to_unicode((const unsigned char *) text.s + i));

		if (range != NULL)
			appendStringInfoChar(&separated, ' ');
		if (range == NULL || range->is_symbol)
			appendBinaryStringInfo(&separated, text.s + i, bytes);
		if (range != NULL && range->is_symbol)
			appendStringInfoChar(&separated, ' ');
		i += bytes;
	}
	return (Slice) {separated.data, separated.len};
}

/*
 * Returns a copy in lower case, in which all words are separated by ASCII
 * characters.
 */
static Slice
phrase_fold(Slice text)
{
	Slice		lower = slice_of_cstring(str_tolower(text.s, text.len, collation_of_letters()));
	bool		is_composed = true;

	for (int i = 0; i < lower.len && is_composed; i += pg_utf_mblen((const unsigned char *) lower.s + i))
		is_composed = phrase_begins_anew(utf8_to_unicode((const unsigned char *) lower.s + i));
	return phrase_separate(is_composed ? lower : phrase_compose(lower));
}

void
phrase_words_of(PhraseWords *words, Slice text)
{
	if (phrase_words_split(words, text))
		(void) phrase_words_split(words, phrase_fold(text));
}

bool
phrase_word_equal(const PhraseWord *kept, const PhraseWord *word)
{
	if (kept->hash != word->hash || kept->text.len != word->text.len)
		return false;
	for (int i = 0; i < word->text.len; i++)
		if (folded[(unsigned char) word->text.s[i]] != (unsigned char) kept->text.s[i])
			return false;
	return true;
}

PhraseWord *
phrase_keep_words(const PhraseWords *words)
{
	PhraseWord *kept = palloc(sizeof(PhraseWord) * words->n);
	int			bytes = 0;
	char	   *copy;

	for (int i = 0; i < words->n; i++)
		bytes += words->items[i].text.len;
	copy = palloc(bytes);
	for (int i = 0; i < words->n; i++)
	{
		Slice		text = words->items[i].text;

		kept[i] = (PhraseWord) {words->items[i].hash, {copy, text.len}};
		for (int c = 0; c < text.len; c++)
			*copy++ = folded[(unsigned char) text.s[c]];
	}
	return kept;
}

int
phrase_count_words(Slice text)
{
	PhraseWords words = {0};

	phrase_fold_begin();
	phrase_words_of(&words, text);
	if (words.items != NULL)
		pfree(words.items);
	return words.n;
}
