/*-------------------------------------------------------------------------
 *
 * principal.c
 *	  Which database role speaks for which agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "settings.h"
#include "trust/principal_part.h"
#include "trust/privilege.h"
#include "utils/acl.h"

static Oid	acting_for = InvalidOid;
static Oid	acting_user = InvalidOid;	/* the current role when
										 * principal_run_as was called */

void
principal_run_as(Oid role, void (*step) (void *arg), void *arg)
{
	Oid			for_before = acting_for;
	Oid			user_before = acting_user;

	acting_for = role;
	acting_user = GetUserId();
	PG_TRY();
	{
		step(arg);
	}
	PG_FINALLY();
	{
		acting_for = for_before;
		acting_user = user_before;
	}
	PG_END_TRY();
}

/*
 * Only the role that called principal_run_as acts for the other role, and so
 * does the owner, in whose name it writes.  A function that runs with the
 * rights of another owner, and that a trigger calls meanwhile, does not.
 */
static bool
principal_is_acting(void)
{
	return OidIsValid(acting_for) && (GetUserId() == acting_user || GetUserId() == rows_owner());
}

/*
 * ANALYZE, REINDEX and autovacuum run the functions in the indexes of a table
 * with the rights of its owner, but in the session of another role, often a
 * superuser, who has not asked to speak for any agent.
 */
Oid
principal_role(void)
{
	if (principal_is_acting())
		return acting_for;
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("", "RESTRICTED_OPERATION"),
				 errmsg("cannot speak for an agent within a security-restricted operation"),
				 errhint("Do not call this function in an index or a materialized view.")));
	return GetUserId();
}

const char *
principal_role_name(void)
{
	return GetUserNameFromId(principal_role(), false);
}

void
principal_begin_grants(RowScan *scan, Slice agent_id, GrantHolder holder)
{
	rows_begin(scan, TABLE_PRINCIPAL, INDEX_PRINCIPAL, ROWS_LATEST, AccessShareLock);
	if (holder == GRANT_OF_ROLE)
		rows_key_oid(scan, 1, BTEqualStrategyNumber, principal_role());
	if (slice_present(agent_id))
		rows_key_text(scan, 2, BTEqualStrategyNumber, agent_id);
	rows_start(scan);
}

bool
principal_is_operator(Oid role)
{
	return privilege_is_operator(role, ROWS_LATEST);
}

void
principal_require_operator(const char *what)
{
	if (!principal_is_operator(principal_role()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("", "NOT_AN_OPERATOR"),
				 errmsg("only an operator may %s", what),
				 errhint("Ask an operator, or let the owner of the extension run SELECT clutch.grant_operator(role_name).")));
}

bool
principal_may_restore(void)
{
	return privilege_is_owner(GetUserId());
}

void
principal_require(Slice agent_id, const char *place)
{
	if (!principal_speaks_for(agent_id))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem(place, "NOT_YOUR_AGENT"),
				 errmsg("role \"%s\" does not speak for %s",
						principal_role_name(), place_quote(agent_id)),
				 errhint(PRINCIPAL_HINT_GRANT)));
}

bool
principal_is_granted(SliceList list, Slice name)
{
	return slices_have(list, name) || slices_have(list, SLICE_OF("*"));
}

void
principal_add_names(SliceList *list, SliceList more)
{
	if (more.n == 0)
		return;
	list->items = list->n == 0 ? palloc(sizeof(Slice) * more.n) :
		repalloc(list->items, sizeof(Slice) * (list->n + more.n));
	memcpy(list->items + list->n, more.items, sizeof(Slice) * more.n);
	list->n += more.n;
}

bool
principal_may_broadcast(Slice agent_id, GrantHolder holder)
{
	RowScan		scan;
	bool		may = false;

	if (principal_is_operator(principal_role()))
		return true;
	principal_begin_grants(&scan, agent_id, holder);
	while (!may && rows_next(&scan))
		may = rows_bool(&scan, Anum_principal_broadcast);
	rows_end(&scan);
	return may;
}

void
principal_require_broadcast(Slice agent_id, GrantHolder holder)
{
	if (!principal_may_broadcast(agent_id, holder))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/type", "BROADCAST_NOT_GRANTED"),
				 errmsg("role \"%s\" may not send chat.system as \"%.*s\"",
						principal_role_name(), agent_id.len, agent_id.s),
				 errhint("Send a chat.message. " PRINCIPAL_HINT_BROADCAST)));
}

bool
principal_has_scope(Slice agent_id, Slice scope, GrantHolder holder)
{
	RowScan		scan;
	bool		has = false;

	principal_begin_grants(&scan, agent_id, holder);
	while (!has && rows_next(&scan))
		has = principal_is_granted(rows_texts_copy(&scan, Anum_principal_scopes), scope);
	rows_end(&scan);
	return has;
}

SliceList
principal_agents_and_scopes(SliceList *scopes)
{
	SliceList	agents = {0, NULL};
	int			room = 0;
	RowScan		scan;

	principal_begin_grants(&scan, SLICE_NONE, GRANT_OF_ROLE);
	while (rows_next(&scan))
	{
		array_make_room(agents.items, agents.n, room);
		agents.items[agents.n++] = rows_text_copy(&scan, Anum_principal_agent_id);
		principal_add_names(scopes, rows_texts_copy(&scan, Anum_principal_scopes));
	}
	rows_end(&scan);
	return agents;
}

SliceList
principal_agents(void)
{
	SliceList	scopes = {0, NULL};

	return principal_agents_and_scopes(&scopes);
}

List *
principal_list_roles(void)
{
	List	   *roles = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_PRINCIPAL, INDEX_PRINCIPAL, ROWS_ACTIVE, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Oid			role = rows_oid(&scan, Anum_principal_grantee);

		/* the rows of one role are adjacent */
		if (roles == NIL || llast_oid(roles) != role)
			roles = lappend_oid(roles, role);
	}
	rows_end(&scan);
	return roles;
}

Slice
principal_default_agent(void)
{
	RowScan		scan;
	Slice		only = SLICE_NONE;
	int			n = 0;

	if (principal_is_operator(principal_role()))
		return slice_of_cstring(clutch_orchestrator);
	principal_begin_grants(&scan, SLICE_NONE, GRANT_OF_ROLE);
	while (n < 2 && rows_next(&scan))
	{
		only = rows_text_copy(&scan, Anum_principal_agent_id);
		n++;
	}
	rows_end(&scan);
	if (n != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("by_agent", "NOT_YOUR_AGENT"),
				 errmsg(n == 0 ? "role \"%s\" speaks for no agent" : "role \"%s\" speaks for several agents",
						principal_role_name()),
				 errhint(n == 0 ? PRINCIPAL_HINT_GRANT : "Pass by_agent to say in whose name the role acts.")));
	return only;
}
