/*-------------------------------------------------------------------------
 *
 * translation_part.h
 *	  For the files of translation alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSLATION_PART_H
#define CLUTCH_TRANSLATION_PART_H

#include "adapters/translation.h"
#include "base/crypto.h"

/* the translation of one document */
typedef struct Translation
{
	const Adapter *adapter;
	const Json *document;		/* as it came in, but without credentials */
	const Json *context;
	const TranslationWorld *world;
	CryptoHash	seed;			/* of derived IDs: hash of the secret, the adapter and the realm */
	Json	   *dropped;		/* paths of the credentials that were removed; NULL: none */
	bool		has_stub;		/* a stub is among the envelopes ... */
	Slice		stub_native;	/* ... and stands for this native ID */
	const Json *natives;		/* the native IDs of the envelope that is being completed; NULL: none */
	Slice		digest;			/* hash of the document; absent until it is needed */
} Translation;

/* Computes the seed. */
extern void translation_begin(Translation *t);

/*
 * Fills in the run, the thread and the tasks, if the adapter has left them open.  "place"
 * is the number of the envelope among those of the document, from 0.
 */
extern void translation_complete_place(Translation *t, Json *envelope, int place);

/*
 * Fills in all other fields that an envelope needs.  Its run, thread and task must have
 * been filled in.  Returns false for a stub that is not needed.
 */
extern bool translation_complete(Translation *t, Json *envelope, int place);

/* Gives an envelope the run, thread and task of "bearer", as far as it names none; "bearer" has them. */
extern void translation_inherit(Translation *t, Json *envelope, const Json *bearer);

#endif							/* CLUTCH_TRANSLATION_PART_H */
