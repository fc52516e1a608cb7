/*-------------------------------------------------------------------------
 *
 * principal.c
 *	  Which database role speaks for which agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "settings.h"
#include "trust/principal.h"
#include "utils/acl.h"

/* columns of clutch.principal */
enum
{
	Anum_role_name = 1,
	Anum_agent_id
};

bool
principal_is_operator(void)
{
	Oid			role = GetOuterUserId();

	return superuser_arg(role) || is_member_of_role(role, rows_owner());
}

bool
principal_speaks_for(Slice agent_id)
{
	RowScan		scan;
	bool		found;

	if (principal_is_operator())
		return true;
	rows_begin(&scan, TABLE_PRINCIPAL, INDEX_PRINCIPAL, ROWS_LATEST, AccessShareLock);
	rows_key_name(&scan, 1, BTEqualStrategyNumber, GetUserNameFromId(GetOuterUserId(), false));
	rows_key_text(&scan, 2, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	found = rows_next(&scan);
	rows_end(&scan);
	return found;
}

void
principal_require(Slice agent_id, const char *path)
{
	if (!principal_speaks_for(agent_id))
		problem_refuse(ERRCODE_INSUFFICIENT_PRIVILEGE, path, "NOT_YOUR_AGENT",
					   "Let an operator run SELECT clutch.grant_agent(role_name, agent_id).",
					   "role \"%s\" does not speak for \"%.*s\"",
					   GetUserNameFromId(GetOuterUserId(), false),
					   agent_id.len, agent_id.s);
}

Slice
principal_default_agent(void)
{
	RowScan		scan;
	Slice		only = SLICE_NONE;
	int			n = 0;

	if (principal_is_operator())
		return slice_of_cstring(clutch_orchestrator);
	rows_begin(&scan, TABLE_PRINCIPAL, INDEX_PRINCIPAL, ROWS_LATEST, AccessShareLock);
	rows_key_name(&scan, 1, BTEqualStrategyNumber, GetUserNameFromId(GetOuterUserId(), false));
	rows_start(&scan);
	while (n < 2 && rows_next(&scan))
	{
		only = slice_copy(rows_text(&scan, Anum_agent_id));
		n++;
	}
	rows_end(&scan);
	if (n != 1)
		problem_refuse(ERRCODE_INSUFFICIENT_PRIVILEGE, "/from/agent_id", "NOT_YOUR_AGENT",
					   n == 0 ? "Let an operator run SELECT clutch.grant_agent(role_name, agent_id)."
					   : "Say in whose name: pass by_agent.",
					   n == 0 ? "role \"%s\" speaks for no agent" : "role \"%s\" speaks for several agents",
					   GetUserNameFromId(GetOuterUserId(), false));
	return only;
}
