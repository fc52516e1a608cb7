/*-------------------------------------------------------------------------
 *
 * peer.h
 *	  Envelopes of other databases with this extension: a document is an envelope as it is.
 *
 * Identifiers are not derived, so an envelope is the same event in all databases that have
 * it.  Where the context names another sender, the agent that stands for the other
 * database here, the envelope speaks for that one: what its first sender alone could say is
 * left out, which is the signature and, of a report, the attempt and the recipients.
 * Recipients in the context count for more than those of the document.  docs/adapters.md
 * has more.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PEER_H
#define CLUTCH_PEER_H

#include "adapters/adapter.h"

extern const Adapter peer_adapter;

#endif							/* CLUTCH_PEER_H */
