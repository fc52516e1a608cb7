/*-------------------------------------------------------------------------
 *
 * secret.c
 *	  A random number that only this database knows.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "base/transaction.h"
#include "trust/secret.h"
#include "utils/memutils.h"

/* columns of clutch.secret */
enum
{
	Anum_secret_made_at = 1,
	Anum_secret_value,
	Natts_secret = Anum_secret_value
};

ROWS_CHECK_COLUMNS(Natts_secret, SECRET);

/*
 * read in this transaction, allocated in TopTransactionContext; absent if not
 * read yet
 */
static Slice secret_known;

static void
secret_forget(void)
{
	secret_known = SLICE_NONE;
}

static Slice
secret_read(void)
{
	Slice		secret = SLICE_NONE;
	RowScan		scan;

	rows_begin(&scan, TABLE_SECRET, INDEX_SECRET, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	/* a bytea is read like a text, but copied differently */
	if (rows_next(&scan))
	{
		Slice		value = rows_text(&scan, Anum_secret_value);

		secret = (Slice) {memcpy(MemoryContextAlloc(TopTransactionContext, value.len), value.s, value.len), value.len};
	}
	rows_end(&scan);
	if (!slice_present(secret))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("clutch.secret has no row"),
				 errhint("Restore the row from a backup, so that the derived IDs stay the same.")));
	return secret;
}

Slice
secret_get(void)
{
	static TransactionWatch watch = {.rolled_back = secret_forget, .ended = secret_forget};

	if (!slice_present(secret_known))
	{
		transaction_watch(&watch);
		secret_known = secret_read();
	}
	return secret_known;
}
