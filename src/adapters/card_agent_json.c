/*-------------------------------------------------------------------------
 *
 * card_agent_json.c
 *	  The agent.json of spec 002, and the agents in its registry.
 *
 * Notes: "skills" holds, keyed by skill ID, the members of each skill that have no row; "entry"
 * is true for an agent whose name is its key in a registry; "indexed" lists the skills that only
 * the index of the registry names.  All other members without a row, among them legacy
 * capabilities, are noted unchanged.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include "protocol/place.h"
#include "semver/version.h"

/* members that are not noted unchanged: those with a row in the mapping, or with the name of another note */
static const char *const card_agent_json_mapped[] = {
	"name", "displayName", "description", "version", "skills", "kept", "dropped", "entry", "indexed", NULL
};
static const char *const card_agent_json_notes[] = {"kept", "dropped", "entry", "indexed", "skills", NULL};
static const char *const card_agent_json_skill[] = {"id", NULL};
static const char *const card_agent_json_skill_description[] = {"/description", NULL};

/* Does it have a member that only A2A cards have?  Then it is one, perhaps without required members. */
static bool
card_agent_json_is_for_a2a(const Json *raw)
{
	static const char *const members[] = {
		"/supportedInterfaces", "/protocolVersion", "/preferredTransport", "/defaultInputModes", "/defaultOutputModes", NULL
	};

	for (const char *const *member = members; *member != NULL; member++)
		if (json_get(raw, *member) != NULL)
			return true;
	return json_get_kind(raw, "/capabilities", JSON_OBJECT) != NULL;
}

static bool
card_agent_json_handles(const Json *raw)
{
	return json_has_text(raw, "/name") && json_has_text(raw, "/version") && json_has_text(raw, "/description") &&
		!card_agent_json_is_for_a2a(raw);
}

/* Makes a skill ID from the name of a legacy capability: parse_recipe becomes skill:parse-recipe. */
static Slice
card_agent_json_legacy_id(Slice name)
{
	Slice		id = card_prefixed("skill:", name);

	for (char *s = unconstify(char *, id.s); *s != '\0'; s++)
		if (*s == '_')
			*s = '-';
	return id;
}

/* We do not build the ID, because there may be tens of thousands of names. */
bool
card_agent_json_has_legacy_id(Slice name, Slice id)
{
	Slice		skill = card_unprefixed(id, "skill:");

	if (!slice_present(skill) || skill.len != name.len)
		return false;
	for (int i = 0; i < name.len; i++)
		if (skill.s[i] != (name.s[i] == '_' ? '-' : name.s[i]))
			return false;
	return true;
}

/* ------------------------------------------------------------------- skills */

static void
card_agent_json_read_skill(const CardSource *source, Json *card, const char *path)
{
	const Json *skill = json_get(source->raw, path);
	bool		is_text = skill->kind == JSON_TEXT;
	const char *at = is_text ? path : json_path(path, SLICE_OF("id"));
	Slice		id;
	Json	   *capability;
	Json	   *others = json_new_object();

	if (!is_text && skill->kind != JSON_OBJECT)
	{
		card_fault(source, path, "WRONG_TYPE", "It must be an object with an \"id\".");
		return;
	}
	card_require(source, at);
	id = card_find_word(source, at, ID_CAPABILITY, "skill:");
	if (!slice_present(id))
		return;
	capability = card_add_capability(source, card, at, card_prefixed("skill:", id));
	if (capability == NULL)
		return;
	card_check_texts(source, json_path(path, SLICE_OF("triggers")));
	card_copy_members(skill, card_agent_json_skill, others);
	card_put_tags(capability, others, "/triggers");
	card_note(card, &card_agent_json, json_path("/skills", id), others);
}

static void
card_agent_json_read_skills(const CardSource *source, Json *card)
{
	const Json *skills = card_find(source, "/skills", JSON_ARRAY);

	for (int i = 0; skills != NULL && i < skills->n; i++)
		card_agent_json_read_skill(source, card, json_path_index("/skills", i));
}

static void
card_agent_json_read_legacy(const CardSource *source, Json *card)
{
	const Json *legacy = card_find(source, "/capabilities", JSON_ARRAY);

	for (int i = 0; legacy != NULL && i < legacy->n; i++)
	{
		char	   *path = json_path_index("/capabilities", i);
		char	   *at = json_path(path, SLICE_OF("name"));
		Slice		name;

		if (card_find(source, path, JSON_OBJECT) == NULL)
			continue;
		card_require(source, at);
		name = card_find_word(source, at, ID_CAPABILITY, "skill:");
		(void) card_find(source, json_path(path, SLICE_OF("inputSchema")), JSON_OBJECT);
		(void) card_find(source, json_path(path, SLICE_OF("outputSchema")), JSON_OBJECT);
		if (slice_present(name) && card_capability(card, card_agent_json_legacy_id(name)) == NULL)
			(void) card_add_capability(source, card, at, card_agent_json_legacy_id(name));
	}
}

