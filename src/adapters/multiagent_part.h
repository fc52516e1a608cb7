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
 * Makes the payload and the attachments of an envelope that has its type already.  The
 * payload consists of the members that have no other place in an envelope, in the form
 * that the type prescribes.
 */
extern void multiagent_read_payload(const Adapter *self, const Json *raw, Json *envelope);

/* the members that are made of the payload and the attachments: content, outputs, ... */
extern Json *multiagent_document_of(const Adapter *self, const Json *envelope);

/* the ID of the tool that a document names, "tool:<name>"; absent: it names none */
extern Slice multiagent_tool(const Json *raw);

#endif							/* CLUTCH_MULTIAGENT_PART_H */
