/*-------------------------------------------------------------------------
 *
 * card_mcp.c
 *	  The tools of a server of the Model Context Protocol: the result of
 *	  tools/list, by itself or in the response.
 *
 * The list does not say whose tools these are, so the caller names the agent.
 * Notes: "response" is the response without its result; "tools" holds, keyed
 * by tool name, the members of each tool that have no row.  Other members of
 * the result are noted unchanged.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include "miscadmin.h"

static const char *const card_mcp_mapped[] = {"tools", "kept", "dropped", "response", NULL};
static const char *const card_mcp_notes[] = {"tools", "kept", "dropped", "response", NULL};
static const char *const card_mcp_tool[] = {"name", NULL};
static const char *const card_mcp_result[] = {"result", NULL};

static bool
card_mcp_handles(const Json *raw)
{
	return json_get_kind(raw, "/tools", JSON_ARRAY) != NULL || json_get_kind(raw, "/result/tools", JSON_ARRAY) != NULL;
}

/*
 * Makes the ID of a server from that of its agent: "agent:mcp.files" gives
 * mcp:files.
 */
static Slice
card_mcp_server(Slice agent_id)
{
	Slice		server = card_unprefixed(agent_id, "agent:mcp.");

	return card_prefixed("mcp:", slice_present(server) && server.len > 0 ? server : card_unprefixed(agent_id, "agent:"));
}

static void
card_mcp_read_tool(const CardSource *source, Json *card, const Json *tool, const char *path)
{
	char	   *at = json_path(path, SLICE_OF("name"));
	Json	   *others = json_new_object();
	Slice		name;

	if (card_find(source, path, JSON_OBJECT) == NULL)
		return;
	card_require(source, at);
	name = card_find_word(source, at, ID_CAPABILITY, "tool:");
	(void) card_find(source, json_path(path, SLICE_OF("inputSchema")), JSON_OBJECT);
	(void) card_find(source, json_path(path, SLICE_OF("outputSchema")), JSON_OBJECT);
	if (!slice_present(name) || card_add_capability(source, card, at, card_prefixed("tool:", name)) == NULL)
		return;
	card_copy_members(tool, card_mcp_tool, others);
	card_note(card, &card_mcp, json_path("/tools", name), others);
}

static Json *
card_mcp_read(const CardSource *source)
{
	bool		is_response = json_get_kind(source->raw, "/tools", JSON_ARRAY) == NULL &&
		json_get_kind(source->raw, "/result", JSON_OBJECT) != NULL;
	const char *at = is_response ? "/result" : "";
	char	   *tools_path = psprintf("%s/tools", at);
	const Json *tools = card_find(source, tools_path, JSON_ARRAY);
	Json	   *card;
	Json	   *others = json_new_object();
	Json	   *response = json_new_object();

	/*
	 * the document has no member for it, so card_new could only report a path
	 * that makes no sense
	 */
	if (!slice_present(source->agent_id))
		card_fault(source, "/agent_id", "REQUIRED",
				   "A list of tools does not say whose they are; name the agent in the argument \"agent_id\".");
	card = card_new(source, "/agent_id", SLICE_NONE);
	/* a response that reports an error has no list, and must not remove the tools of the server */
	card_require(source, tools_path);
	card_copy_members(json_get(source->raw, at), card_mcp_mapped, others);
	card_note(card, &card_mcp, "", others);
	/* an empty list has this note, too, so that it is not mistaken for none */
	card_note(card, &card_mcp, "/tools", json_new_object());
	if (is_response)
	{
		card_copy_members(source->raw, card_mcp_result, response);
		card_note(card, &card_mcp, "/response", response);
	}
	if (slice_present(source->agent_id) && card_add_capability(source, card, "", SLICE_OF(CARD_SERVERS)) != NULL)
		card_add_text(card_capability(card, SLICE_OF(CARD_SERVERS)), "/servers", card_mcp_server(source->agent_id));
	for (int i = 0; tools != NULL && i < tools->n; i++)
		card_mcp_read_tool(source, card, tools->items[i], json_path_index(tools_path, i));
	return card;
}

/*
 * Writes what descriptions in other dialects say about a skill.  MCP allows
 * only schemas of objects.
 */
static void
card_mcp_write_skill(const Json *card, Slice id, Slice skill, Json *tool)
{
	static const char *const names[] = {"/name", "/title", NULL};
	static const char *const descriptions[] = {"/description", NULL};
	static const char *const schemas[] = {"/inputSchema", "/outputSchema", NULL};
	const Json *legacy = card_legacy_capability(card, id);
	Slice		title = card_said_of_skill(card, skill, names);
	Slice		description = card_said_of_skill(card, skill, descriptions);

	/* the ID comes back if nothing is said */
	if (title.s != skill.s)
		json_put_text(tool, "/title", title);
	if (description.s != skill.s)
		json_put_text(tool, "/description", description);
	for (const char *const *schema = schemas; *schema != NULL; schema++)
		if (json_says(json_get(legacy, *schema), "/type", "object"))
			json_put(tool, *schema, json_copy(json_get(legacy, *schema)));
}

/*
 * Writes a capability as a tool: "tool:x" becomes x, and "skill:x" becomes
 * skill.x.  Returns NULL for any other capability.  If the tools are those of
 * a server, the skills, which another description has named, are not among
 * them.
 */
static Json *
card_mcp_write_tool(const Json *card, const Json *capability)
{
	Slice		id = json_get_text(capability, "/id");
	Slice		name = card_unprefixed(id, "tool:");
	Slice		skill = card_noted(card, &card_mcp, "/tools") == NULL ? card_unprefixed(id, "skill:") : SLICE_NONE;
	const Json *others = slice_present(name) ? card_noted(card, &card_mcp, json_path("/tools", name)) : NULL;
	Json	   *tool = json_is(others, JSON_OBJECT) ? json_copy(others) : json_new_object();

	if (!slice_present(id) || slice_is(id, CARD_SERVERS) || (!slice_present(name) && !slice_present(skill)) ||
		card_is_further_version(card, capability))
		return NULL;
	json_put_text(tool, "/name", slice_present(name) ? name : card_prefixed("skill.", skill));
	if (slice_present(skill))
		card_mcp_write_skill(card, id, skill, tool);
	if (others == NULL && json_get(tool, "/inputSchema") == NULL)
		json_put_cstring(tool, "/inputSchema/type", "object");
	return tool;
}

static Json *
card_mcp_write(const Json *card)
{
	const Json *noted = card_noted(card, &card_mcp, "");
	const Json *response = card_noted(card, &card_mcp, "/response");
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);
	Json	   *result = json_new_object();
	Json	   *tools = json_new_array();
	Json	   *document;

	card_copy_members(noted, card_mcp_notes, result);
	for (int i = 0; capabilities != NULL && i < capabilities->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		json_add(tools, card_mcp_write_tool(card, capabilities->items[i]));
	}
	json_put(result, "/tools", tools);
	if (!json_is(response, JSON_OBJECT))
		return result;
	document = json_copy(response);
	json_put(document, "/result", result);
	return document;
}

const CardDialect card_mcp = {
	.name = "mcp",
	.handles = card_mcp_handles,
	.read = card_mcp_read,
	.write = card_mcp_write,
};
