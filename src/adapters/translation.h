/*-------------------------------------------------------------------------
 *
 * translation.h
 *	  Lossless translation, for all adapters.
 *
 * A plain translation (adapter.h) loses what has no row in the mapping.  Two
 * differences restore it:
 *
 *	meta.<name>.kept	in an envelope that was made of a document: the
 *						difference between the document that the plain
 *						translation makes of the envelope and the original
 *						document.  Each change is applied only if the value
 *						that it replaces is still there, so a document shows
 *						what has been changed in the envelope.
 *	the carrier			in a document that was made of an envelope which was
 *						never foreign: the difference between the envelope that
 *						the plain translation makes of the document and the
 *						original envelope.
 *
 * If a document makes several envelopes, the first one that is not a stub
 * stands for the document, and outbound restores the document from it.  The
 * others are companions: their meta.<name>.part_of is the ID of the first one,
 * and outbound makes a separate document from each of them, as if it were not
 * foreign.
 *
 * IDs are derived from those of the dialect, the secret of the database, the
 * name of the adapter and the realm.  Therefore the same document always makes
 * the same envelopes within one realm, and nobody outside the database can
 * compute their IDs.
 *
 * meta.<name>.dropped lists the paths of the credentials that were removed
 * from the document.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRANSLATION_H
#define CLUTCH_TRANSLATION_H

#include "adapters/adapter.h"
#include "datatype/timestamp.h"

/*
 * What the translation needs to know about the database.  Adapters do not see
 * it.
 */
typedef struct TranslationWorld
{
	TimestampTz now;
	Slice		secret;			/* the secret of the database */
	Slice		realm;			/* names the callers that share derived IDs */

	/* Returns the sender for a document that names none. */
	Slice		(*default_agent) (void);

	/*
	 * Is an event with this ID in the log, or has the same call already made
	 * an envelope with this ID?
	 */
	bool		(*was_sent) (Slice id, Slice run_id);

	/* Is there an event with this ID that the caller may read? */
	bool		(*may_see) (Slice id, Slice run_id);

	/*
	 * Returns the agent that has requested the task, or an absent slice if
	 * there is no such task that the caller may read.
	 */
	Slice		(*find_requester) (Slice task_id);

	/*
	 * Finds the run and the thread of the task.  Returns false if there is no
	 * such task that the caller may read.
	 */
	bool		(*find_task) (Slice task_id, Slice *run_id, Slice *thread_id);

	/*
	 * Returns the task of the request with this ID, or an absent slice unless
	 * there is exactly one such request that the caller may read.
	 */
	Slice		(*find_requested_task) (Slice id);

	/*
	 * Does the thread of this ID have an event that the caller may read?  Only
	 * the first events of a thread count.
	 */
	bool		(*knows_thread) (Slice thread_id);
} TranslationWorld;

/*
 * Returns the envelopes for a document, as a List of Json *, in the order in
 * which they are to be sent.  They share values with the document, from which
 * credentials and the carrier are removed.  The context is an object.  Its
 * members to, run_id, thread_id, task_id and parent_task_id are used where the
 * document says nothing; agent_id is the sender even if the document names
 * another one.  Raises KL014 if the document is not valid, and 22023 if the
 * context is not.
 */
extern List *translation_inbound(const Adapter *adapter, Json *raw, const Json *context,
								 const TranslationWorld *world);

/*
 * Removes the carrier from a document and returns its changes, or NULL if the
 * document has no carrier.
 */
extern Json *translation_take_carrier(const Adapter *adapter, Json *raw);

/*
 * Returns the document for an envelope, which the caller must have validated.
 * Raises 0A000 if the dialect has no form for its type.
 */
extern Json *translation_outbound(const Adapter *adapter, const Json *envelope);

#endif							/* CLUTCH_TRANSLATION_H */
