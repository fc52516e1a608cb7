/*-------------------------------------------------------------------------
 *
 * translation.h
 *	  Translation without loss, for every adapter.
 *
 * A plain translation (adapter.h) knows what has a row in the mapping.  Two differences
 * make both ways lossless:
 *
 *	meta.<name>.kept	of an envelope that was made of a document: what turns the
 *						document that the plain translation would make of it into the
 *						one that came in.  Each change is made only where there is
 *						still what was there, so what has been changed in the
 *						envelope shows in the document.
 *	the carrier			of a document that was made of an envelope that never was
 *						foreign: what turns the envelope that the plain translation
 *						would make of it into the one that went out.
 *
 * Of a document that makes several envelopes, the first that is not a stub stands for
 * the document, and becomes it again.  The others are companions, whose meta.<name>.part_of
 * is its ID: each becomes a document of its own, as if it had never been foreign.
 *
 * IDs are derived from those of the dialect with the secret of the database, the name
 * of the adapter and the realm, so the same document makes the same envelopes for all
 * who act in the same realm, and nobody else can compute their IDs.
 *
 * meta.<name>.dropped lists the paths of the credentials that the document had.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSLATION_H
#define CLUTCH_TRANSLATION_H

#include "adapters/adapter.h"
#include "datatype/timestamp.h"

/* what the caller says beside the document; adapters do not see it */
typedef struct TranslationWorld
{
	TimestampTz now;
	Slice		secret;
	Slice		realm;

	/* the sender of a document that names none */
	Slice		(*default_agent) (void);

	/* Is there an event of this ID in the log? */
	bool		(*was_sent) (Slice id, Slice run_id);

	/* and may the caller see it? */
	bool		(*may_see) (Slice id, Slice run_id);

	/* who has requested a task that the caller may see; absent: there is none */
	Slice		(*find_requester) (Slice task_id);

	/* the run and the thread of a task that the caller may see; false: there is none */
	bool		(*find_task) (Slice task_id, Slice *run_id, Slice *thread_id);
} TranslationWorld;

/*
 * The envelopes that a document makes, in the order in which they are to be sent, as a
 * List of Json *.  Changes the document.  The context is an object; its members agent_id,
 * to, run_id, thread_id, task_id and parent_task_id say what the document does not, and
 * agent_id is the sender even if the document names another.
 */
extern List *translation_inbound(const Adapter *adapter, Json *raw, const Json *context,
								 const TranslationWorld *world);

/* The document that an envelope makes.  The envelope is valid. */
extern Json *translation_outbound(const Adapter *adapter, const Json *envelope);

#endif							/* CLUTCH_TRANSLATION_H */
