/*-------------------------------------------------------------------------
 *
 * secret.c
 *	  A random number that only this database knows.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "trust/secret.h"

/* columns of clutch.secret */
enum
{
	Anum_secret_made_at = 1,
	Anum_secret_value,
	Natts_secret = Anum_secret_value
};

ROWS_CHECK_COLUMNS(Natts_secret, SECRET);

Slice
secret_get(void)
{
	Slice		secret = SLICE_NONE;
	RowScan		scan;

	rows_begin(&scan, TABLE_SECRET, INDEX_SECRET, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	/* a bytea is read like a text, but a Slice of bytes is not copied like one */
	if (rows_next(&scan))
	{
		Slice		value = rows_text(&scan, Anum_secret_value);

		secret = (Slice) {memcpy(palloc(value.len), value.s, value.len), value.len};
	}
	rows_end(&scan);
	if (!slice_present(secret))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("clutch.secret has no row"),
				 errhint("Restore the row from a backup, so that the derived IDs stay the same.")));
	return secret;
}
