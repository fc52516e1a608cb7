/*-------------------------------------------------------------------------
 *
 * phrase.h
 *	  Phrases, and which of them occur in a document.
 *
 * A phrase is one word or several that follow one another.  A word is a run of
 * letters and digits; what stands between words does not count, and neither does
 * case: "pinterest.com" is a phrase of two words, which is found in "on
 * Pinterest.com?".  Only whole words count, and no phrase reaches from one string
 * of the document into another.
 *
 * A document costs as much as it has text, however many phrases there are: each
 * phrase is found by that of its words which the fewest phrases have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PHRASE_H
#define CLUTCH_PHRASE_H

#include "base/text.h"
#include "utils/jsonb.h"

typedef struct PhraseIndex PhraseIndex;

/* a phrase that somebody is looking for */
typedef struct Phrase
{
	int			owner;			/* a number, 0.. */
	Slice		text;
} Phrase;

/* an owner, one of whose phrases occurs */
typedef struct PhraseFound
{
	int			owner;
	int			nwords;			/* of the longest of them */
} PhraseFound;

/* How many words the text has. */
extern int	phrase_count_words(Slice text);

/* palloc'd; phrases without words are left out */
extern PhraseIndex *phrase_index_make(const Phrase *phrases, int n, int nowners);

/*
 * Looks through all strings of a document, but not through its keys.  Returns how
 * many owners were found, each once; *found is palloc'd, or NULL.  The index remembers
 * which look it was.
 */
extern int	phrase_find(PhraseIndex *index, const JsonbContainer *document,
						PhraseFound **found);

#endif							/* CLUTCH_PHRASE_H */
