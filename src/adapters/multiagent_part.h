/*-------------------------------------------------------------------------
 *
 * multiagent_part.h
 *	  For the files of multiagent alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MULTIAGENT_PART_H
#define CLUTCH_MULTIAGENT_PART_H

#include "adapters/multiagent.h"

/*
 * Makes the payload, and the attachments, of an envelope whose type is known: the document
 * without the members that have another place in an envelope, in the form that the type
 * prescribes.
 */
extern void multiagent_read_payload(const Adapter *self, const Json *raw, Json *envelope);

/* the document that the payload and the attachments make: content, outputs, ... */
extern Json *multiagent_document_of(const Adapter *self, const Json *envelope);

/* "tool:" and the name of the tool that a document names; absent: it names none */
extern Slice multiagent_tool(const Json *raw);

#endif							/* CLUTCH_MULTIAGENT_PART_H */
