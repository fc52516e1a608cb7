/*-------------------------------------------------------------------------
 *
 * phrase.h
 *	  Finding phrases in a document.
 *
 * A phrase is a sequence of one or more words.  A word is a sequence of
 * letters and digits, or a symbol like an emoji.  Neither case nor the
 * characters between words matter: "pinterest.com" is a phrase of two words,
 * and is found in "on Pinterest.com?".  Only whole words are found, and all
 * words of a phrase must be in the same string of the document.
 *
 * The cost of a search depends on the length of the document's text rather
 * than on the number of phrases, because each phrase is looked up by the one
 * of its words that occurs in the fewest phrases.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PHRASE_H
#define CLUTCH_PHRASE_H

#include "base/text.h"
#include "utils/jsonb.h"

typedef struct PhraseIndex PhraseIndex;

/* a phrase to be found */
typedef struct Phrase
{
	int			owner;			/* a number from 0 on; several phrases may have
								 * the same owner */
	Slice		text;
} Phrase;

/* an owner with a phrase that occurs in the document */
typedef struct PhraseFound
{
	int			owner;
	int			nwords;			/* length of the owner's longest phrase that
								 * occurs, in words */
} PhraseFound;

/* Returns the number of words in a text. */
extern int	phrase_count_words(Slice text);

/*
 * Makes an index of n phrases, palloc'd.  Their owners must be less than
 * nowners.  Phrases without words are ignored.
 */
extern PhraseIndex *phrase_index_make(const Phrase *phrases, int n, int nowners);

/*
 * Searches all strings of a document, but not its keys.  Returns the number of
 * owners that were found, each of which occurs once in *found, a palloc'd
 * array or NULL.  Modifies the index, which counts the searches.
 */
extern int	phrase_find(PhraseIndex *index, const JsonbContainer *document,
						PhraseFound **found);

#endif							/* CLUTCH_PHRASE_H */