/* Adds the skills that only the index of the registry names.  Faults have the path in the index. */
static void
card_agent_json_read_index(const CardSource *source, Json *card)
{
	CardSource	whole = {.base = "", .list = source->list};

	for (int i = 0; source->indexed != NULL && i < source->indexed->n; i++)
	{
		Slice		skill = source->indexed->items[i]->text;
		Slice		id = card_prefixed("skill:", skill);

		if (card_capability(card, id) != NULL ||
			card_add_capability(&whole, card, json_path("/skillIndex", skill), id) == NULL)
			continue;
		if (card_noted(card, &card_agent_json, "/indexed") == NULL)
			card_note(card, &card_agent_json, "/indexed", json_new_array());
		json_add(card_noted(card, &card_agent_json, "/indexed"), source->indexed->items[i]);
	}
}

/* ------------------------------------------------- the name and the version */

static bool
card_agent_json_is_name(Slice name)
{
	for (int i = 0; i < name.len; i++)
		if ((unsigned char) name.s[i] <= ' ' || (name.s[i] >= 'A' && name.s[i] <= 'Z'))
			return false;
	return true;
}

/* Is it MAJOR.MINOR.PATCH, possibly with a prerelease and a build? */
static bool
card_agent_json_is_version(Slice version)
{
	VersionReader reader;
	PartialVersion partial;

	return version.len > 0 && isdigit((unsigned char) version.s[0]) && version_read_begin(&reader, version) &&
		version_eat_partial(&reader, &partial) && reader.at == reader.end && partial.known == 3;
}

/* Checks the name and version, which spec 002 requires in an agent.json but not in a registry. */
static void
card_agent_json_check_required(const CardSource *source)
{
	static const char *const required[] = {"/name", "/version", "/description", NULL};
	Slice		name = card_find_text(source, "/name");
	Slice		version = card_find_text(source, "/version");

	for (const char *const *path = required; *path != NULL; path++)
		card_require(source, *path);
	if (slice_present(name) && !card_agent_json_is_name(name))
		card_fault(source, "/name", "WRONG_FORMAT",
				   "The name %s has blanks or capital letters; write it like \"recipe-agent\", and what people read as \"displayName\".",
				   place_quote(name));
	if (slice_present(version) && !card_agent_json_is_version(version))
		card_fault(source, "/version", "WRONG_FORMAT",
				   "The version %s is not a semantic version; write it as MAJOR.MINOR.PATCH, like \"1.0.0\".",
				   place_quote(version));
}

/* Returns a name for an agent without an agent.json.  Its ID may have characters that a name must not have. */
static Slice
card_agent_json_name_of(Slice agent_id)
{
	Slice		name = card_unprefixed(agent_id, "agent:");

	if (!slice_present(name))
		return name;
	name = slice_copy(name);
	for (int i = 0; i < name.len; i++)
		unconstify(char *, name.s)[i] = (unsigned char) name.s[i] <= ' ' ? '-' : pg_ascii_tolower((unsigned char) name.s[i]);
	return name;
}

/* ------------------------------------------------------------------ reading */

static void
card_agent_json_check(const CardSource *source)
{
	static const char *const words[] = {"personal", "work", "shared", NULL};
	static const char *const objects[] = {"/invocation", "/provider", "/dependencies", "/observability", "/coordination", "/metadata", "/location", NULL};
	static const char *const lists[] = {"/signals", "/dependencies/agents", "/dependencies/knowledge", NULL};
	Slice		context = card_find_text(source, "/context");
	const char *const *word = words;

	if (!source->in_registry)
		card_agent_json_check_required(source);
	for (const char *const *path = objects; *path != NULL; path++)
		(void) card_find(source, *path, JSON_OBJECT);
	for (const char *const *path = lists; *path != NULL; path++)
		card_check_texts(source, *path);
	while (slice_present(context) && *word != NULL && !slice_is(context, *word))
		word++;
	if (slice_present(context) && *word == NULL)
		card_fault(source, "/context", "WRONG_VALUE", "It must be \"personal\", \"work\" or \"shared\".");
}

