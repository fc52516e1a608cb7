/*-------------------------------------------------------------------------
 *
 * peer.h
 *	  Envelopes from other databases with this extension.  A document is an
 *	  unchanged envelope.
 *
 * Identifiers are not derived, so an envelope is the same event in all
 * databases that have it.  The context may name another sender, namely the
 * agent that stands for the other database.  In that case, what only the
 * original sender could say is removed: the signature and, in a report, the
 * attempt and the recipients.  Recipients in the context replace those of the
 * document.  docs/adapters.md has more.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PEER_H
#define CLUTCH_PEER_H

#include "adapters/adapter.h"

extern const Adapter peer_adapter;

#endif							/* CLUTCH_PEER_H */
