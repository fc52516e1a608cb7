/*-------------------------------------------------------------------------
 *
 * card_registry.c
 *	  The agents in a registry of spec 002.
 *
 * "agents" is an object whose keys are the names of the agents or, as in
 * version 1.0, an array of agents that contain their own names.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include "miscadmin.h"
#include "protocol/limits.h"
#include "protocol/place.h"

bool
card_is_registry(const Json *document)
{
	const Json *agents = json_get(document, "/agents");

	return json_is(agents, JSON_OBJECT) || json_is(agents, JSON_ARRAY);
}

/* ----------------------------------------------------------------- the names */

static Slice
card_registry_name(const Json *agents, int i)
{
	return agents->kind == JSON_OBJECT ? agents->keys[i] : json_get_text(agents->items[i], "/name");
}

/*
 * Returns an object whose keys are the names of the agents.  Adds a fault for
 * each name that occurs twice.
 */
static const Json *
card_registry_names(const CardSource *source, const Json *agents)
{
	Json	   *names;

	if (agents->kind == JSON_OBJECT)
		return agents;
	names = json_new_object();
	for (int i = 0; i < agents->n; i++)
	{
		Slice		name = card_registry_name(agents, i);

		if (!slice_present(name))
			continue;
		if (json_member(names, name) != NULL)
			card_fault(source, json_path_index("/agents", i), "DUPLICATE_VALUE",
					   "Another agent of the registry has the name %s.", place_quote(name));
		json_put_member(names, name, agents->items[i]);
	}
	return names;
}

/* Returns the names of the first few agents, for a message. */
static char *
card_registry_list(const Json *agents)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < agents->n && i < 10; i++)
		if (slice_present(card_registry_name(agents, i)))
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", place_quote(card_registry_name(agents, i)));
	if (agents->n > 10)
		appendStringInfoString(&names, ", ...");
	return names.len > 0 ? names.data : "none";
}

/* Checks a member that names an agent of the registry.  Returns false if it does not. */
static bool
card_registry_check_agent(const CardSource *source, const Json *agents, const Json *names, const char *path)
{
	const Json *agent = card_find(source, path, JSON_TEXT);
	bool		is_known = agent != NULL && json_member(names, agent->text) != NULL;

	if (agent != NULL && !is_known)
		card_fault(source, path, "UNKNOWN_AGENT", "It names %s, which is not an agent of this registry; name one of %s.",
				   place_quote(agent->text), card_registry_list(agents));
	return is_known;
}

/* ----------------------------------------------------- beside the agents */

static void
card_registry_check(const CardSource *source, const Json *agents, const Json *names)
{
	const Json *index = card_find(source, "/skillIndex", JSON_OBJECT);
	Slice		version = card_find_text(source, "/version");

	(void) card_find_word(source, "/orchestrator", ID_WORD, "");
	if (slice_present(version) && (version.s[0] < '1' || version.s[0] > '3' || (version.len > 1 && version.s[1] != '.')))
		card_fault(source, "/version", "WRONG_VALUE", "It is %s; versions 1.0, 2.0 and 3.0 of registries are known.",
				   place_quote(version));
	for (int i = 0; index != NULL && i < index->n; i++)
	{
		char	   *path = json_path("/skillIndex", index->keys[i]);

		/* otherwise the agent that gets the capability checks its ID */
		if (!card_registry_check_agent(source, agents, names, path))
			(void) card_check_word(source, path, ID_CAPABILITY, card_prefixed("skill:", index->keys[i]));
		if (json_is(index->items[i], JSON_NULL))
			card_fault(source, path, "NULL_VALUE", "It must be the name of an agent of this registry, not null.");
	}
	(void) card_find(source, "/routing", JSON_OBJECT);
	(void) card_registry_check_agent(source, agents, names, "/routing/defaultAgent");
	card_check_texts(source, "/routing/switchCommands");
	card_check_texts(source, "/routing/multiAgentTriggers");
}

/* -------------------------------------------------- the words of its rules */

/*
 * Checks the phrases at a path.  clutch.install_rules makes routing rules from
 * a registry.  Whatever a rule cannot have is refused here already, where the
 * person who imports the registry sees it.  "most" is the number of elements
 * that a rule can have.
 */
static void
card_registry_check_phrases(const CardSource *source, const char *path, int most)
{
	const Json *texts = json_get_kind(source->raw, path, JSON_ARRAY);

	if (texts != NULL && texts->n > most)
		card_fault(source, path, "TOO_MANY", "It has %d elements; the routing rules of a registry can have %d of them.",
				   texts->n, most);
	for (int i = 0; texts != NULL && i < Min(texts->n, most); i++)
		if (json_is(texts->items[i], JSON_TEXT) && texts->items[i]->text.len > LIMITS_PHRASE_BYTES)
			card_fault(source, json_path_index(path, i), "TOO_LONG",
					   "It has %d bytes; a word or phrase of a routing rule has at most %d.",
					   texts->items[i]->text.len, LIMITS_PHRASE_BYTES);
}

