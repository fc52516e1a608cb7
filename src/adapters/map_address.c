/*-------------------------------------------------------------------------
 *
 * map_address.c
 *	  Addresses of the Multi-Agent Protocol (spec 004, "Addressing Model").
 *
 * A scope becomes the group "group:scope:<scope>", and a role the group
 * "group:role:<role>", or "group:role:<role>@<scope>" within a scope.  Names
 * of groups and topics of this database appear in documents unchanged.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/map_part.h"

#define EVERYBODY			"group:*"
#define SCOPE_PREFIX		"group:scope:"
#define ROLE_PREFIX			"group:role:"
#define CATEGORY_PREFIX		"group:participants:"

/* members of an address that is relative to the sender */
static const char *const map_relative[] = {
	"/parent", "/children", "/ancestors", "/descendants", "/siblings", "/system", NULL
};

static Slice
map_slice(const char *format, Slice a)
{
	return slice_of_cstring(psprintf(format, a.len, a.s));
}

static Slice
map_after(Slice text, Slice prefix)
{
	return slice_after(text, prefix.len);
}

/* ------------------------------------------------------------------- inbound */

static void
map_add_recipient(const Adapter *self, const char *path, Json *recipients, Slice agent_id)
{
	adapter_check_identifier(self, path, ID_RECIPIENT, agent_id);
	adapter_add_recipient(recipients, agent_id);
}

/* Adds an agent, or a group or topic of this database. */
static void
map_add_name(const Adapter *self, const char *path, Json *recipients, const Json *name)
{
	const char *rule;

	if (name->kind != JSON_TEXT)
		adapter_fault(self, path, "WRONG_TYPE", "it must be a string");
	if (name->text.len == 0)
		adapter_fault(self, path, "EMPTY", "it is an empty string");
	if (!slice_starts(name->text, SLICE_OF("agent:")) &&
		identifier_fault(ID_RECIPIENT, name->text, &rule) == NULL)
		map_add_recipient(self, path, recipients, name->text);
	else
		map_add_recipient(self, path, recipients, adapter_agent_id(name->text));
}

static void
map_add_role(const Adapter *self, const Json *message, Json *recipients)
{
	Slice		role = adapter_require_word(self, message, "/to/role");
	Slice		within = adapter_find_word(self, message, "/to/within");
	Slice		group = map_slice(ROLE_PREFIX "%.*s", role);

	if (slice_present(within))
		group = slice_of_cstring(psprintf("%.*s@%.*s", group.len, group.s, within.len, within.s));
	map_add_recipient(self, "/to/role", recipients, group);
}

/* Everybody here is an agent, so "agents" are all of them, too. */
static void
map_add_category(const Adapter *self, const Json *message, Json *recipients)
{
	Slice		category = adapter_require_word(self, message, "/to/participants");
	bool		is_everybody = slice_is(category, "all") || slice_is(category, "agents");

	map_add_recipient(self, "/to/participants", recipients,
					  is_everybody ? SLICE_OF(EVERYBODY) : map_slice(CATEGORY_PREFIX "%.*s", category));
}

static void
map_add_agents(const Adapter *self, const Json *message, Json *recipients)
{
	const Json *agents = adapter_find(self, message, "/to/agents", JSON_ARRAY);

	if (agents->n == 0)
		adapter_fault(self, "/to/agents", "TOO_FEW", "it is empty");
	for (int i = 0; i < agents->n; i++)
		map_add_name(self, json_path_index("/to/agents", i), recipients, agents->items[i]);
}

/* Adds {"agent": .., "system": ..}, an agent of another system. */
static void
map_add_agent(const Adapter *self, const Json *message, Json *recipients)
{
	Slice		system = json_get_text(message, "/to/system");
	Slice		agent;

	if (!slice_present(system))
	{
		map_add_name(self, "/to/agent", recipients, json_get(message, "/to/agent"));
		return;
	}
	agent = adapter_require_word(self, message, "/to/agent");
	map_add_recipient(self, "/to/agent", recipients,
					  slice_of_cstring(psprintf("agent:%.*s@%.*s", agent.len, agent.s, system.len, system.s)));
}

