/*-------------------------------------------------------------------------
 *
 * translation_part.h
 *	  Private declarations of translation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSLATION_PART_H
#define CLUTCH_TRANSLATION_PART_H

#include "adapters/translation.h"
#include "base/crypto.h"

/* the state while one document is translated */
typedef struct Translation
{
	const Adapter *adapter;
	const Json *document;		/* as it came in, but without credentials */
	const Json *uncarried;		/* the document without its carrier */
	const Json *context;
	const TranslationWorld *world;
	CryptoHash	seed;			/* for derived IDs: a hash of the secret, the
								 * adapter and the realm */
	Json	   *dropped;		/* paths of the credentials that were removed,
								 * or NULL if none */
	bool		has_stub;		/* a stub is among the envelopes ... */
	Slice		stub_native;	/* ... and stands for this native ID */
	const Json *natives;		/* the native IDs of the envelope that is being
								 * completed, or NULL if none */
	Slice		digest;			/* hash of the document; absent until it is needed */
	int		   *ranks;			/* by place: how many envelopes with the same
								 * native ID come before it, or NULL if none */
} Translation;

/* ------------------------------------------------------ translation_id.c */

/* Computes the seed. */
extern void translation_begin(Translation *t);

/*
 * Returns a native identifier of the envelope that is being completed, as
 * bytes, or an absent slice.  A number differs from every text.
 */
extern Slice translation_native(const Translation *t, const char *field);

/* Returns the bytes of any native identifier, or an absent slice. */
extern Slice translation_native_bytes(const Json *native);

/*
 * Returns the ID that is derived from a native one.  It is unique within a
 * run, or everywhere if "within" is absent.
 */
extern Slice translation_derive(const Translation *t, const char *prefix, const char *kind, Slice within,
								Slice native);

/*
 * Returns what identifies the envelope: its native ID, or else the hash of the
 * document, the number of the envelope in it, and the session that the context
 * names.  *kind says which of them it is.
 */
extern Slice translation_key(Translation *t, int place, const char **kind);

/*
 * Ranks envelopes that have the same native ID, such as a message and its tool
 * call in a dialect that numbers them separately, so that different IDs are
 * derived for them.  The first tool.call among them, because answers name it,
 * or else the first envelope, gets the ID that it would have alone.  The list
 * contains all envelopes of the document, with their runs.
 */
extern void translation_rank(Translation *t, List *envelopes);

/* ----------------------------------------------- translation_session.c */

/*
 * Returns the context with a hash in place of the session.  Adapters note the
 * session as what IDs are unique in, and whoever may read the run could take
 * part in it if the note told its name.
 */
extern const Json *translation_hide_session(const Translation *t);

/* --------------------------------------------------- translation_draft.c */

/*
 * Checks the members of the context that all adapters know, even if the
 * document needs none of them.  Raises 22023.
 */
extern void translation_check_whole_context(const Translation *t);

/*
 * Fills in the run, the thread and the tasks if the adapter has left them
 * open.  "place" is the number of the envelope among those of the document,
 * from 0.
 */
extern void translation_complete_place(Translation *t, Json *envelope, int place);

/*
 * Does this for all envelopes of a document, and ranks them.  "bearer" takes
 * the place of "plain", and the others belong to its run, thread and task
 * unless they name their own.
 */
extern void translation_complete_places(Translation *t, List *envelopes, Json *bearer, const Json *plain);

/*
 * Fills in all other fields that an envelope needs.  Its run, thread and task
 * must already be there.  Returns false for a stub that is not needed.
 */
extern bool translation_complete(Translation *t, Json *envelope, int place);

/* -------------------------------------------------- translation_carrier.c */

/*
 * Removes the value at the path and returns it.  Also removes the objects that
 * contained nothing else, except elements of arrays.  An empty "result" stays,
 * because without it a JSON-RPC response would not be one.
 */
extern Json *translation_take(Json *document, const char *path);

/*
 * Returns the path of the carrier in a document and sets its form, or returns
 * NULL if the document has no place for one.
 */
extern const char *translation_carrier_path(const Adapter *adapter, const Json *raw, AdapterCarrierForm *form);

/*
 * Removes the credentials from a document, including those in a carrier that
 * is encoded for a header.  Returns their paths, or NULL if there were none.
 */
extern Json *translation_clean(const Adapter *adapter, Json *raw);

/* Puts a copy of the changes into a document as its carrier. */
extern void translation_put_carrier(const Adapter *adapter, Json *raw, const Json *changes);

/*
 * Returns the document without any value in the place of the carrier, and
 * without a null on the way to it, as it will be when it is read back.
 */
extern Json *translation_uncarried(const Adapter *adapter, Json *document);

/*
 * Replaces what a carrier has said, but only the database may say.  A
 * task.timeout from another database becomes a task.error.  Any other such type
 * is replaced by "plain", the type that the document has without its carrier.
 * That the other database has moved a task is no order here, and is only noted.
 */
extern void translation_make_sendable(const Adapter *adapter, Json *envelope, Slice plain);

/* --------------------------------------------------- translation_change.c */

/*
 * Returns which fields and identifiers the document, with its carrier, has
 * given the envelope, before any others are filled in.
 */
extern int	translation_said(const Translation *t, const Json *bearer, const List *envelopes);

/*
 * Notes hashes of the fields of an envelope, as "digest", before anybody
 * changes them, and what translation_said has returned.  They are computed from
 * "plain", which may be the envelope itself.  has_time says that the time comes
 * from the document, and not from the translation.
 */
extern void translation_note_digest(const Adapter *adapter, Json *envelope, const Json *plain, bool has_time, int said);

/* Is the first of the envelopes of a document the stub of a call, which the next one then answers? */
extern bool translation_has_stub(const Adapter *adapter, const List *envelopes);

/* reading a document back as an envelope */
typedef struct TranslationReading
{
	const Adapter *adapter;
	const Json *document;
	const Json *context;
	Json	   *bearer;			/* NULL if the document makes no envelope */
	bool		has_stub;
	bool		is_subtask;		/* the task in the context is its parent task */
} TranslationReading;

/*
 * Returns the changes (json_difference) that lead from the envelope that was
 * read to one with everything that has been changed since
 * translation_note_digest. "unmarked" is the envelope as the document was made
 * from it.  The changes include the note "kept", by which translation_inbound
 * recognizes that the envelope was foreign.  Returns NULL if the envelope that
 * was read lacks nothing.
 */
extern Json *translation_changes(const TranslationReading *reading, const Json *envelope, const Json *unmarked);

/* Has any field been changed since translation_note_digest? */
extern bool translation_is_changed(const Adapter *adapter, const Json *envelope);

/* Has it, and was the task of the envelope named by the context, and not by the document? */
extern bool translation_was_in_task(const Adapter *adapter, const Json *envelope);

#endif							/* CLUTCH_TRANSLATION_PART_H */