/*
 * Returns the number of bytes that remain for the name that follows the
 * longest switch command and a blank.
 */
static int
card_registry_name_bytes(const CardSource *source)
{
	const Json *commands = json_get_kind(source->raw, "/routing/switchCommands", JSON_ARRAY);
	int			longest = 0;

	for (int i = 0; commands != NULL && i < commands->n; i++)
		if (json_is(commands->items[i], JSON_TEXT) && commands->items[i]->text.len <= LIMITS_PHRASE_BYTES)
			longest = Max(longest, commands->items[i]->text.len);
	return commands != NULL && commands->n > 0 ? LIMITS_PHRASE_BYTES - longest - 1 : PG_INT32_MAX;
}

static void
card_registry_check_name(const CardSource *source, Slice name, const char *path, int most)
{
	if (slice_present(name) && name.len > most)
		card_fault(source, path, "TOO_LONG",
				   "It has %d bytes; behind the longest of the switchCommands, a phrase of a routing rule has room for %d.",
				   name.len, Max(most, 0));
}

static void
card_registry_check_rules(const CardSource *source, const Json *agents)
{
	int			most = card_registry_name_bytes(source);

	card_registry_check_phrases(source, "/routing/multiAgentTriggers", LIMITS_PHRASES);
	/* each of them is combined with two names of each agent */
	card_registry_check_phrases(source, "/routing/switchCommands", LIMITS_PHRASES / 2);
	for (int i = 0; i < agents->n; i++)
	{
		const Json *agent = agents->items[i];
		const char *base = agents->kind == JSON_OBJECT ? json_path("/agents", agents->keys[i]) : json_path_index("/agents", i);
		const Json *skills = json_get_kind(agent, "/skills", JSON_ARRAY);

		card_registry_check_name(source, card_registry_name(agents, i),
								 agents->kind == JSON_OBJECT ? base : psprintf("%s/name", base), most);
		card_registry_check_name(source, json_get_text(agent, "/displayName"), psprintf("%s/displayName", base), most);
		card_registry_check_phrases(source, psprintf("%s/signals", base), LIMITS_PHRASES);
		for (int j = 0; skills != NULL && j < skills->n; j++)
			card_registry_check_phrases(source, psprintf("%s/skills/%d/triggers", base, j), LIMITS_PHRASES);
	}
}

/*
 * Returns the skills that the index lists for each agent: an object whose keys
 * are the names of all agents, and whose values are arrays.
 */
static Json *
card_registry_skills(const Json *document, const Json *names)
{
	const Json *index = json_get_kind(document, "/skillIndex", JSON_OBJECT);
	Json	   *skills = json_new_object();

	for (int i = 0; i < names->n; i++)
		json_put_member(skills, names->keys[i], json_new_array());
	for (int i = 0; index != NULL && i < index->n; i++)
		if (json_is(index->items[i], JSON_TEXT))
			json_add(json_member(skills, index->items[i]->text), json_of_text(index->keys[i]));
	return skills;
}

/* ---------------------------------------------------------------- the agents */

static CardEntry *
card_registry_read_agent(const CardSource *whole, const Json *agents, const Json *skills, int i)
{
	CardEntry  *entry = palloc0(sizeof(CardEntry));
	bool		is_keyed = agents->kind == JSON_OBJECT;
	Slice		key = is_keyed ? agents->keys[i] : SLICE_NONE;
	CardSource	source = {
		.raw = agents->items[i],
		.base = is_keyed ? json_path("/agents", key) : json_path_index("/agents", i),
		.in_registry = true,
		.is_keyed = is_keyed,
		.is_import = whole->is_import,
		.list = whole->list
	};

	entry->name = card_registry_name(agents, i);
	if (is_keyed)
		source.agent_id = card_prefixed("agent:", key);
	if (is_keyed && !card_check_word(&source, "", ID_AGENT, source.agent_id))
		return entry;
	if (slice_present(entry->name))
		source.indexed = json_member(skills, entry->name);
	entry->card = card_read(&card_agent_json, source);
	entry->agent_id = json_get_text(entry->card, "/agent_id");
	return entry;
}

List *
card_read_registry(Json *document, bool is_import, ProblemList *list)
{
	CardSource	source = {.raw = document, .base = "", .is_import = is_import, .list = list};
	const Json *agents = json_get(document, "/agents");
	const Json *names;
	const Json *skills;
	List	   *entries = NIL;

	if (!card_is_registry(document))
	{
		card_fault(&source, agents != NULL ? "/agents" : "", agents != NULL ? "WRONG_TYPE" : "REQUIRED",
				   agents != NULL ? "It must be an object whose keys are the names of agents, or an array of agents." :
				   "It has no member \"agents\", so it is not a registry.");
		return NIL;
	}
	names = card_registry_names(&source, agents);
	card_registry_check(&source, agents, names);
	card_registry_check_rules(&source, agents);
	skills = card_registry_skills(document, names);
	for (int i = 0; i < agents->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		entries = lappend(entries, card_registry_read_agent(&source, agents, skills, i));
	}
	return entries;
}
