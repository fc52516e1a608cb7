/*-------------------------------------------------------------------------
 *
 * principal_speaker.c
 *	  Finding out whether a role speaks for an agent, which is done for every
 *	  envelope.
 *
 * The fact that a role was granted an agent is cached until somebody changes
 * clutch.principal.  The contrary is not cached, because nobody keeps sending
 * after a refusal.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/memo.h"
#include "base/rows.h"
#include "base/stale.h"
#include "trust/principal.h"
#include "trust/privilege.h"
#include "utils/inval.h"

/* when so many are cached, the cache is emptied */
#define MOST_REMEMBERED		4096

typedef struct Speaker
{
	uint64		hash;			/* of the other two, which are compared as well */
	Oid			role;
	Slice		agent_id;
} Speaker;

static Memo memory;

/*
 * A change that another session has committed counts at once, even within a
 * transaction.
 */
static HTAB *
principal_speakers(void)
{
	AcceptInvalidationMessages();
	return memo_current(&memory, "who speaks for which agent", sizeof(Speaker), MOST_REMEMBERED, stale_count(STALE_PRINCIPALS));
}

static void
principal_remember_speaker(HTAB *speakers, uint64 hash, Oid role, Slice agent_id)
{
	MemoryContext old = MemoryContextSwitchTo(memory.context);
	Speaker		entry = {hash, role, slice_copy(agent_id)};

	*(Speaker *) hash_search(speakers, &hash, HASH_ENTER, NULL) = entry;
	MemoryContextSwitchTo(old);
}

static bool
principal_is_granted_agent(Oid role, Slice agent_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_PRINCIPAL, INDEX_PRINCIPAL, ROWS_LATEST, AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, role);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, agent_id);
	return rows_look(&scan, NULL);
}

/*
 * The owner and superusers are accepted first, because that costs less than
 * looking anything up.
 */
bool
principal_role_speaks_for(Oid role, Slice agent_id)
{
	HTAB	   *speakers;
	uint64		hash;
	const Speaker *known;

	if (privilege_is_owner(role))
		return true;
	speakers = principal_speakers();
	hash = slice_hash(agent_id) * 31 + role;
	known = hash_search(speakers, &hash, HASH_FIND, NULL);
	if (known != NULL && known->role == role && slice_equal(known->agent_id, agent_id))
		return true;
	if (principal_is_operator(role))
		return true;
	if (!principal_is_granted_agent(role, agent_id))
		return false;
	/*
	 * if a change was announced while it was read, the count differs, and it
	 * is not cached
	 */
	if (known == NULL && memory.changes == stale_count(STALE_PRINCIPALS))
		principal_remember_speaker(speakers, hash, role, agent_id);
	return true;
}

void
principal_announce(void)
{
	stale_announce(STALE_PRINCIPALS);
}
