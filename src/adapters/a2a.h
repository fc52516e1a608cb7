/*-------------------------------------------------------------------------
 *
 * a2a.h
 *	  The Agent2Agent protocol (A2A), versions 1.0 and 0.3.
 *
 * A document is a JSON-RPC request or response, or the body of a REST call, a
 * stream item or a push notification, provided that it can be told from the
 * documents of other protocols.  The version of the document is noted in the
 * envelope, and outbound writes that version again.  AgentCards are handled by
 * card.h.  docs/adapters.md has the mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_A2A_H
#define CLUTCH_A2A_H

#include "adapters/adapter.h"

extern const Adapter a2a_adapter;

/*
 * Returns the artifact in a document that updates one, in the format of
 * version 1.0, or NULL if it is another document.
 */
extern Json *a2a_artifact_in(const Json *raw);

/* Is the part a text without anything else that matters? */
extern bool a2a_is_plain_text(const Json *part);

#endif							/* CLUTCH_A2A_H */
