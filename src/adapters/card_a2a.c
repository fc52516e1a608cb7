/*-------------------------------------------------------------------------
 *
 * card_a2a.c
 *	  AgentCards of the Agent2Agent protocol, versions 1.0 and 0.3.
 *
 * A card of version 1.0 has interfaces, one of version 0.3 has a URL, and a
 * document may have both.  The endpoint "a2a" of the AgentCard is the first
 * interface or, without interfaces, the URL.  Notes: "skills" holds, keyed by
 * skill ID, the members of each skill that have no row; "same_url" is true if
 * the URL is that of the first interface.  All other members without a row are
 * noted unchanged.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include <ctype.h>

#include "base/uri.h"
#include "miscadmin.h"
#include "protocol/place.h"

#define FIRST_URL	"/supportedInterfaces/0/url"

static const char *const card_a2a_mapped[] = {
	"name", "description", "version", "skills", "url", "kept", "dropped", "same_url", NULL
};
static const char *const card_a2a_notes[] = {"kept", "dropped", "same_url", "skills", NULL};
static const char *const card_a2a_skill[] = {"id", NULL};

/* members that hold the human-readable name of a skill in other dialects */
static const char *const card_a2a_skill_name[] = {"/name", "/title", NULL};
static const char *const card_a2a_skill_description[] = {"/description", NULL};

static bool
card_a2a_handles(const Json *raw)
{
	return json_has_text(raw, "/name") &&
		(json_get_kind(raw, "/supportedInterfaces", JSON_ARRAY) != NULL ||
		 (json_has_text(raw, "/url") && json_get_kind(raw, "/capabilities", JSON_OBJECT) != NULL));
}

/* ------------------------------------------------------------------ reading */

/*
 * Makes the name of an agent fit for an ID: "Recipe Agent" becomes
 * recipe-agent.
 */
static Slice
card_a2a_slug(Slice name)
{
	StringInfoData slug;

	initStringInfo(&slug);
	for (int i = 0; i < name.len; i++)
	{
		unsigned char c = name.s[i];

		if (c >= 0x80 || isalnum(c) || c == '_' || c == '.')
			appendStringInfoChar(&slug, c < 0x80 ? pg_ascii_tolower(c) : c);
		else if (slug.len > 0 && slug.data[slug.len - 1] != '-')
			appendStringInfoChar(&slug, '-');
	}
	while (slug.len > 0 && slug.data[slug.len - 1] == '-')
		slug.data[--slug.len] = '\0';
	return (Slice) {slug.data, slug.len};
}

static void
card_a2a_read_skills(const CardSource *source, Json *card)
{
	const Json *skills = card_find(source, "/skills", JSON_ARRAY);

	for (int i = 0; skills != NULL && i < skills->n; i++)
	{
		char	   *path = json_path_index("/skills", i);
		char	   *at = json_path(path, SLICE_OF("id"));
		Json	   *others = json_new_object();
		Json	   *capability;
		Slice		id;

		if (card_find(source, path, JSON_OBJECT) == NULL)
			continue;
		card_require(source, at);
		id = card_find_word(source, at, ID_CAPABILITY, "skill:");
		capability = slice_present(id) ? card_add_capability(source, card, at, card_prefixed("skill:", id)) : NULL;
		if (capability == NULL)
			continue;
		card_check_texts(source, json_path(path, SLICE_OF("tags")));
		card_copy_members(skills->items[i], card_a2a_skill, others);
		card_put_tags(capability, others, "/tags");
		card_note(card, &card_a2a, json_path("/skills", id), others);
	}
}

static void
card_a2a_read_url(const CardSource *source, Json *card)
{
	const Json *interfaces = card_find(source, "/supportedInterfaces", JSON_ARRAY);
	bool		has_interface = interfaces != NULL && interfaces->n > 0;
	Slice		own = card_find_text(source, "/url");
	Slice		url = has_interface ? card_find_text(source, FIRST_URL) : own;
	const char *path = has_interface ? FIRST_URL : "/url";

	if (has_interface || interfaces == NULL)
		card_require(source, path);
	if (!slice_present(url))
		return;
	if (!uri_is_plausible(url))
	{
		card_fault(source, path, "WRONG_FORMAT", "It is %s; it must be a URL, like \"https://ken.example/a2a\".", place_quote(url));
		return;
	}
	json_put_text(card, "/endpoints/a2a/url", url);
	if (has_interface)
		json_take(card_noted(card, &card_a2a, ""), FIRST_URL);
	if (has_interface && slice_present(own) && slice_equal(own, url))
		card_note(card, &card_a2a, "/same_url", json_of_bool(true));
	else if (has_interface && slice_present(own))
		card_note(card, &card_a2a, "/url", json_of_text(own));
}

