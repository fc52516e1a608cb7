/*-------------------------------------------------------------------------
 *
 * translation_change.c
 *	  Finding what has been changed in an envelope that was made from a
 *	  document.
 *
 * Some changes have no place in the document: a sender, if the dialect names
 * none, or a member added to the arguments of a call.  We find them by
 * comparing the envelope with the one that the document makes.  But the latter
 * lacks what the database has filled in, such as derived IDs, so a member that
 * it lacks need not be a change.  Therefore inbound notes a hash of each field
 * that may be filled in, and a hash of all others.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/translation_part.h"

typedef enum TranslationField
{
	FIELD_ID,
	FIELD_TO,
	FIELD_TS,
	FIELD_SENDER,
	FIELD_RUN,
	FIELD_TASK,
	FIELD_THREAD,
	FIELD_PARENT,
	FIELD_REPLY,
	FIELD_REST,					/* all others, except "v" and the notes of the
								 * adapter */
	FIELD_COUNT
} TranslationField;

/* the fields that may be filled in, in the order of the enum */
static const char *const translation_fields[] = {
	"/id", "/to", "/ts", "/from/agent_id", "/run_id", "/task_id", "/thread_id", "/parent_task_id", "/meta/clutch/reply_to"
};

/* the members of the envelope that are fields of their own */
#define MEMBER(name)	{name, sizeof(name) - 1}
static const struct
{
	Slice		key;
	TranslationField field;
}			translation_members[] = {
	{MEMBER("id"), FIELD_ID}, {MEMBER("to"), FIELD_TO}, {MEMBER("ts"), FIELD_TS}, {MEMBER("run_id"), FIELD_RUN},
	{MEMBER("task_id"), FIELD_TASK}, {MEMBER("thread_id"), FIELD_THREAD}, {MEMBER("parent_task_id"), FIELD_PARENT}
};

/* objects that are filled in together with their only member */
static const char *const translation_holders[] = {"/from", "/meta/clutch", "/meta", "/payload"};

#define DIGEST_CHARS	4		/* length of a field's hash in the digest; each
								 * character holds 6 bits */
#define DIGEST_UNKNOWN	'.'

static TranslationField
translation_field_of(Slice key)
{
	for (int i = 0; i < lengthof(translation_members); i++)
		if (slice_equal(key, translation_members[i].key))
			return translation_members[i].field;
	return FIELD_REST;
}

/* Adds a member to the hash.  A member that is null counts as missing. */
static void
translation_digest_member(uint64 *hash, Slice key, const Json *value)
{
	if (value->kind != JSON_NULL)
		*hash = json_hash(json_hash_text(*hash, key), value);
}

/*
 * Adds the members of an object to the hashes.  One of them, "apart", has a
 * field of its own.
 */
static void
translation_digest_object(const Json *object, Slice apart, TranslationField field, uint64 *hashes)
{
	for (int i = 0; json_is(object, JSON_OBJECT) && i < object->n; i++)
		translation_digest_member(&hashes[slice_equal(object->keys[i], apart) ? field : FIELD_REST], object->keys[i], object->items[i]);
}

static void
translation_digest_meta(const Adapter *adapter, const Json *meta, uint64 *hashes)
{
	for (int i = 0; json_is(meta, JSON_OBJECT) && i < meta->n; i++)
	{
		if (slice_is(meta->keys[i], "clutch"))
			translation_digest_object(meta->items[i], SLICE_OF("reply_to"), FIELD_REPLY, hashes);
		else if (!slice_is(meta->keys[i], adapter->name))
			translation_digest_member(&hashes[FIELD_REST], meta->keys[i], meta->items[i]);
	}
}

