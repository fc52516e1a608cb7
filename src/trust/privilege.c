/*-------------------------------------------------------------------------
 *
 * privilege.c
 *	  Privileges: which database roles are operators, and which may read
 *	  without being an agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "trust/privilege.h"
#include "utils/acl.h"
#include "utils/syscache.h"

/* columns of clutch.privilege */
enum
{
	Anum_privilege_grantee = 1,
	Anum_privilege_privilege,
	Anum_privilege_scopes,
	Natts_privilege = Anum_privilege_scopes
};

ROWS_CHECK_COLUMNS(Natts_privilege, PRIVILEGE);

bool
privilege_is_owner(Oid role)
{
	return superuser_arg(role) || has_privs_of_role(role, rows_owner());
}

/*
 * Moves to the next row that gives the role this privilege.  There are few
 * rows, and usually none, so this costs little more than opening the table.
 */
static bool
privilege_next(RowScan *scan, Oid role, Slice privilege)
{
	while (rows_next(scan))
	{
		Oid			grantee = rows_oid(scan, Anum_privilege_grantee);

		/* a role that has been dropped leaves its row behind */
		if (slice_equal(rows_text(scan, Anum_privilege_privilege), privilege) &&
			SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(grantee)) &&
			has_privs_of_role(role, grantee))
			return true;
	}
	return false;
}

static void
privilege_begin(RowScan *scan, RowSnapshot snapshot)
{
	rows_begin(scan, TABLE_PRIVILEGE, INDEX_PRIVILEGE, snapshot, AccessShareLock);
	rows_start(scan);
}

bool
privilege_is_operator(Oid role, RowSnapshot snapshot)
{
	RowScan		scan;
	bool		found;

	if (privilege_is_owner(role))
		return true;
	privilege_begin(&scan, snapshot);
	found = privilege_next(&scan, role, SLICE_OF("operator"));
	rows_end(&scan);
	return found;
}

bool
privilege_is_gateway(Oid role)
{
	RowScan		scan;
	bool		found;

	privilege_begin(&scan, ROWS_LATEST);
	found = privilege_next(&scan, role, SLICE_OF("gateway"));
	rows_end(&scan);
	return found || privilege_is_owner(role);
}

bool
privilege_reads_all(Oid role, RowSnapshot snapshot)
{
	RowScan		scan;
	bool		found = false;

	if (privilege_is_operator(role, snapshot) || has_privs_of_role(role, ROLE_PG_READ_ALL_DATA))
		return true;
	privilege_begin(&scan, snapshot);
	while (!found && privilege_next(&scan, role, SLICE_OF("reader")))
		found = rows_is_null(&scan, Anum_privilege_scopes);
	rows_end(&scan);
	return found;
}

static void
privilege_add_scopes(SliceList *list, int *room, SliceList scopes)
{
	int			i;

	for (i = 0; i < scopes.n; i++)
	{
		array_make_room(list->items, list->n, *room);
		list->items[list->n++] = scopes.items[i];
	}
}

SliceList
privilege_scopes(Oid role)
{
	int			room = 0;
	SliceList	list = {0};
	RowScan		scan;

	privilege_begin(&scan, ROWS_ACTIVE);
	while (privilege_next(&scan, role, SLICE_OF("reader")))
		privilege_add_scopes(&list, &room, rows_texts_copy(&scan, Anum_privilege_scopes));
	rows_end(&scan);
	return list;
}
