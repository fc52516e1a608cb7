/*-------------------------------------------------------------------------
 *
 * card.c
 *	  Translation of other protocols' descriptions of agents to AgentCards and
 *	  back.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card_part.h"

#include "adapters/credential.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "semver/version_range.h"
#include "settings.h"

static const CardDialect *const card_dialects[] = {&card_a2a, &card_map, &card_mcp, &card_agent_json, NULL};

/* ----------------------------------------------------------------- dialects */

const CardDialect *
card_dialect_named(Slice name)
{
	for (const CardDialect *const *dialect = card_dialects; *dialect != NULL; dialect++)
		if (slice_is(name, (*dialect)->name))
			return *dialect;
	return NULL;
}

const CardDialect *
card_dialect_of(const Json *raw)
{
	for (const CardDialect *const *dialect = card_dialects; *dialect != NULL; dialect++)
		if (json_is(raw, JSON_OBJECT) && (*dialect)->handles(raw))
			return *dialect;
	return NULL;
}

const char *
card_dialect_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (const CardDialect *const *dialect = card_dialects; *dialect != NULL; dialect++)
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", (*dialect)->name);
	return names.data;
}

/* -------------------------------------------------------- reading and writing */

Json *
card_read(const CardDialect *dialect, CardSource source)
{
	Json	   *raw = unconstify(Json *, source.raw);
	int			faults = source.list->n;
	Json	   *dropped;
	Json	   *card;
	Json	   *kept;

	if (!json_is(raw, JSON_OBJECT))
	{
		card_fault(&source, "", "WRONG_TYPE", "It must be an object.");
		return json_new_object();
	}
	dropped = credential_remove(raw);
	card = dialect->read(&source);
	if (source.list->n > faults)
		return card;
	/*
	 * an object in meta.<dialect>, even an empty one, marks the card as
	 * foreign
	 */
	if (card_noted(card, dialect, "") == NULL)
		card_note(card, dialect, "", json_new_object());
	kept = json_difference(dialect->write(card), raw);
	if (kept->n > 0)
		card_note(card, dialect, "/kept", kept);
	card_note(card, dialect, "/dropped", dropped);
	return card;
}

Json *
card_write(const CardDialect *dialect, const Json *card)
{
	return json_apply(json_copy(dialect->write(card)), card_noted(card, dialect, "/kept"));
}

/* ------------------------------------------------------------------- faults */

void
card_fault(const CardSource *source, const char *path, const char *code, const char *format,...)
{
	char	   *what;
	va_list		args;

	va_start(args, format);
	what = text_of_format(format, args);
	va_end(args);
	problem_add(source->list, psprintf("%s%s", source->base, path), code, "%s", what);
}

/* ------------------------------------------------------------------ members */

Json *
card_find(const CardSource *source, const char *path, JsonKind kind)
{
	static const char *const kinds[] = {"null", "true or false", "a number", "a string", "an array", "an object"};
	Json	   *member = json_get(source->raw, path);

	if (member == NULL || member->kind == JSON_NULL)
		return NULL;
	if (member->kind == kind)
		return member;
	card_fault(source, path, "WRONG_TYPE", "It must be %s.", kinds[kind]);
	return NULL;
}

Slice
card_find_text(const CardSource *source, const char *path)
{
	const Json *member = card_find(source, path, JSON_TEXT);

	if (member == NULL || member->text.len == 0)
		return SLICE_NONE;
	if (member->text.len <= clutch_limits.max_string_bytes)
		return member->text;
	card_fault(source, path, "TOO_LONG", "It has %d bytes; the limit is %d (setting clutch.max_string_bytes).",
			   member->text.len, clutch_limits.max_string_bytes);
	return SLICE_NONE;
}

/*
 * Returns the code of a fault and, in *message, its sentence.  Returns NULL if
 * the word is a valid identifier of this kind.
 */
static const char *
card_word_fault(IdentifierKind kind, Slice word, const char **message)
{
	const char *rule;
	const char *code;

	*message = NULL;
	if (word.len > clutch_limits.max_id_bytes)
	{
		*message = psprintf("It has %d bytes; the limit is %d (setting clutch.max_id_bytes).",
							word.len, clutch_limits.max_id_bytes);
		return "TOO_LONG";
	}
	if (identifier_find_control(word) >= 0)
	{
		*message = "It contains a line break or another control character.";
		return "CONTROL_CHARACTER";
	}
	code = identifier_fault(kind, word, &rule);
	if (code != NULL)
		*message = psprintf("It is %s; %s.", place_quote(word), rule);
	return code;
}

bool
card_check_word(const CardSource *source, const char *path, IdentifierKind kind, Slice word)
{
	const char *message;
	const char *code = card_word_fault(kind, word, &message);

	if (code != NULL)
		card_fault(source, path, code, "%s", message);
	return code == NULL;
}