static Json *
card_a2a_read(const CardSource *source)
{
	Slice		name = card_find_text(source, "/name");
	Slice		slug = slice_present(name) ? card_a2a_slug(name) : SLICE_NONE;
	Json	   *card;
	Json	   *others = json_new_object();

	card_require(source, "/name");
	if (slice_present(name) && !slice_present(source->agent_id))
		(void) card_check_word(source, "/name", ID_AGENT, card_prefixed("agent:", slug));
	card = card_new(source, "/name", slug);
	card_copy_members(source->raw, card_a2a_mapped, others);
	card_note(card, &card_a2a, "", others);
	card_put_display(source, card, "/name", "/description");
	card_a2a_read_url(source, card);
	card_a2a_read_skills(source, card);
	card_put_version(source, &card_a2a, card, "/version");
	return card;
}

/* ------------------------------------------------------------------ writing */

static void
card_a2a_write_skills(const Json *card, Json *document)
{
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);
	Json	   *skills = json_new_array();

	for (int i = 0; capabilities != NULL && i < capabilities->n; i++)
	{
		Slice		id = card_unprefixed(json_get_text(capabilities->items[i], "/id"), "skill:");
		const Json *others;
		Json	   *skill;

		CHECK_FOR_INTERRUPTS();
		if (!slice_present(id) || card_is_further_version(card, capabilities->items[i]))
			continue;
		others = card_noted(card, &card_a2a, json_path("/skills", id));
		skill = json_is(others, JSON_OBJECT) ? json_copy(others) : json_new_object();
		json_put_text(skill, "/id", id);
		if (others == NULL)
		{
			json_put_text(skill, "/name", card_said_of_skill(card, id, card_a2a_skill_name));
			json_put_text(skill, "/description", card_said_of_skill(card, id, card_a2a_skill_description));
			json_put(skill, "/tags", json_new_array());
		}
		card_write_tags(capabilities->items[i], skill, "/tags");
		json_add(skills, skill);
	}
	if (skills->n > 0 || card_noted(card, &card_a2a, "") == NULL)
		json_put(document, "/skills", skills);
}

static void
card_a2a_write_url(const Json *card, Json *document)
{
	const Json *noted = card_noted(card, &card_a2a, "");
	Slice		url = json_get_text(card, "/endpoints/a2a/url");

	if (json_get(document, "/supportedInterfaces/0") == NULL || json_is_true(noted, "/same_url"))
		json_put_text(document, "/url", url);
	if (json_get_kind(document, "/supportedInterfaces/0", JSON_OBJECT) != NULL)
		json_put_text(document, FIRST_URL, url);
}

/* Writes all members that clients of versions 1.0 and 0.3 require. */
static void
card_a2a_write_native(const Json *card, Json *document)
{
	static const char *const modes[] = {"/defaultInputModes", "/defaultOutputModes", NULL};
	Json	   *interfaces = json_new_array();
	Json	   *interface = json_new_object();

	json_put_text(document, "/name", card_unprefixed(json_get_text(card, "/agent_id"), "agent:"));
	json_put(document, "/description", json_get(document, "/name"));
	json_put(document, "/capabilities", json_new_object());
	for (const char *const *mode = modes; *mode != NULL; mode++)
	{
		json_put(document, *mode, json_new_array());
		json_add(json_get(document, *mode), json_of_cstring("application/json"));
	}
	json_put(document, "/supportedInterfaces", interfaces);
	json_put_cstring(document, "/protocolVersion", "0.3.0");
	json_put_text(document, "/url", json_get_text(card, "/endpoints/a2a/url"));
	if (json_get(document, "/url") == NULL)
		return;
	json_put_cstring(document, "/preferredTransport", "JSONRPC");
	json_put_cstring(interface, "/protocolBinding", "JSONRPC");
	json_put_cstring(interface, "/protocolVersion", "1.0");
	json_add(interfaces, interface);
}

static Json *
card_a2a_write(const Json *card)
{
	const Json *noted = card_noted(card, &card_a2a, "");
	Json	   *document = json_new_object();

	card_copy_members(noted, card_a2a_notes, document);
	if (noted == NULL)
		card_a2a_write_native(card, document);
	json_put_text(document, "/name", json_get_text(card, "/display/name"));
	/* a description in another dialect may have taken the name away, without which clients refuse the card */
	if (json_get(document, "/name") == NULL)
		json_put_text(document, "/name", card_unprefixed(json_get_text(card, "/agent_id"), "agent:"));
	json_put_text(document, "/description", json_get_text(card, "/display/desc"));
	json_put(document, "/version", card_version(card, &card_a2a));
	card_a2a_write_url(card, document);
	card_a2a_write_skills(card, document);
	return document;
}

const CardDialect card_a2a = {
	.name = "a2a",
	.handles = card_a2a_handles,
	.read = card_a2a_read,
	.write = card_a2a_write,
};