static Json *
card_agent_json_read(const CardSource *source)
{
	Slice		name = card_find_word(source, "/name", ID_AGENT, "agent:");
	Json	   *card = card_new(source, "/name", name);
	Json	   *others = json_new_object();

	card_agent_json_check(source);
	card_copy_members(source->raw, card_agent_json_mapped, others);
	card_note(card, &card_agent_json, "", others);
	if (source->is_keyed)
		card_note(card, &card_agent_json, "/entry", json_of_bool(true));
	card_put_display(source, card, "/displayName", "/description");
	card_agent_json_read_skills(source, card);
	card_agent_json_read_legacy(source, card);
	card_agent_json_read_index(source, card);
	card_put_version(source, &card_agent_json, card, "/version");
	card_agent_json_read_servers(source, card);
	card_agent_json_read_context(source, card);
	card_agent_json_read_agents(source, card);
	return card;
}

/* ------------------------------------------------------------------ writing */

/* Is the skill known only from a legacy capability of the description? */
static bool
card_agent_json_is_legacy(const Json *card, Slice skill)
{
	const Json *legacy = card_noted(card, &card_agent_json, "/capabilities");
	Slice		id = card_prefixed("skill:", skill);

	if (card_noted(card, &card_agent_json, json_path("/skills", skill)) != NULL)
		return false;
	for (int i = 0; json_is(legacy, JSON_ARRAY) && i < legacy->n; i++)
	{
		Slice		name = json_get_text(legacy->items[i], "/name");

		if (slice_present(name) && card_agent_json_has_legacy_id(name, id))
			return true;
	}
	return false;
}

static void
card_agent_json_write_skills(const Json *card, bool foreign, Json *document)
{
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);
	const Json *noted = card_noted(card, &card_agent_json, "");
	Json	   *skills = json_new_array();

	for (int i = 0; capabilities != NULL && i < capabilities->n; i++)
	{
		Slice		id = card_unprefixed(json_get_text(capabilities->items[i], "/id"), "skill:");
		const Json *others;
		Json	   *skill;

		if (!slice_present(id) || card_agent_json_is_legacy(card, id) ||
			card_has_text(noted, "/indexed", id) || card_is_further_version(card, capabilities->items[i]))
			continue;
		others = card_noted(card, &card_agent_json, json_path("/skills", id));
		skill = json_is(others, JSON_OBJECT) ? json_copy(others) : json_new_object();
		json_put_text(skill, "/id", id);
		card_write_tags(capabilities->items[i], skill, "/triggers");
		if (others == NULL)
			json_put_text(skill, "/description", card_said_of_skill(card, id, card_agent_json_skill_description));
		json_add(skills, skill);
	}
	if (skills->n > 0 || !foreign)
		json_put(document, "/skills", skills);
}

/* Removes legacy capabilities that are no longer capabilities of the card. */
static void
card_agent_json_write_legacy(const Json *card, Json *document)
{
	Json	   *legacy = json_get_kind(document, "/capabilities", JSON_ARRAY);

	for (int i = 0; legacy != NULL && i < legacy->n;)
	{
		Slice		name = json_get_text(legacy->items[i], "/name");

		if (slice_present(name) && card_capability(card, card_agent_json_legacy_id(name)) == NULL)
			json_take_at(legacy, i);
		else
			i++;
	}
}

static Json *
card_agent_json_write(const Json *card)
{
	const Json *noted = card_noted(card, &card_agent_json, "");
	bool		foreign = json_is(noted, JSON_OBJECT);
	Json	   *document = json_new_object();
	Json	   *version = card_version(card, &card_agent_json);

	if (!foreign && !(json_is(version, JSON_TEXT) && card_agent_json_is_version(version->text)))
		version = json_of_cstring("1.0.0");
	card_copy_members(noted, card_agent_json_notes, document);
	if (!json_is_true(noted, "/entry"))
		json_put_text(document, "/name", card_unprefixed(json_get_text(card, "/agent_id"), "agent:"));
	if (!foreign)
	{
		json_put_text(document, "/name", card_agent_json_name_of(json_get_text(card, "/agent_id")));
		json_put_text(document, "/description", card_unprefixed(json_get_text(card, "/agent_id"), "agent:"));
	}
	json_put_text(document, "/displayName", json_get_text(card, "/display/name"));
	json_put_text(document, "/description", json_get_text(card, "/display/desc"));
	json_put(document, "/version", version);
	card_agent_json_write_skills(card, foreign, document);
	card_agent_json_write_legacy(card, document);
	card_agent_json_write_servers(card, document);
	card_agent_json_write_context(card, document);
	card_agent_json_write_agents(card, document);
	return document;
}

const CardDialect card_agent_json = {
	.name = "agent_json",
	.handles = card_agent_json_handles,
	.read = card_agent_json_read,
	.write = card_agent_json_write,
};
