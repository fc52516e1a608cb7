/*-------------------------------------------------------------------------
 *
 * card_agent_json_server.c
 *	  The MCP servers that an agent of spec 002 depends on.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include "settings.h"

/* where they are named: in an agent.json, and in a registry */
static const char *const card_agent_json_lists[] = {"/dependencies/mcps", "/mcps", NULL};

/*
 * Does the capability need the server?  All capabilities need a required
 * server; another one is needed by those that it names, by the ID of a skill or
 * the name of a legacy capability.
 */
static bool
card_agent_json_serves(const Json *server, Slice id)
{
	const Json *served = json_get_kind(server, "/capabilities", JSON_ARRAY);
	Slice		skill = card_unprefixed(id, "skill:");

	if (json_is_true(server, "/required"))
		return true;
	for (int i = 0; served != NULL && i < served->n; i++)
		if (served->items[i]->kind == JSON_TEXT &&
			(card_agent_json_has_legacy_id(served->items[i]->text, id) ||
			 (slice_present(skill) && slice_equal(served->items[i]->text, skill))))
			return true;
	return false;
}

/*
 * Adds a server to the tools of the capabilities that need it, by which requests are routed, and
 * to "own", the servers that the agent may call.
 */
static void
card_agent_json_add_server(const CardSource *source, Json *card, const char *path, Json *own)
{
	const Json *server = json_get(source->raw, path);
	const char *at = server->kind == JSON_TEXT ? path : json_path(path, SLICE_OF("name"));
	const Json *capabilities = json_get(card, "/capabilities");
	Slice		name;
	Slice		id;

	if (server->kind != JSON_TEXT && server->kind != JSON_OBJECT)
	{
		card_fault(source, path, "WRONG_TYPE", "It must be a string, or an object with a \"name\".");
		return;
	}
	card_require(source, at);
	if (server->kind == JSON_OBJECT)
	{
		/* a malformed requirement must not be lost */
		(void) card_find(source, json_path(path, SLICE_OF("required")), JSON_BOOL);
		(void) card_find(source, json_path(path, SLICE_OF("capabilities")), JSON_ARRAY);
	}
	name = card_find_word(source, at, ID_SERVER, "mcp:");
	if (!slice_present(name))
		return;
	id = card_prefixed("mcp:", name);
	for (int i = 0; i < capabilities->n; i++)
		if (card_agent_json_serves(server, json_get_text(capabilities->items[i], "/id")))
			card_add_text(capabilities->items[i], "/tools", id);
	card_add_text(own, "/servers", id);
}

/* Reads the servers up to the limit only, because each is compared with all before it. */
void
card_agent_json_read_servers(const CardSource *source, Json *card)
{
	Json	   *own = json_new_object();
	const Json *named = NULL;

	for (const char *const *path = card_agent_json_lists; *path != NULL; path++)
	{
		const Json *servers = card_find(source, *path, JSON_ARRAY);

		for (int i = 0; servers != NULL && i < servers->n && (named == NULL || named->n <= clutch_limits.max_list); i++)
		{
			card_agent_json_add_server(source, card, json_path_index(*path, i), own);
			named = json_get(own, "/servers");
		}
	}
	if (named == NULL)
		return;
	if (named->n > clutch_limits.max_list)
		card_fault(source, "", "TOO_MANY", "It names more MCP servers than the limit of %d (setting clutch.max_list).",
				   clutch_limits.max_list);
	if (card_capability(card, SLICE_OF(CARD_SERVERS)) == NULL &&
		card_add_capability(source, card, "", SLICE_OF(CARD_SERVERS)) != NULL)
		json_put(card_capability(card, SLICE_OF(CARD_SERVERS)), "/servers", json_get(own, "/servers"));
}

/* Returns the servers that the card names, in the order of the card. */
static Json *
card_agent_json_servers_of(const Json *card)
{
	static const char *const lists[] = {"/tools", "/servers", NULL};
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);
	Json	   *found = json_new_object();

	for (int i = 0; capabilities != NULL && i < capabilities->n; i++)
		for (const char *const *list = lists; *list != NULL; list++)
		{
			const Json *names = json_get_kind(capabilities->items[i], *list, JSON_ARRAY);

			for (int j = 0; names != NULL && j < names->n; j++)
				if (names->items[j]->kind == JSON_TEXT && slice_starts(names->items[j]->text, SLICE_OF("mcp:")))
					card_add_text(found, "/servers", names->items[j]->text);
		}
	return found;
}

/* Returns the ID of a server.  The description names it by a text or by an object. */
static Slice
card_agent_json_server_id(const Json *server)
{
	Slice		name = json_is(server, JSON_TEXT) ? server->text : json_get_text(server, "/name");

	return slice_present(name) ? card_prefixed("mcp:", name) : SLICE_NONE;
}

/* Writes which skills need a server.  Requests that do not allow the server are not routed to these. */
static void
card_agent_json_write_served(const Json *card, Slice id, Json *server)
{
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);

	for (int i = 0; capabilities != NULL && i < capabilities->n; i++)
	{
		Slice		skill = card_unprefixed(json_get_text(capabilities->items[i], "/id"), "skill:");

		if (slice_present(skill) && card_has_text(capabilities->items[i], "/tools", id))
			card_add_text(server, "/capabilities", skill);
	}
}

/* Removes the servers that are not in the card from the document, and adds the missing ones. */
void
card_agent_json_write_servers(const Json *card, Json *document)
{
	const Json *found = card_agent_json_servers_of(card);
	const Json *servers = json_get(found, "/servers");
	Json	   *named = json_new_object();
	const char *last = card_agent_json_lists[0];

	for (const char *const *path = card_agent_json_lists; *path != NULL; path++)
	{
		Json	   *list = json_get_kind(document, *path, JSON_ARRAY);

		for (int i = 0; list != NULL && i < list->n;)
		{
			Slice		id = card_agent_json_server_id(list->items[i]);

			last = *path;
			if (slice_present(id) && !card_has_text(found, "/servers", id))
			{
				json_take_at(list, i);
				continue;
			}
			if (slice_present(id))
				card_add_text(named, "/servers", id);
			i++;
		}
	}
	for (int i = 0; servers != NULL && i < servers->n; i++)
	{
		Json	   *server = json_new_object();

		if (card_has_text(named, "/servers", servers->items[i]->text))
			continue;
		json_put_text(server, "/name", card_unprefixed(servers->items[i]->text, "mcp:"));
		json_put(server, "/required", json_of_bool(false));
		card_agent_json_write_served(card, servers->items[i]->text, server);
		if (json_get(document, last) == NULL)
			json_put(document, last, json_new_array());
		if (json_get_kind(document, last, JSON_ARRAY) != NULL)
			json_add(json_get(document, last), server);
	}
}
