/*-------------------------------------------------------------------------
 *
 * phrase_part.h
 *	  What the files of phrase share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PHRASE_PART_H
#define CLUTCH_PHRASE_PART_H

#include "routing/phrase.h"

/* a word in a text; the hash (FNV-1a) is that of its bytes in lower case */
typedef struct PhraseWord
{
	uint64		hash;
	Slice		text;
} PhraseWord;

/* the words of one string; the array is reused for the next string */
typedef struct PhraseWords
{
	int			n;
	int			room;
	PhraseWord *items;
} PhraseWords;

/* to be called before the others */
extern void phrase_fold_begin(void);

/* Splits a text into words, in place of those that are there. */
extern void phrase_words_of(PhraseWords *words, Slice text);

/*
 * Returns a palloc'd copy of the words in lower case, the bytes of all of them
 * behind one another.
 */
extern PhraseWord *phrase_keep_words(const PhraseWords *words);

/* Compares a word with one that was kept. */
extern bool phrase_word_equal(const PhraseWord *kept, const PhraseWord *word);

#endif							/* CLUTCH_PHRASE_PART_H */
