/*-------------------------------------------------------------------------
 *
 * collation.c
 *	  A collation that knows the letters of all scripts.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/collation.h"

#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "nodes/value.h"

/*
 * created by initdb, the first one if the server was built with ICU, the
 * second one in any case from PostgreSQL 17 on
 */
static const char *const collation_names[] = {"und-x-icu", "pg_c_utf8", NULL};

Oid
collation_of_letters(void)
{
	/*
	 * the collations created by initdb keep their OIDs as long as the database
	 * exists
	 */
	static Oid	found = InvalidOid;

	for (const char *const *name = collation_names; *name != NULL && !OidIsValid(found); name++)
		found = get_collation_oid(list_make2(makeString("pg_catalog"), makeString(pstrdup(*name))), true);
	if (!OidIsValid(found))
		found = DEFAULT_COLLATION_OID;
	return found;
}
