/*-------------------------------------------------------------------------
 *
 * key.h
 *	  Public keys of agents (clutch.agent_key).
 *
 * A key is identified by its agent and its kid, forever.  Its row is changed
 * only to revoke it, and is never removed, so that an event of the log can be
 * verified by the key that was valid when it was received.  An agent may have
 * several valid keys at the same time.
 *
 * A backend caches the keys that it has looked up until the table changes.
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
	TimestampTz valid_until;	/* infinity if it has no end */
	TimestampTz revoked_at;		/* infinity if it is not revoked */
	TimestampTz added_at;
} AgentKey;

/* Returns false if the agent has no key of that name. */
extern bool key_find(Slice agent_id, Slice kid, AgentKey *key);

/*
 * Does the agent have a key, or has it had one?  One that has expired or was
 * revoked still counts, because its role can wait for the one and do the other.
 */
extern bool key_agent_has_had_one(Slice agent_id);

/*
 * Adds a key.  Returns false if the agent has this very key already; if
 * any_from or any_until, whatever that bound of it is.  Raises 23505, code
 * KEY_EXISTS, if the agent has another key of that name.
 */
extern bool key_add(Slice agent_id, Slice kid, const AgentKey *key, bool any_from, bool any_until);

/*
 * Revokes the key, which is refused from now on.  Returns false if it was
 * revoked already.  Raises 42704, code KEY_NOT_FOUND, if the agent has no key
 * of that name.
 */
extern bool key_revoke(Slice agent_id, Slice kid, TimestampTz now);

/*
 * Tells all backends that the table was changed by SQL, so that they read it
 * again.
 */
extern void key_announce(void);

#endif							/* CLUTCH_KEY_H */
