/*-------------------------------------------------------------------------
 *
 * imported.c
 *	  Recognizing imported events of the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "base/document.h"
#include "base/hash64.h"
#include "common/hashfn.h"
#include "flow/imported.h"
#include "store/audit.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/*
 * Hashes of run and transaction.  If two are equal, which nobody can bring
 * about, only a statistic is wrong.
 */
static HTAB *imports = NULL;

void
imported_begin(void)
{
	imports = hash64_create("clutch imports", sizeof(uint64), 64, CurrentMemoryContext);
}

static uint64
imported_key(Slice run_id, uint64 xid)
{
	return hash_combine64(crypto_name_hash(run_id), xid);
}

bool
imported_has(const Envelope *envelope, uint64 xid)
{
	uint64		key;

	if (envelope->type == MSG_CHAT_SYSTEM &&
		audit_is(envelope->run_id, envelope->from_agent, envelope->payload_type, AUDIT_IMPORTED))
	{
		key = imported_key(document_get_text(envelope->payload.val.binary.data, "run_id"), xid);
		(void) hash_search(imports, &key, HASH_ENTER, NULL);
		return false;
	}
	if (hash_get_num_entries(imports) == 0)
		return false;
	key = imported_key(envelope->run_id, xid);
	return hash_search(imports, &key, HASH_FIND, NULL) != NULL;
}
