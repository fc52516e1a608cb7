/*-------------------------------------------------------------------------
 *
 * phrase.h
 *	  Finding phrases in a document.
 *
 * A phrase is a word or a sequence of words.  A word is a sequence of letters and digits,
 * or a symbol like an emoji.  Neither case nor the characters between words matter: "pinterest.com" is a phrase of
 * two words, which is found in "on Pinterest.com?".  Only whole words are found, and all
 * words of a phrase must be in the same string of the document.
 *
 * The cost of a search depends on the length of the document's text and not on the number
 * of phrases, because each phrase is looked up by the one of its words that occurs in the
 * fewest phrases.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PHRASE_H
#define CLUTCH_PHRASE_H

#include "base/text.h"
#include "utils/jsonb.h"

typedef struct PhraseIndex PhraseIndex;

/* a phrase that is to be found */
typedef struct Phrase
{
	int			owner;			/* a number from 0; several phrases may have the same owner */
	Slice		text;
} Phrase;

/* an owner with a phrase that occurs in the document */
typedef struct PhraseFound
{
	int			owner;
	int			nwords;			/* of the longest phrase of the owner that occurs */
} PhraseFound;

/* Returns the number of words in a text. */
extern int	phrase_count_words(Slice text);

/* An index of n phrases, whose owners are less than nowners, palloc'd.  Phrases without words are ignored. */
extern PhraseIndex *phrase_index_make(const Phrase *phrases, int n, int nowners);

/*
 * Searches all strings of a document, but not its keys.  Returns the number of owners that
 * were found, each of which is once in *found, a palloc'd array or NULL.  The index counts
 * the searches, so it is changed.
 */
extern int	phrase_find(PhraseIndex *index, const JsonbContainer *document,
						PhraseFound **found);

#endif							/* CLUTCH_PHRASE_H */
