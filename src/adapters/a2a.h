/*-------------------------------------------------------------------------
 *
 * a2a.h
 *	  The Agent2Agent protocol (A2A), versions 1.0 and 0.3.
 *
 * A document is a request or a response in JSON-RPC, or the body that the REST binding, a
 * stream or a push notification has instead, as far as it can be told from others.  The
 * envelope notes which version spoke, and is written in that version again.  AgentCards
 * are none of its business.  docs/adapters.md has the mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_A2A_H
#define CLUTCH_A2A_H

#include "adapters/adapter.h"

extern const Adapter a2a_adapter;

#endif							/* CLUTCH_A2A_H */