Slice
card_find_word(const CardSource *source, const char *path, IdentifierKind kind, const char *prefix)
{
	Slice		word = card_find_text(source, path);

	if (!slice_present(word) || !card_check_word(source, path, kind, card_prefixed(prefix, word)))
		return SLICE_NONE;
	return word;
}

void
card_require(const CardSource *source, const char *path)
{
	const Json *member = json_get(source->raw, path);

	if (member == NULL || member->kind == JSON_NULL)
		card_fault(source, path, "REQUIRED", "It is missing.");
	else if (member->kind == JSON_TEXT && member->text.len == 0)
		card_fault(source, path, "EMPTY", "It is empty.");
}

/*
 * Adds a fault if the agent would be the orchestrator.  An ID that is made
 * from a name can be the orchestrator's by mere chance; the agent would then
 * be sent requests that nobody works on.
 */
static void
card_check_is_agent(const CardSource *source, const char *path, Slice agent_id)
{
	if (source->is_import && slice_is(agent_id, clutch_orchestrator))
		card_fault(source, path, "NOT_ALLOWED",
				   "The ID of the agent would be %s, which is the orchestrator (setting clutch.orchestrator); give the agent another name.",
				   place_quote(agent_id));
}

/* ---------------------------------------------------------- making the card */

Slice
card_prefixed(const char *prefix, Slice name)
{
	return slice_of_cstring(psprintf("%s%.*s", prefix, name.len, name.s));
}

Slice
card_unprefixed(Slice id, const char *prefix)
{
	int			len = strlen(prefix);

	if (!slice_present(id) || !slice_starts(id, slice_of_cstring(prefix)))
		return SLICE_NONE;
	return slice_after(id, len);
}

Json *
card_new(const CardSource *source, const char *path, Slice name)
{
	Json	   *card = json_new_object();

	json_put_cstring(card, "/v", CLUTCH_PROTOCOL);
	json_put(card, "/capabilities", json_new_array());
	if (slice_present(source->agent_id))
		json_put_text(card, "/agent_id", source->agent_id);
	else if (slice_present(name))
		json_put_text(card, "/agent_id", card_prefixed("agent:", name));
	else
		card_require(source, path);
	if (json_get(card, "/agent_id") != NULL)
		card_check_is_agent(source, slice_present(source->agent_id) ? "" : path, json_get_text(card, "/agent_id"));
	return card;
}

void
card_put_display(const CardSource *source, Json *card, const char *name_path, const char *desc_path)
{
	json_put_text(card, "/display/name", card_find_text(source, name_path));
	json_put_text(card, "/display/desc", card_find_text(source, desc_path));
}

Json *
card_add_capability(const CardSource *source, Json *card, const char *path, Slice id)
{
	Json	   *capabilities = json_get(card, "/capabilities");
	Json	   *capability = json_new_object();
	const char *message = NULL;
	const char *code = card_word_fault(ID_CAPABILITY, id, &message);

	/* the first capability beyond the limit was added, with the fault; the others would only repeat the fault */
	if (capabilities->n > clutch_limits.max_list)
		return NULL;
	if (code == NULL && memchr(id.s, '@', id.len) != NULL)
	{
		code = "WRONG_FORMAT";
		message = "It contains an @, which separates a capability from its version.";
	}
	else if (code == NULL && card_capability(card, id) != NULL)
	{
		code = "DUPLICATE_VALUE";
		message = psprintf("The agent has another capability of the ID %s.", place_quote(id));
	}
	else if (code == NULL && capabilities->n >= clutch_limits.max_list)
	{
		code = "TOO_MANY";
		message = psprintf("An agent has at most %d capabilities (setting clutch.max_list).", clutch_limits.max_list);
		json_add(capabilities, capability);
	}
	if (code != NULL)
	{
		card_fault(source, path, code, "%s", message);
		return NULL;
	}
	json_put_text(capability, "/id", id);
	json_add(capabilities, capability);
	return capability;
}

/* Returns the texts that can be tags, or NULL if there are none. */
static Json *
card_tags_of(const Json *texts)
{
	Json	   *tags = json_new_array();
	const char *message;

	for (int i = 0; json_is(texts, JSON_ARRAY) && i < texts->n && tags->n < clutch_limits.max_list; i++)
		if (texts->items[i]->kind == JSON_TEXT && texts->items[i]->text.len > 0 &&
			card_word_fault(ID_WORD, texts->items[i]->text, &message) == NULL)
			json_add(tags, texts->items[i]);
	return tags->n > 0 ? tags : NULL;
}

void
card_check_texts(const CardSource *source, const char *path)
{
	const Json *texts = card_find(source, path, JSON_ARRAY);

	for (int i = 0; texts != NULL && i < texts->n; i++)
		if (texts->items[i]->kind != JSON_TEXT)
			card_fault(source, json_path_index(path, i), "WRONG_TYPE", "It must be a string.");
}

void
card_put_tags(Json *capability, Json *others, const char *member)
{
	Json	   *texts = json_get(others, member);
	Json	   *tags = card_tags_of(texts);

	json_put(capability, "/tags", tags);
	if (json_equal(texts, tags))
		json_take(others, member);
}

