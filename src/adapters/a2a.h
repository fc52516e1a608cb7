/*-------------------------------------------------------------------------
 *
 * a2a.h
 *	  The Agent2Agent protocol (A2A), versions 1.0 and 0.3.
 *
 * A document is a request or a response in JSON-RPC, or a body of the REST binding, of a
 * stream or of a push notification, provided that it differs from the documents of other
 * protocols.  The version of the document is noted in the envelope, which is written in
 * that version again.  AgentCards are handled by card.h.  docs/adapters.md has the
 * mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_A2A_H
#define CLUTCH_A2A_H

#include "adapters/adapter.h"

extern const Adapter a2a_adapter;

#endif							/* CLUTCH_A2A_H */
