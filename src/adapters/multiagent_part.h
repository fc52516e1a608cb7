/*-------------------------------------------------------------------------
 *
 * multiagent_part.h
 *	  Private declarations of multiagent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MULTIAGENT_PART_H
#define CLUTCH_MULTIAGENT_PART_H

#include "adapters/multiagent.h"

/*
 * Makes the payload and the attachments of an envelope that has its type
 * already.  The payload consists of the members that have no other place in an
 * envelope, in the form that the type prescribes.
 */
extern void multiagent_read_payload(const Adapter *self, const Json *raw, Json *envelope);

/*
 * Returns the members that are made from the payload and the attachments:
 * content, outputs, ...
 */
extern Json *multiagent_document_of(const Adapter *self, const Json *envelope);

/*
 * Returns the ID of the tool that a document names, "tool:<name>", or an
 * absent slice if it names none.
 */
extern Slice multiagent_tool(const Json *raw);

/*
 * Does the payload have the members of a message?  It does if the envelope was
 * made from a message, or if an intent is noted, as in requests made by rules.
 */
extern bool multiagent_is_message(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_MULTIAGENT_PART_H */
