/*-------------------------------------------------------------------------
 *
 * phrase_part.h
 *	  Private declarations of phrase.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PHRASE_PART_H
#define CLUTCH_PHRASE_PART_H

#include "routing/phrase.h"

/* A word in a text.  The hash (FNV-1a) is that of its bytes in lower case. */
typedef struct PhraseWord
{
	uint64		hash;
	Slice		text;
} PhraseWord;

/* The words of one string.  The array is reused for the next string. */
typedef struct PhraseWords
{
	int			n;
	int			room;
	PhraseWord *items;
} PhraseWords;

/* Must be called before the other functions. */
extern void phrase_fold_begin(void);

/* Splits a text into words, which replace the previous ones. */
extern void phrase_words_of(PhraseWords *words, Slice text);

/*
 * Returns a palloc'd copy of the words in lower case, with the bytes of all
 * words one after another.
 */
extern PhraseWord *phrase_keep_words(const PhraseWords *words);

/* Is the word equal to one that phrase_keep_words has copied? */
extern bool phrase_word_equal(const PhraseWord *kept, const PhraseWord *word);

#endif							/* CLUTCH_PHRASE_PART_H */
