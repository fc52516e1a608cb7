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
	const Json *uncarried;		/* the document without its carrier */
	const Json *context;
	const TranslationWorld *world;
	CryptoHash	seed;			/* of derived IDs: hash of the secret, the adapter and the realm */
	Json	   *dropped;		/* paths of the credentials that were removed; NULL: none */
	bool		has_stub;		/* a stub is among the envelopes ... */
	Slice		stub_native;	/* ... and stands for this native ID */
	const Json *natives;		/* the native IDs of the envelope that is being completed; NULL: none */
	Slice		digest;			/* hash of the document; absent until it is needed */
	int		   *ranks;			/* by place: how many envelopes of this native ID come before; NULL: none */
} Translation;

extern bool translation_is_stub(const Adapter *adapter, const Json *envelope);

/* Computes the seed. */
extern void translation_begin(Translation *t);

/*
 * Fills in the run, the thread and the tasks, if the adapter has left them open.  "place"
 * is the number of the envelope among those of the document, from 0.
 */
extern void translation_complete_place(Translation *t, Json *envelope, int place);

/*
 * Tells envelopes apart that have one native ID, such as a message and its tool call in a
 * dialect that numbers them separately.  The first tool.call among them, because answers name
 * it, or else the first of them, is given the ID that it would have alone.  The envelopes are
 * all those of the document, with their runs.
 */
extern void translation_rank(Translation *t, List *envelopes);

/*
 * Fills in all other fields that an envelope needs.  Its run, thread and task must have
 * been filled in.  Returns false for a stub that is not needed.
 */
extern bool translation_complete(Translation *t, Json *envelope, int place);

/* Gives an envelope the run, thread and task of "bearer", as far as it names none; "bearer" has them. */
extern void translation_inherit(Translation *t, Json *envelope, const Json *bearer);

/* -------------------------------------------------- translation_carrier.c */

/*
 * Removes the value at the path, and the objects that contained nothing else, except elements
 * of arrays; returns the value.  An empty result stays, because without it, a response of
 * JSON-RPC would be none.
 */
extern Json *translation_take(Json *document, const char *path);

/* the path of the carrier in a document, and its form; NULL: the document has no place for one */
extern const char *translation_carrier_path(const Adapter *adapter, const Json *raw, AdapterCarrierForm *form);

/*
 * Removes the credentials from a document, also from a carrier that is encoded for a header.
 * Returns their paths; NULL: there were none.
 */
extern Json *translation_clean(const Adapter *adapter, Json *raw);

/* Removes the carrier from a document and returns its changes; NULL: the document has no carrier. */
extern Json *translation_take_carrier(const Adapter *adapter, Json *raw);

/* Puts changes, which are copied, into a document as its carrier. */
extern void translation_put_carrier(const Adapter *adapter, Json *raw, const Json *changes);

/* --------------------------------------------------- translation_change.c */

/*
 * Notes in an envelope what its fields are before anybody changes them, as "digest".  "plain"
 * has these fields, and may be the envelope itself.  has_time: its time is that of the
 * document, and not that of the translation.
 */
extern void translation_note_digest(const Adapter *adapter, Json *envelope, const Json *plain, bool has_time);

/*
 * The changes (json_difference) that lead from "back", the envelope that a document makes, to
 * one with everything that has been changed since translation_note_digest.  "unmarked" is the
 * envelope as the document was made of it.  The changes include the note "kept", by which
 * translation_inbound recognizes that the envelope was foreign.  NULL: "back" lacks nothing.
 */
extern Json *translation_changes(const Adapter *adapter, const Json *envelope, const Json *unmarked, const Json *back);

/* Has any field been changed since translation_note_digest? */
extern bool translation_is_changed(const Adapter *adapter, const Json *envelope);

#endif							/* CLUTCH_TRANSLATION_PART_H */