void
card_write_tags(const Json *capability, Json *skill, const char *member)
{
	Json	   *tags = json_get(capability, "/tags");

	if (json_equal(card_tags_of(json_get(skill, member)), tags))
		return;
	json_take(skill, member);
	json_put(skill, member, tags);
}

/*
 * Makes the version of the agent the version of its capabilities.  If there
 * are none, or it is not a valid version or range, it is noted.
 */
void
card_put_version(const CardSource *source, const CardDialect *dialect, Json *card, const char *path)
{
	Slice		version = card_find_text(source, path);
	Json	   *capabilities = json_get(card, "/capabilities");

	if (!slice_present(version))
		return;
	if (capabilities->n == 0 || version.len > clutch_limits.max_id_bytes || !version_range_valid(version))
		card_note(card, dialect, "/version", json_of_text(version));
	for (int i = 0; card_noted(card, dialect, "/version") == NULL && i < capabilities->n; i++)
		json_put_text(capabilities->items[i], "/version", version);
}

Json *
card_version(const Json *card, const CardDialect *dialect)
{
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);
	Json	   *version = NULL;

	/* those that no description has a place for have no version of the agent */
	for (int i = 0; capabilities != NULL && i < capabilities->n && version == NULL; i++)
		version = json_get_kind(capabilities->items[i], "/version", JSON_TEXT);
	if (version == NULL)
		version = card_noted(card, dialect, "/version");
	if (version == NULL && card_noted(card, dialect, "") == NULL)
		version = json_of_cstring("1.0.0");
	return version;
}

/* --------------------------------------------------------- reading the card */

Json *
card_capability(const Json *card, Slice id)
{
	const Json *capabilities = json_get_kind(card, "/capabilities", JSON_ARRAY);

	/*
	 * a caller that looks up every name of a long list may spend a long time
	 * here
	 */
	CHECK_FOR_INTERRUPTS();
	for (int i = 0; capabilities != NULL && i < capabilities->n; i++)
		if (slice_equal(json_get_text(capabilities->items[i], "/id"), id))
			return capabilities->items[i];
	return NULL;
}

bool
card_is_further_version(const Json *card, const Json *capability)
{
	return card_capability(card, json_get_text(capability, "/id")) != capability;
}

bool
card_has_text(const Json *value, const char *path, Slice text)
{
	const Json *texts = json_get_kind(value, path, JSON_ARRAY);

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; texts != NULL && i < texts->n; i++)
		if (texts->items[i]->kind == JSON_TEXT && slice_equal(texts->items[i]->text, text))
			return true;
	return false;
}

void
card_add_text(Json *value, const char *path, Slice text)
{
	if (card_has_text(value, path, text))
		return;
	if (json_get_kind(value, path, JSON_ARRAY) == NULL)
		json_put(value, path, json_new_array());
	json_add(json_get(value, path), json_of_text(text));
}

void
card_copy_members(const Json *from, const char *const *except, Json *to)
{
	for (int i = 0; json_is(from, JSON_OBJECT) && i < from->n; i++)
	{
		const char *const *name = except;

		while (*name != NULL && !slice_is(from->keys[i], *name))
			name++;
		if (*name == NULL)
			json_put_member(to, from->keys[i], json_copy(from->items[i]));
	}
}

Json *
card_noted(const Json *card, const CardDialect *dialect, const char *path)
{
	char	   *place = psprintf("/meta/%s%s", dialect->name, path);
	Json	   *noted = json_get(card, place);

	/* a card may have many skills, and each is looked up in all dialects */
	pfree(place);
	return noted;
}

const Json *
card_legacy_capability(const Json *card, Slice id)
{
	const Json *legacy = card_noted(card, &card_agent_json, "/capabilities");

	for (int i = 0; json_is(legacy, JSON_ARRAY) && i < legacy->n; i++)
	{
		Slice		name = json_get_text(legacy->items[i], "/name");

		if (slice_present(name) && card_agent_json_has_legacy_id(name, id))
			return legacy->items[i];
	}
	return NULL;
}

Slice
card_said_of_skill(const Json *card, Slice skill, const char *const *members)
{
	const char *path = json_path("/skills", skill);
	Slice		said;

	for (const char *const *member = members; *member != NULL; member++)
	{
		for (const CardDialect *const *dialect = card_dialects; *dialect != NULL; dialect++)
		{
			said = json_get_text(card_noted(card, *dialect, path), *member);
			if (slice_present(said) && said.len > 0)
				return said;
		}
		/* the name of a legacy capability is another spelling of the ID */
		said = json_get_text(card_legacy_capability(card, card_prefixed("skill:", skill)), *member);
		if (slice_present(said) && said.len > 0 && strcmp(*member, "/name") != 0)
			return said;
	}
	return skill;
}

void
card_note(Json *card, const CardDialect *dialect, const char *path, Json *value)
{
	json_put(card, psprintf("/meta/%s%s", dialect->name, path), value);
}
