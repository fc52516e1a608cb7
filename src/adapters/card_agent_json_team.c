/*-------------------------------------------------------------------------
 *
 * card_agent_json_team.c
 *	  Which agents may send requests to an agent of spec 002, and to which ones
 *	  it delegates.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include "settings.h"

/*
 * Reads the context.  An agent whose context is not "shared" belongs to the
 * group of its context and serves only members of that group.
 */
void
card_agent_json_read_context(const CardSource *source, Json *card)
{
	Slice		context = card_find_text(source, "/context");
	Slice		group;

	if (!slice_present(context) || slice_is(context, "shared"))
		return;
	json_take(card_noted(card, &card_agent_json, ""), "/context");
	group = card_prefixed("group:", context);
	card_add_text(card, "/groups", group);
	card_add_text(card, "/security/serves", group);
}

void
card_agent_json_write_context(const Json *card, Json *document)
{
	static const char *const contexts[] = {"personal", "work", NULL};
	const char *const *context = contexts;

	while (*context != NULL && !card_has_text(card, "/security/serves", card_prefixed("group:", slice_of_cstring(*context))))
		context++;
	if (*context != NULL)
		json_put_cstring(document, "/context", *context);
}

/*
 * Reads the agents that it delegates to.  An empty list means that it
 * delegates to none.
 */
void
card_agent_json_read_agents(const CardSource *source, Json *card)
{
	const Json *agents = card_find(source, "/dependencies/agents", JSON_ARRAY);

	if (agents == NULL)
		return;
	json_take(card_noted(card, &card_agent_json, ""), "/dependencies/agents");
	json_put(card, "/security/delegates_to", json_new_array());
	for (int i = 0; i < Min(agents->n, clutch_limits.max_list); i++)
	{
		Slice		name = card_find_word(source, json_path_index("/dependencies/agents", i), ID_AGENT, "agent:");

		if (slice_present(name))
			card_add_text(card, "/security/delegates_to", card_prefixed("agent:", name));
	}
	if (agents->n > clutch_limits.max_list)
		card_fault(source, "/dependencies/agents", "TOO_MANY", "It has %d elements; the limit is %d (setting clutch.max_list).",
				   agents->n, clutch_limits.max_list);
}

void
card_agent_json_write_agents(const Json *card, Json *document)
{
	const Json *delegates_to = json_get_kind(card, "/security/delegates_to", JSON_ARRAY);
	Json	   *agents = json_new_array();

	for (int i = 0; delegates_to != NULL && i < delegates_to->n; i++)
	{
		Slice		name = json_is(delegates_to->items[i], JSON_TEXT) ?
			card_unprefixed(delegates_to->items[i]->text, "agent:") : SLICE_NONE;

		if (slice_present(name))
			json_add(agents, json_of_text(name));
	}
	if (delegates_to != NULL)
		json_put(document, "/dependencies/agents", agents);
}