static void
map_add_scope(const Adapter *self, const Json *message, Json *recipients)
{
	Slice		scope = adapter_require_word(self, message, "/to/scope");

	if (slice_starts(scope, SLICE_OF("group:")) || slice_starts(scope, SLICE_OF("topic:")))
		map_add_name(self, "/to/scope", recipients, json_get(message, "/to/scope"));
	else
		map_add_recipient(self, "/to/scope", recipients, map_slice(SCOPE_PREFIX "%.*s", scope));
}

static void
map_add_participant(const Adapter *self, const Json *message, Json *recipients)
{
	map_add_name(self, "/to/participant", recipients, json_get(message, "/to/participant"));
}

static void
map_add_everybody(const Adapter *self, const Json *message, Json *recipients)
{
	if (!json_is_true(message, "/to/broadcast"))
		adapter_fault(self, "/to/broadcast", "WRONG_VALUE", "it must be true");
	map_add_recipient(self, "/to/broadcast", recipients, SLICE_OF(EVERYBODY));
}

static const struct
{
	const char *member;			/* a member that occurs only in addresses of
								 * this form */
	const char *form;
	void		(*add) (const Adapter *self, const Json *message, Json *recipients);
}			map_forms[] = {
	{"/agent", "agent", map_add_agent},
	{"/agents", "agents", map_add_agents},
	{"/scope", "scope", map_add_scope},
	{"/role", "role", map_add_role},
	{"/participant", "participant", map_add_participant},
	{"/participants", "participants", map_add_category},
	{"/broadcast", "broadcast", map_add_everybody},
};

/*
 * Adds the recipients to the envelope and returns the name of the form in
 * which the address names them.  Returns NULL for an address that is relative
 * to the sender.
 */
static const char *
map_read_object(const Adapter *self, const Json *message, Json *recipients)
{
	const Json *to = json_get(message, "/to");
	Slice		category = json_get_text(to, "/participants");

	for (int i = 0; i < lengthof(map_forms); i++)
		if (adapter_member(to, map_forms[i].member) != NULL)
		{
			map_forms[i].add(self, message, recipients);
			if (i == 0 && json_has_text(to, "/system"))
				return "federated";
			if (map_forms[i].add == map_add_category && slice_is(category, "agents"))
				return "all_agents";
			return map_forms[i].form;
		}
	return NULL;
}

void
map_read_address(const Adapter *self, const Json *message, Json *envelope)
{
	const Json *to = adapter_member(message, "/to");
	Json	   *recipients = json_new_array();
	const char *form;

	if (to == NULL)
		adapter_fault(self, "/to", "REQUIRED", "it is missing");
	if (to->kind == JSON_TEXT)
	{
		map_add_name(self, "/to", recipients, to);
		form = "text";
	}
	else if (to->kind != JSON_OBJECT)
		adapter_fault(self, "/to", "WRONG_TYPE", "it must be a string or an object");
	else
		form = map_read_object(self, message, recipients);
	if (form != NULL)
	{
		json_put(envelope, "/to", recipients);
		adapter_note(self, envelope, "/form", json_of_cstring(form));
		return;
	}
	for (const char *const *relative = map_relative; *relative != NULL; relative++)
		if (adapter_member(to, *relative) != NULL)
		{
			adapter_note(self, envelope, "/to", unconstify(Json *, to));
			return;
		}
	adapter_fault(self, "/to", "WRONG_VALUE", "it is not an address like \"agent\", {\"agent\": ..} or {\"scope\": ..}");
}

