/*-------------------------------------------------------------------------
 *
 * principal.c
 *	  Which database role speaks for which agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "protocol/host.h"
#include "protocol/problem.h"
#include "settings.h"
#include "trust/principal.h"
#include "trust/privilege.h"
#include "utils/acl.h"
#include "utils/array.h"

/* columns of clutch.principal */
enum
{
	Anum_principal_grantee = 1,
	Anum_principal_agent_id,
	Anum_principal_capabilities,
	Anum_principal_scopes,
	Anum_principal_max_concurrency,
	Anum_principal_broadcast,
	Natts_principal = Anum_principal_broadcast
};

ROWS_CHECK_COLUMNS(Natts_principal, PRINCIPAL);

/*
 * prefix of an element of the granted capabilities that is the pattern of a
 * host
 */
#define GRANTED_HOST	"host:"

/* what a card may claim in limits.max_concurrency if no limits were granted */
#define UNGRANTED_CONCURRENCY	100

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

static const char *
principal_role_name(void)
{
	return GetUserNameFromId(principal_role(), false);
}

/*
 * Begins a scan of the grants of the role, or of any role, for one agent or,
 * if it is absent, for all.  A scan for any role has only a few rows to read.
 */
static void
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
				 errmsg("role \"%s\" does not speak for \"%.*s\"",
						principal_role_name(), agent_id.len, agent_id.s),
				 errhint("Ask an operator to run SELECT clutch.grant_agent(role_name, agent_id).%s", strcmp(place, "/from/agent_id") != 0 && strcmp(place, "context") != 0 ? "" :
						 " To ingest a document of another sender, name an agent of the role as the agent_id of the context.")));
}

static void
principal_refuse_card(const char *path, const char *what, Slice name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem(path, "CARD_NOT_GRANTED"),
			 errmsg("role \"%s\" may not register an agent with %s%s%.*s",
					principal_role_name(), what, slice_present(name) ? " " : "", name.len,
					slice_present(name) ? name.s : ""),
			 errhint("Ask an operator to register the card, or to grant more by SELECT clutch.grant_agent(role_name, agent_id, capabilities, scopes).")));
}

/*
 * Returns the elements of an array column of the current row, or none if it is
 * NULL.
 */
static SliceList
principal_granted_names(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		array = rows_datum(scan, attno, &isnull);

	if (isnull)
		return (SliceList) {0, NULL};
	return column_texts_of(PointerGetDatum(DatumGetArrayTypePCopy(array)));
}

static bool
principal_is_granted(SliceList list, Slice name)
{
	return slices_have(list, name) || slices_have(list, SLICE_OF("*"));
}

static void
principal_add_names(SliceList *list, SliceList more)
{
	if (more.n == 0)
		return;
	list->items = list->n == 0 ? palloc(sizeof(Slice) * more.n) :
		repalloc(list->items, sizeof(Slice) * (list->n + more.n));
	memcpy(list->items + list->n, more.items, sizeof(Slice) * more.n);
	list->n += more.n;
}

static void
principal_require_granted(SliceList asked, SliceList list, const char *path, const char *what)
{
	int			i;

	for (i = 0; i < asked.n; i++)
		if (!principal_is_granted(list, asked.items[i]))
			principal_refuse_card(path, what, asked.items[i]);
}

/* Returns the granted hosts, without their prefix. */
static SliceList
principal_granted_hosts(SliceList capabilities)
{
	SliceList	hosts = {0, palloc(Max(capabilities.n, 1) * sizeof(Slice))};
	int			i;

	for (i = 0; i < capabilities.n; i++)
		if (slice_starts(capabilities.items[i], SLICE_OF(GRANTED_HOST)))
			hosts.items[hosts.n++] = (Slice) {capabilities.items[i].s + strlen(GRANTED_HOST),
			capabilities.items[i].len - strlen(GRANTED_HOST)};
	return hosts;
}

/* Checks the hosts.  A card without a list would allow every host. */
static void
principal_require_hosts(const AgentCard *card, SliceList capabilities)
{
	SliceList	hosts = principal_granted_hosts(capabilities);
	int			i;

	if (hosts.n == 0 || !card->says_security)
		return;
	if (!card->has_egress)
		principal_refuse_card("/payload/security/egress_allowlist", "every host", SLICE_NONE);
	for (i = 0; i < card->egress_allowlist.n; i++)
		if (!host_pattern_is_within(card->egress_allowlist.items[i], &hosts))
			principal_refuse_card("/payload/security/egress_allowlist", "host",
								  card->egress_allowlist.items[i]);
}

