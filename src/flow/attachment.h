/*-------------------------------------------------------------------------
 *
 * attachment.h
 *	  Which artifacts an envelope attaches, and whether its sender may.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ATTACHMENT_H
#define CLUTCH_ATTACHMENT_H

#include "store/event.h"

/*
 * May the current role read the artifact?  Whoever has uploaded it may, and whoever
 * may read an event that attaches it (flow/sight).
 */
extern bool attachment_may_read(Slice digest, RowSnapshot which);

/*
 * From now on, what an event attaches depends on the rights of this agent, and not on those of
 * the current role: what the agent may read, and the artifacts with these references, a List of
 * Slice *, which were made for it.  An absent agent ends this; the caller makes sure that it
 * also ends after an error.
 */
extern void attachment_act_for(Slice agent_id, const List *made);

/*
 * The event, which is admitted and has its seq, uses the artifacts that it attaches,
 * so those who take part in its run may read them.  A reference to one that is not
 * there, or that the sender may not read, is ignored or refused
 * (clutch.dangling_artifacts): otherwise, whoever has learned a digest could attach it
 * to read the content.
 */
extern void attachment_take(const Event *event);

#endif							/* CLUTCH_ATTACHMENT_H */
