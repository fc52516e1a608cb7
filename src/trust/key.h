/*-------------------------------------------------------------------------
 *
 * key.h
 *	  The public keys of agents (clutch.agent_key).
 *
 * A key is named by its agent and its kid, for ever.  Its row is changed only to
 * revoke it, and is never removed.  So an event of the log can be verified by the
 * key that was valid when it was received.
 * An agent may have several keys that are valid at once.
 *
 * A backend remembers the keys that it has looked up, until the table changes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_KEY_H
#define CLUTCH_KEY_H

#include "base/crypto.h"
#include "datatype/timestamp.h"

typedef struct AgentKey
{
	uint8		public_key[CRYPTO_PUBLIC_KEY_BYTES];
	TimestampTz valid_from;
	TimestampTz valid_until;	/* infinity: no end */
	TimestampTz revoked_at;		/* infinity: it is not revoked */
	TimestampTz added_at;
} AgentKey;

/* Returns false if the agent has no key of that name. */
extern bool key_find(Slice agent_id, Slice kid, AgentKey *key);

/* Has the agent a key that has not been revoked? */
extern bool key_agent_has_one(Slice agent_id);

/*
 * Adds a key.  Returns false if the agent has this very key already.  Raises 23505,
 * code KEY_EXISTS, if it has another key of that name.
 */
extern bool key_add(Slice agent_id, Slice kid, const AgentKey *key);

/*
 * The key is refused from now on.  Returns false if it was revoked before.
 * Raises 42704, code KEY_NOT_FOUND, if the agent has no key of that name.
 */
extern bool key_revoke(Slice agent_id, Slice kid, TimestampTz now);

/* Somebody else has changed the table: all backends read it again. */
extern void key_announce(void);

#endif							/* CLUTCH_KEY_H */