bool
map_can_work(const Json *envelope)
{
	const Json *to = json_get(envelope, "/to");

	for (int i = 0; to != NULL && i < to->n; i++)
	{
		Slice		agent_id = json_get_text(to->items[i], "/agent_id");

		if (slice_is(agent_id, EVERYBODY) || slice_starts(agent_id, SLICE_OF("topic:")))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------ outbound */

static bool
map_had_form(const Adapter *self, const Json *envelope, const char *form)
{
	return json_says(adapter_noted(self, envelope, "/form"), "", form);
}

static Json *
map_agents_of(const Json *to)
{
	Json	   *address = json_new_object();
	Json	   *agents = json_new_array();

	for (int i = 0; i < to->n; i++)
		json_add(agents, json_of_text(adapter_agent_name(json_get_text(to->items[i], "/agent_id"))));
	json_put(address, "/agents", agents);
	return address;
}

/*
 * Returns the address of a group: a scope, a role, a category of participants,
 * or a group of this database.
 */
static Json *
map_group_of(Slice group)
{
	Json	   *address = json_new_object();
	const char *at;

	if (slice_starts(group, SLICE_OF(CATEGORY_PREFIX)))
		json_put_text(address, "/participants", map_after(group, SLICE_OF(CATEGORY_PREFIX)));
	else if (slice_starts(group, SLICE_OF(SCOPE_PREFIX)) && group.len > strlen(SCOPE_PREFIX))
		json_put_text(address, "/scope", map_after(group, SLICE_OF(SCOPE_PREFIX)));
	else if (slice_starts(group, SLICE_OF(ROLE_PREFIX)) && group.len > strlen(ROLE_PREFIX))
	{
		Slice		role = map_after(group, SLICE_OF(ROLE_PREFIX));

		at = memchr(role.s, '@', role.len);
		if (at != NULL && at > role.s && at < role.s + role.len - 1)
		{
			json_put_text(address, "/within", (Slice) {at + 1, role.s + role.len - at - 1});
			role.len = at - role.s;
		}
		json_put_text(address, "/role", role);
	}
	else
		json_put_text(address, "/scope", group);
	return address;
}

static Json *
map_agent_of(const Adapter *self, const Json *envelope, Slice name)
{
	Json	   *address = json_new_object();
	const char *at = name.s + name.len;

	if (map_had_form(self, envelope, "text"))
		return json_of_text(name);
	while (at > name.s && *(at - 1) != '@')
		at--;
	if ((map_had_form(self, envelope, "federated") || !adapter_was_foreign(self, envelope)) && at > name.s + 1 && at < name.s + name.len)
	{
		json_put_text(address, "/system", (Slice) {at, name.s + name.len - at});
		name.len = at - name.s - 1;
	}
	json_put_text(address, map_had_form(self, envelope, "participant") ? "/participant" : "/agent", name);
	return address;
}

Json *
map_address_of(const Adapter *self, const Json *envelope)
{
	Json	   *noted = adapter_noted(self, envelope, "/to");
	const Json *to = json_get_kind(envelope, "/to", JSON_ARRAY);
	Json	   *address;
	Slice		agent_id;

	if (noted != NULL)
		return noted;
	if (to == NULL)
		return NULL;
	if (to->n != 1 || map_had_form(self, envelope, "agents"))
		return map_agents_of(to);
	agent_id = json_get_text(to->items[0], "/agent_id");
	if (slice_starts(agent_id, SLICE_OF("agent:")))
		return map_agent_of(self, envelope, adapter_agent_name(agent_id));
	if (map_had_form(self, envelope, "text"))
		return json_of_text(agent_id);
	if (!slice_is(agent_id, EVERYBODY))
		return map_group_of(agent_id);
	address = json_new_object();
	if (map_had_form(self, envelope, "participants"))
		json_put_cstring(address, "/participants", "all");
	else if (map_had_form(self, envelope, "all_agents"))
		json_put_cstring(address, "/participants", "agents");
	else
		json_put(address, "/broadcast", json_of_bool(true));
	return address;
}