static int
principal_granted_concurrency(const RowScan *scan)
{
	return rows_is_null(scan, Anum_principal_max_concurrency) ? UNGRANTED_CONCURRENCY :
		rows_int4(scan, Anum_principal_max_concurrency);
}

/* what all grants of an agent together allow its card to say */
typedef struct GrantedCard
{
	bool		may;			/* a card may be registered at all */
	SliceList	capabilities;
	SliceList	scopes;
	int			max_concurrency;
} GrantedCard;

static GrantedCard
principal_granted_card(Slice agent_id, GrantHolder holder)
{
	GrantedCard granted = {0};
	RowScan		scan;

	principal_begin_grants(&scan, agent_id, holder);
	while (rows_next(&scan))
		if (!rows_is_null(&scan, Anum_principal_capabilities))
		{
			granted.may = true;
			granted.max_concurrency = Max(granted.max_concurrency, principal_granted_concurrency(&scan));
			principal_add_names(&granted.capabilities, principal_granted_names(&scan, Anum_principal_capabilities));
			principal_add_names(&granted.scopes, principal_granted_names(&scan, Anum_principal_scopes));
		}
	rows_end(&scan);
	return granted;
}

void
principal_require_card(Slice agent_id, const AgentCard *card, GrantHolder holder)
{
	GrantedCard granted;
	int			i;

	if (principal_is_operator(principal_role()))
		return;
	granted = principal_granted_card(agent_id, holder);
	if (!granted.may)
		principal_refuse_card("/payload", "a card of its own", SLICE_NONE);

	for (i = 0; i < card->ncapabilities; i++)
	{
		if (!principal_is_granted(granted.capabilities, card->capabilities[i].id))
			principal_refuse_card("/payload/capabilities", "capability", card->capabilities[i].id);
		if (card->capabilities[i].trust == TRUST_PROD)
			principal_refuse_card("/payload/capabilities", "trust_level prod for", card->capabilities[i].id);
		principal_require_granted(card->capabilities[i].tools, granted.capabilities, "/payload/capabilities", "tool");
	}
	principal_require_granted(card->groups, granted.scopes, "/payload/groups", "group");
	principal_require_granted(card->scopes, granted.scopes, "/payload/scopes", "scope");
	if (card->max_concurrency > granted.max_concurrency)
		principal_refuse_card("/payload/limits/max_concurrency", "max_concurrency above",
							  slice_of_cstring(psprintf("%d", granted.max_concurrency)));
	if (!card->sandbox)
		principal_refuse_card("/payload/security/sandbox", "sandbox false", SLICE_NONE);
	principal_require_hosts(card, granted.capabilities);
	if (card->network == NETWORK_OPEN)
		principal_refuse_card("/payload/security/network", "network open", SLICE_NONE);
}

static void
principal_require_narrower_hosts(const AgentCard *current, const AgentCard *update)
{
	int			i;

	if (!current->has_egress)
		return;
	if (!update->has_egress)
		principal_refuse_card("/payload/security/egress_allowlist", "every host", SLICE_NONE);
	for (i = 0; i < update->egress_allowlist.n; i++)
		if (!host_pattern_is_within(update->egress_allowlist.items[i], &current->egress_allowlist))
			principal_refuse_card("/payload/security/egress_allowlist", "host",
								  update->egress_allowlist.items[i]);
}

/* Does the update lift a limit that clutch.grant_agent cannot grant? */
static bool
principal_is_lifted(const AgentCard *current, const AgentCard *update)
{
	return amount_allows_more(&update->max_amount, &current->max_amount) ||
		(current->max_runtime_sec > 0 &&
		 (update->max_runtime_sec == 0 || update->max_runtime_sec > current->max_runtime_sec));
}

