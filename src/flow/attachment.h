/*-------------------------------------------------------------------------
 *
 * attachment.h
 *	  Attaching artifacts to envelopes, and who may do so.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ATTACHMENT_H
#define CLUTCH_ATTACHMENT_H

#include "store/event.h"

/*
 * May the current role read the artifact?  It may if it has uploaded it, or if
 * it may read an event that attaches it (flow/sight).
 */
extern bool attachment_may_read(Slice digest, RowSnapshot which);

/*
 * From now on, what an event may attach depends on the rights of this agent,
 * and not on those of the current role: on what the agent may read, and on the
 * artifacts with these references, a List of Slice *, which were made for it.
 * An absent agent ends this.  The caller makes sure that it also ends after an
 * error.
 */
extern void attachment_act_for(Slice agent_id, const List *made);

/*
 * Records that the event uses the artifacts that it attaches, so that those
 * who take part in its run may read them.  The event has been admitted and has
 * its seq.  A reference to an artifact that does not exist, or that the sender
 * may not read, is ignored or refused (clutch.dangling_artifacts); otherwise,
 * anybody who has learned a digest could attach it in order to read the
 * content.
 */
extern void attachment_take(const Event *event);

#endif							/* CLUTCH_ATTACHMENT_H */
