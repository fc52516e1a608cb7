/*-------------------------------------------------------------------------
 *
 * principal_card.c
 *	  What the card of an agent may say if its role registers it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/host.h"
#include "trust/principal_part.h"

/*
 * prefix of an element of the granted capabilities that is the pattern of a
 * host
 */
#define GRANTED_HOST	"host:"

/* what a card may claim in limits.max_concurrency if no limits were granted */
#define UNGRANTED_CONCURRENCY	100

/* The hint says who can allow it. */
pg_noreturn static void
principal_raise_not_granted(const char *path, const char *what, Slice name, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem(path, "CARD_NOT_GRANTED"),
			 errmsg("role \"%s\" may not register an agent with %s%s%.*s",
					principal_role_name(), what, slice_present(name) ? " " : "", name.len,
					slice_present(name) ? name.s : ""),
			 errhint("%s", hint)));
}

/* Refuses what clutch.grant_agent could grant. */
static void
principal_refuse_card(const char *path, const char *what, Slice name)
{
	principal_raise_not_granted(path, what, name,
								"Ask an operator to register the card, or ask the owner of the extension or a superuser to grant it: SELECT clutch.grant_agent(role_name, agent_id, capabilities, scopes, limits), which replaces the earlier grant.");
}

/* Refuses what only operators may register. */
static void
principal_refuse_beyond(const char *path, const char *what, Slice name)
{
	principal_raise_not_granted(path, what, name,
								"Leave it out, or ask an operator to register the card; clutch.grant_agent cannot allow it.");
}

/* Refuses a change that lifts a restriction of the card. */
static void
principal_refuse_lift(const char *path, const char *what, Slice name)
{
	principal_raise_not_granted(path, what, name,
								"Repeat what the card of the agent says there, or ask an operator to change it; clutch.grant_agent cannot allow it.");
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
	SliceList	hosts = {0, palloc(capabilities.n * sizeof(Slice))};
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
			principal_add_names(&granted.capabilities, rows_texts_copy(&scan, Anum_principal_capabilities));
			principal_add_names(&granted.scopes, rows_texts_copy(&scan, Anum_principal_scopes));
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
			principal_refuse_beyond("/payload/capabilities", "trust_level prod for", card->capabilities[i].id);
		principal_require_granted(card->capabilities[i].tools, granted.capabilities, "/payload/capabilities", "tool");
	}
	principal_require_granted(card->groups, granted.scopes, "/payload/groups", "group");
	principal_require_granted(card->scopes, granted.scopes, "/payload/scopes", "scope");
	if (card->max_concurrency > granted.max_concurrency)
		principal_refuse_card("/payload/limits/max_concurrency", "max_concurrency above",
							  slice_of_cstring(psprintf("%d", granted.max_concurrency)));
	if (!card->sandbox)
		principal_refuse_beyond("/payload/security/sandbox", "sandbox false", SLICE_NONE);
	principal_require_hosts(card, granted.capabilities);
	if (card->network == NETWORK_OPEN)
		principal_refuse_beyond("/payload/security/network", "network open", SLICE_NONE);
}

static void
principal_require_narrower_hosts(const AgentCard *current, const AgentCard *update)
{
	int			i;

	if (!current->has_egress)
		return;
	if (!update->has_egress)
		principal_refuse_lift("/payload/security/egress_allowlist", "every host", SLICE_NONE);
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
			principal_refuse_lift("/payload/security/network", "network",
								  slice_of_cstring(level_network[update->network]));
	}
	if (update->says_limits && principal_is_lifted(current, update))
		principal_refuse_lift("/payload/limits", "larger limits than its card has", SLICE_NONE);
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
		principal_refuse_lift(path, psprintf("a card that lacks \"%s\"", list), SLICE_NONE);
	for (i = 0; i < now.n; i++)
		if (!slices_have(before, now.items[i]))
			principal_refuse_lift(path, psprintf("more agents in \"%s\":", list), now.items[i]);
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
principal_require_withdrawal(Slice agent_id, const AgentCard *card)
{
	if ((!card->has_serves && !card->has_delegates) || principal_is_operator(principal_role()))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem("agent_id", "NOT_AN_OPERATOR"),
			 errmsg("only an operator may unregister \"%.*s\", whose card has \"%s\"",
					agent_id.len, agent_id.s, card->has_serves ? "serves" : "delegates_to"),
			 errhint("Set its status to STOPPED, which also gives its tasks to others, or ask an operator.")));
}