void
principal_require_update(Slice agent_id, const AgentCard *current, const AgentCard *update,
						 GrantHolder holder)
{
	AgentCard	offered = *update;

	if (principal_is_operator(principal_role()))
		return;
	if (update->says_security)
	{
		if (principal_granted_hosts(principal_granted_card(agent_id, holder).capabilities).n == 0)
			principal_require_narrower_hosts(current, update);
		if (update->network > current->network)
			principal_refuse_card("/payload/security/network", "network",
								  slice_of_cstring(level_network[update->network]));
	}
	if (update->says_limits && principal_is_lifted(current, update))
		principal_refuse_card("/payload/limits", "larger limits than its card has", SLICE_NONE);
	if (update->says_security ||
		(update->ncapabilities == 0 && update->groups.n == 0 && update->scopes.n == 0))
		return;
	/*
	 * what is new is offered under the security section that the card has
	 * already
	 */
	offered.says_security = true;
	offered.sandbox = current->sandbox;
	offered.network = current->network;
	offered.has_egress = current->has_egress;
	offered.egress_allowlist = current->egress_allowlist;
	principal_require_card(agent_id, &offered, holder);
}

/*
 * A card without the list admits every agent, so had and has tell whether the
 * current card and the update have one.
 */
static void
principal_require_narrower_list(bool had, SliceList before, bool has, SliceList now, const char *list)
{
	const char *path = psprintf("/payload/security/%s", list);
	int			i;

	if (!had)
		return;
	if (!has)
		principal_refuse_card(path, psprintf("a card that lacks \"%s\"", list), SLICE_NONE);
	for (i = 0; i < now.n; i++)
		if (!slices_have(before, now.items[i]))
			principal_refuse_card(path, psprintf("more agents in \"%s\":", list), now.items[i]);
}

void
principal_require_delegation(const AgentCard *current, const AgentCard *card)
{
	if (!card->says_security || principal_is_operator(principal_role()))
		return;
	principal_require_narrower_list(current->has_serves, current->serves, card->has_serves, card->serves, "serves");
	principal_require_narrower_list(current->has_delegates, current->delegates_to, card->has_delegates,
									card->delegates_to, "delegates_to");
}

void
principal_require_broadcast(Slice agent_id, GrantHolder holder, const char *place)
{
	RowScan		scan;
	bool		may = false;

	if (principal_is_operator(principal_role()))
		return;
	principal_begin_grants(&scan, agent_id, holder);
	while (!may && rows_next(&scan))
		may = rows_bool(&scan, Anum_principal_broadcast);
	rows_end(&scan);
	if (!may)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem(place, "BROADCAST_NOT_GRANTED"),
				 errmsg("role \"%s\" may not send chat.system as \"%.*s\"",
						principal_role_name(), agent_id.len, agent_id.s),
				 errhint("Send a chat.message, or ask an operator to run SELECT clutch.grant_agent(role_name, agent_id, broadcast => true).")));
}

bool
principal_has_scope(Slice agent_id, Slice scope, GrantHolder holder)
{
	RowScan		scan;
	bool		has = false;

	principal_begin_grants(&scan, agent_id, holder);
	while (!has && rows_next(&scan))
		has = principal_is_granted(principal_granted_names(&scan, Anum_principal_scopes), scope);
	rows_end(&scan);
	return has;
}

SliceList
principal_agents_and_scopes(SliceList *scopes)
{
	SliceList	agents = {0, NULL};
	int			room = 8;
	RowScan		scan;

	agents.items = palloc(sizeof(Slice) * room);
	principal_begin_grants(&scan, SLICE_NONE, GRANT_OF_ROLE);
	while (rows_next(&scan))
	{
		if (agents.n == room)
			agents.items = repalloc(agents.items, sizeof(Slice) * (room *= 2));
		agents.items[agents.n++] = slice_copy(rows_text(&scan, Anum_principal_agent_id));
		principal_add_names(scopes, principal_granted_names(&scan, Anum_principal_scopes));
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
principal_list_roles(RowSnapshot which)
{
	List	   *roles = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_PRINCIPAL, INDEX_PRINCIPAL, which, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		bool		isnull;
		Oid			role = DatumGetObjectId(rows_datum(&scan, Anum_principal_grantee, &isnull));

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
		only = slice_copy(rows_text(&scan, Anum_principal_agent_id));
		n++;
	}
	rows_end(&scan);
	if (n != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("by_agent", "NOT_YOUR_AGENT"),
				 errmsg(n == 0 ? "role \"%s\" speaks for no agent" : "role \"%s\" speaks for several agents",
						principal_role_name()),
				 errhint(n == 0 ? "Ask an operator to run SELECT clutch.grant_agent(role_name, agent_id)." : "Pass by_agent to say in whose name the role acts.")));
	return only;
}