/* Returns the hashes of all fields, as text. */
static void
translation_digest(const Adapter *adapter, const Json *envelope, char text[FIELD_COUNT * DIGEST_CHARS])
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
	uint64		hashes[FIELD_COUNT] = {0};

	for (int i = 0; i < envelope->n; i++)
	{
		Slice		key = envelope->keys[i];

		if (slice_is(key, "meta"))
			translation_digest_meta(adapter, envelope->items[i], hashes);
		else if (slice_is(key, "from"))
			translation_digest_object(envelope->items[i], SLICE_OF("agent_id"), FIELD_SENDER, hashes);
		else if (!slice_is(key, "v"))
			translation_digest_member(&hashes[translation_field_of(key)], key, envelope->items[i]);
	}
	for (int i = 0; i < FIELD_COUNT * DIGEST_CHARS; i++)
		text[i] = digits[hashes[i / DIGEST_CHARS] >> (40 + 6 * (i % DIGEST_CHARS)) & 63];
}

void
translation_note_digest(const Adapter *adapter, Json *envelope, const Json *plain, bool has_time)
{
	char	   *text = palloc(FIELD_COUNT * DIGEST_CHARS);

	translation_digest(adapter, plain, text);
	/*
	 * the same document must make the same envelope tomorrow, except for its
	 * time
	 */
	if (!has_time)
		memset(text + FIELD_TS * DIGEST_CHARS, DIGEST_UNKNOWN, DIGEST_CHARS);
	adapter_note(adapter, envelope, "/digest", json_of_text((Slice) {text, FIELD_COUNT * DIGEST_CHARS}));
}

/*
 * Finds the fields that have been changed.  Returns false if there are none,
 * or if it cannot be determined.
 */
static bool
translation_find_changed(const Adapter *adapter, const Json *envelope, bool changed[FIELD_COUNT])
{
	Slice		noted = json_get_text(adapter_noted(adapter, envelope, ""), "/digest");
	char		text[FIELD_COUNT * DIGEST_CHARS];
	bool		any = false;

	if (!slice_present(noted) || noted.len != sizeof(text))
		return false;
	translation_digest(adapter, envelope, text);
	for (int field = 0; field < FIELD_COUNT; field++)
	{
		const char *was = noted.s + field * DIGEST_CHARS;

		changed[field] = *was != DIGEST_UNKNOWN && memcmp(was, text + field * DIGEST_CHARS, DIGEST_CHARS) != 0;
		any |= changed[field];
	}
	return any;
}

bool
translation_is_changed(const Adapter *adapter, const Json *envelope)
{
	bool		changed[FIELD_COUNT];

	return translation_find_changed(adapter, envelope, changed);
}

/*
 * Removes from a copy of the envelope what was filled in, that is, what "back"
 * lacks although nobody has changed it.
 */
static void
translation_unfill(Json *made, const Json *back, const bool *changed)
{
	for (int field = 0; field < FIELD_REST; field++)
		if (!changed[field] && adapter_member(back, translation_fields[field]) == NULL)
			(void) json_take(made, translation_fields[field]);
	for (int i = 0; i < lengthof(translation_holders); i++)
	{
		const Json *holder = json_get_kind(made, translation_holders[i], JSON_OBJECT);

		if (holder != NULL && holder->n == 0 && json_get(back, translation_holders[i]) == NULL)
			(void) json_take(made, translation_holders[i]);
	}
	if (json_get(back, "/v") == NULL)
		(void) json_take(made, "/v");
}

Json *
translation_changes(const Adapter *adapter, const Json *envelope, const Json *unmarked, const Json *back)
{
	bool		changed[FIELD_COUNT];
	Json	   *made = json_copy(unmarked);
	char	   *path = psprintf("/meta/%s", adapter->name);
	Json	   *notes = adapter_noted(adapter, back, "");

	if (!translation_find_changed(adapter, envelope, changed))
		return NULL;
	(void) json_take(made, path);
	json_put(made, path, json_copy(notes));
	translation_unfill(made, back, changed);
	if (json_equal(back, made))
		return NULL;
	adapter_note(adapter, made, "/kept", json_new_array());
	return json_difference(back, made);
}
