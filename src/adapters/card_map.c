/*-------------------------------------------------------------------------
 *
 * card_map.c
 *	  The parameters of map/agents/register and map/agents/spawn of the
 *	  Multi-Agent Protocol, either by themselves or in the JSON-RPC call.
 *
 * Notes: "call" is the call without its parameters; "named" is true if the
 * parameters have only the agent's name, and not its ID.  Members without a
 * row are noted unchanged.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include "settings.h"

#define METHOD	"map/agents/register"
#define SPAWN	"map/agents/spawn"
#define ROLE	"role:"
#define GROUP_OF_ROLE	"group:role:"
#define GROUP_OF_SCOPE	"group:scope:"

static const char *const card_map_mapped[] = {
	"agentId", "name", "description", "role", "scopes", "kept", "dropped", "call", "named", NULL
};
static const char *const card_map_notes[] = {"kept", "dropped", "call", "named", NULL};
static const char *const card_map_params[] = {"params", NULL};

static bool
card_map_is_call(const Json *raw)
{
	return json_says(raw, "/method", METHOD) || json_says(raw, "/method", SPAWN);
}

static bool
card_map_handles(const Json *raw)
{
	static const char *const members[] = {"/agentId", "/role", "/parent", "/visibility", "/persistentIdentity", NULL};
	bool		has_one = false;

	if (card_map_is_call(raw))
		return true;
	for (const char *const *member = members; *member != NULL; member++)
		has_one = has_one || json_get(raw, *member) != NULL;
	return has_one && json_get(raw, "/version") == NULL && json_get(raw, "/payload") == NULL &&
		(json_has_text(raw, "/agentId") || json_has_text(raw, "/name"));
}

/* ------------------------------------------------------------------ reading */

static bool
card_map_has_too_many_groups(const Json *card)
{
	const Json *groups = json_get(card, "/groups");

	return groups != NULL && groups->n > clutch_limits.max_list;
}

/*
 * Adds the group of a scope and that of the role within this scope, to which
 * messages can be addressed.
 */
static void
card_map_add_scope(Json *card, Slice role, Slice scope)
{
	card_add_text(card, "/groups", card_prefixed(GROUP_OF_SCOPE, scope));
	if (slice_present(role))
		card_add_text(card, "/groups", card_prefixed(psprintf(GROUP_OF_ROLE "%.*s@", role.len, role.s), scope));
}

/*
 * Reads the scopes, up to the limit.  Those beyond it are not looked at,
 * because each is compared with all before it.
 */
static void
card_map_read_groups(const CardSource *source, const char *at, Json *card)
{
	char	   *role_path = psprintf("%s/role", at);
	char	   *scopes_path = psprintf("%s/scopes", at);
	Slice		role = card_find_word(source, role_path, ID_GROUP, GROUP_OF_ROLE);
	const Json *scopes = card_find(source, scopes_path, JSON_ARRAY);

	if (slice_present(role))
	{
		(void) card_add_capability(source, card, role_path, card_prefixed(ROLE, role));
		card_add_text(card, "/groups", card_prefixed(GROUP_OF_ROLE, role));
	}
	for (int i = 0; scopes != NULL && i < scopes->n && !card_map_has_too_many_groups(card); i++)
	{
		char	   *path = json_path_index(scopes_path, i);
		Slice		scope = card_find_word(source, path, ID_GROUP, GROUP_OF_SCOPE);

		card_require(source, path);
		if (slice_present(scope))
			card_map_add_scope(card, role, scope);
	}
	if (card_map_has_too_many_groups(card))
		card_fault(source, scopes_path, "TOO_MANY", "The agent would be in more groups than the limit of %d (setting clutch.max_list).",
				   clutch_limits.max_list);
}

/*
 * Refuses what says nothing about an agent, such as the response to a call that
 * has failed: it would take the role and the scopes from the agent that the
 * caller names.
 */
static void
card_map_require_any(const CardSource *source, const char *at, const Json *params)
{
	static const char *const members[] = {"/agentId", "/name", "/role", "/scopes", NULL};

	for (const char *const *member = members; *member != NULL; member++)
		if (json_get(params, *member) != NULL)
			return;
	card_fault(source, psprintf("%s/agentId", at), "REQUIRED", "The parameters have neither the ID nor the name, the role or the scopes of an agent.");
}

static Json *
card_map_read(const CardSource *source)
{
	bool		is_call = card_map_is_call(source->raw);
	const char *at = is_call ? "/params" : "";
	const Json *params = is_call ? card_find(source, at, JSON_OBJECT) : source->raw;
	Slice		id = card_find_word(source, psprintf("%s/agentId", at), ID_AGENT, "agent:");
	/* if there is an ID, the name need not be usable as one */
	Slice		name = slice_present(id) ? SLICE_NONE : card_find_word(source, psprintf("%s/name", at), ID_AGENT, "agent:");
	Json	   *card = slice_present(id) ? card_new(source, psprintf("%s/agentId", at), id) :
		card_new(source, psprintf("%s/name", at), name);
	Json	   *others = json_new_object();
	Json	   *call = json_new_object();

	card_map_require_any(source, at, params);
	card_copy_members(params, card_map_mapped, others);
	card_note(card, &card_map, "", others);
	if (is_call)
	{
		card_copy_members(source->raw, card_map_params, call);
		card_note(card, &card_map, "/call", call);
	}
	if (!slice_present(id))
		card_note(card, &card_map, "/named", json_of_bool(true));
	card_put_display(source, card, psprintf("%s/name", at), psprintf("%s/description", at));
	card_map_read_groups(source, at, card);
	return card;
}

/* ------------------------------------------------------------------ writing */

static void
card_map_write_groups(const Json *card, Json *params)
{
	const Json *groups = json_get_kind(card, "/groups", JSON_ARRAY);
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);

	for (int i = 0; capabilities != NULL && i < capabilities->n && json_get(params, "/role") == NULL; i++)
		json_put_text(params, "/role", card_unprefixed(json_get_text(capabilities->items[i], "/id"), ROLE));
	for (int i = 0; groups != NULL && i < groups->n; i++)
	{
		Slice		scope = groups->items[i]->kind == JSON_TEXT ?
			card_unprefixed(groups->items[i]->text, GROUP_OF_SCOPE) : SLICE_NONE;

		if (slice_present(scope))
			card_add_text(params, "/scopes", scope);
	}
}

static Json *
card_map_write(const Json *card)
{
	const Json *noted = card_noted(card, &card_map, "");
	const Json *call = card_noted(card, &card_map, "/call");
	Json	   *params = json_new_object();
	Slice		id = card_unprefixed(json_get_text(card, "/agent_id"), "agent:");
	Json	   *document;

	card_copy_members(noted, card_map_notes, params);
	if (!json_is_true(noted, "/named"))
		json_put_text(params, "/agentId", id);
	if (noted == NULL)
		json_put_text(params, "/name", id);
	json_put_text(params, "/name", json_get_text(card, "/display/name"));
	json_put_text(params, "/description", json_get_text(card, "/display/desc"));
	card_map_write_groups(card, params);
	if (!json_is(call, JSON_OBJECT))
		return params;
	document = json_copy(call);
	json_put(document, "/params", params);
	return document;
}

const CardDialect card_map = {
	.name = "map",
	.handles = card_map_handles,
	.read = card_map_read,
	.write = card_map_write,
};
