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
	const Json *document;		/* without credentials */
	const Json *context;
	const TranslationWorld *world;
	CryptoHash	seed;			/* of the IDs that are derived: what is not in the document */
	Json	   *dropped;		/* where the credentials were; NULL: it had none */
	bool		has_stub;		/* it made one that is needed ... */
	Slice		stub_native;	/* ... for this native ID */
	Slice		digest;			/* the hash of the document, if it was asked for */
} Translation;

/* Makes the seed. */
extern void translation_begin(Translation *t);

/*
 * Fills in what an envelope needs and the adapter has left open.  place counts the
 * envelopes of the document from 0.  Returns false for a stub that is not needed.
 */
extern bool translation_complete(Translation *t, Json *envelope, int place);

/* Fills in run, thread and tasks alone. */
extern void translation_complete_place(Translation *t, Json *envelope, int place);

/* Gives an envelope that names no run, thread or task those of another one, which is complete. */
extern void translation_inherit(const Translation *t, Json *envelope, const Json *bearer);

#endif							/* CLUTCH_TRANSLATION_PART_H */
