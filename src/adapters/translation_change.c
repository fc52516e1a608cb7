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
 * A document for another type or payload may also lack what the original
 * document has said itself, such as its recipient.  Therefore inbound notes
 * what it has said.  Identifiers of the dialect are among the notes of the
 * adapter, where they can be compared with those of the new document.  They
 * are carried instead of the fields that are derived from them.
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

/* the notes of identifiers of the dialect, from which fields are derived */
#define NATIVES		"/native"
static const struct
{
	const char *path;
	TranslationField field;
}			translation_natives[] = {
	{NATIVES "/id", FIELD_ID}, {NATIVES "/run_id", FIELD_RUN}, {NATIVES "/thread_id", FIELD_THREAD},
	{NATIVES "/task_id", FIELD_TASK}, {NATIVES "/parent_task_id", FIELD_PARENT}, {NATIVES "/reply_to", FIELD_REPLY}
};
#define NATIVE_ID		0
#define NATIVE_THREAD	2		/* those up to here and after NATIVE_ID say the
								 * place */

/* what the document has said: a bit for each of these fields and notes, and: */
#define SAID_NATIVE		FIELD_REST	/* the first of the notes */
#define SAID_STUB		(SAID_NATIVE + 6)	/* it has made a stub of what it
											 * replies to */
#define SAID_SUBTASK	(SAID_STUB + 1) /* the task in the context is the
										 * parent task */
#define SAID_IN_TASK	(SAID_STUB + 2) /* the context has named a task */
#define SAID_IN_PLACE	(SAID_STUB + 3) /* ... a run or a thread */
#define SAID_BIT(place)	(1 << (place))
#define SAID_CHARS		4		/* in the digest */

/* objects that are filled in together with their only member */
static const char *const translation_holders[] = {"/from", "/meta/clutch", "/meta", "/payload"};

#define DIGEST_CHARS	4		/* length of a field's hash in the digest; each
								 * character holds 6 bits */
#define DIGEST_UNKNOWN	'.'
#define DIGEST_HASHES	(FIELD_COUNT * DIGEST_CHARS)	/* length of all hashes,
														 * which are followed by
														 * what was said */
#define DIGEST_LEN		(DIGEST_HASHES + SAID_CHARS)

StaticAssertDecl(SAID_IN_PLACE < 6 * SAID_CHARS, "each character of the digest holds 6 bits");

static const char translation_digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/* what was found by reading the digest */
typedef struct TranslationFound
{
	bool		changed[FIELD_COUNT];
	int			said;			/* -1 if the digest does not say it */
} TranslationFound;

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
translation_digest(const Adapter *adapter, const Json *envelope, char text[DIGEST_HASHES])
{
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
	for (int i = 0; i < DIGEST_HASHES; i++)
		text[i] = translation_digits[hashes[i / DIGEST_CHARS] >> (40 + 6 * (i % DIGEST_CHARS)) & 63];
}

/*
 * Has the document this member?  What is also in the context may have come from
 * there.
 */
static bool
translation_says(const Json *context, const Json *envelope, const char *path)
{
	const Json *member = adapter_member(envelope, path);
	Slice		text = json_get_text(member, json_is(member, JSON_ARRAY) ? "/0/agent_id" : "");

	for (int i = 0; slice_present(text) && i < context->n; i++)
		if (context->items[i]->kind == JSON_TEXT && slice_equal(adapter_agent_name(context->items[i]->text), adapter_agent_name(text)))
			return false;
	return member != NULL;
}

bool
translation_has_stub(const Adapter *adapter, const List *envelopes)
{
	return envelopes != NIL && adapter_is_stub(adapter, linitial(envelopes)) && adapter_type(linitial(envelopes)) == MSG_TOOL_CALL;
}

/* Returns which of the fields and notes the document has said. */
static int
translation_said_itself(const Json *context, const Json *bearer, const Json *notes)
{
	int			said = 0;

	for (int i = 0; i < FIELD_REST; i++)
		if (translation_says(context, bearer, translation_fields[i]))
			said |= SAID_BIT(i);
	for (int i = 0; i < lengthof(translation_natives); i++)
		if (translation_says(context, notes, translation_natives[i].path))
			said |= SAID_BIT(SAID_NATIVE + i);
	/* adapters make a sender and an ID of these, which are not equal to them */
	if (adapter_member(context, "/server") != NULL)
		said &= ~SAID_BIT(FIELD_SENDER);
	if (adapter_member(context, "/seq") != NULL)
		said &= ~SAID_BIT(SAID_NATIVE + NATIVE_ID);
	return said;
}

int
translation_said(const Translation *t, const Json *bearer, const List *envelopes)
{
	const Json *notes = adapter_noted(t->adapter, bearer, "");
	int			said = translation_said_itself(t->context, bearer, notes);
	bool		has_parent = adapter_member(bearer, "/parent_task_id") != NULL;

	if (translation_has_stub(t->adapter, envelopes) || json_is_true(notes, NATIVES "/stub"))
		said |= SAID_BIT(SAID_STUB);
	if ((has_parent && (said & SAID_BIT(FIELD_PARENT)) == 0) || json_is_true(notes, NATIVES "/subtask"))
		said |= SAID_BIT(SAID_SUBTASK);
	if (adapter_member(t->context, "/task_id") != NULL)
		said |= SAID_BIT(SAID_IN_TASK);
	if (adapter_member(t->context, "/run_id") != NULL || adapter_member(t->context, "/thread_id") != NULL)
		said |= SAID_BIT(SAID_IN_PLACE);
	return said;
}

void
translation_note_digest(const Adapter *adapter, Json *envelope, const Json *plain, bool has_time, int said)
{
	char	   *text = palloc(DIGEST_LEN);

	translation_digest(adapter, plain, text);
	/*
	 * the same document must make the same envelope tomorrow, except for its
	 * time
	 */
	if (!has_time)
		memset(text + FIELD_TS * DIGEST_CHARS, DIGEST_UNKNOWN, DIGEST_CHARS);
	for (int i = 0; i < SAID_CHARS; i++)
		text[DIGEST_HASHES + i] = translation_digits[said >> 6 * i & 63];
	adapter_note(adapter, envelope, "/digest", json_of_text((Slice) {text, DIGEST_LEN}));
}

/* Returns what the document has said, or -1 if the digest was made before this was noted. */
static int
translation_read_said(Slice digest)
{
	int			said = 0;

	if (digest.len != DIGEST_LEN)
		return -1;
	for (int i = 0; i < SAID_CHARS; i++)
	{
		const char *digit = memchr(translation_digits, digest.s[DIGEST_HASHES + i], 64);

		if (digit == NULL)
			return -1;
		said |= (int) (digit - translation_digits) << 6 * i;
	}
	return said;
}

/*
 * Finds the fields that have been changed.  Returns false if there are none,
 * or if it cannot be determined.
 */
static bool
translation_find_changed(const Adapter *adapter, const Json *envelope, TranslationFound *found)
{
	Slice		noted = json_get_text(adapter_noted(adapter, envelope, ""), "/digest");
	char		text[DIGEST_HASHES];
	bool		any = false;

	if (!slice_present(noted) || (noted.len != DIGEST_HASHES && noted.len != DIGEST_LEN))
		return false;
	translation_digest(adapter, envelope, text);
	for (int field = 0; field < FIELD_COUNT; field++)
	{
		const char *was = noted.s + field * DIGEST_CHARS;

		found->changed[field] = *was != DIGEST_UNKNOWN && memcmp(was, text + field * DIGEST_CHARS, DIGEST_CHARS) != 0;
		any |= found->changed[field];
	}
	found->said = translation_read_said(noted);
	return any;
}

bool
translation_is_changed(const Adapter *adapter, const Json *envelope)
{
	TranslationFound found;

	return translation_find_changed(adapter, envelope, &found);
}

bool
translation_was_in_task(const Adapter *adapter, const Json *envelope)
{
	TranslationFound found;

	return translation_find_changed(adapter, envelope, &found) && found.said >= 0 && (found.said & SAID_BIT(SAID_IN_TASK)) != 0;
}

/*
 * Removes from a copy of the envelope what was filled in, that is, what "back"
 * lacks although nobody has changed it and the document has not said it.
 */
static void
translation_unfill(Json *made, const Json *back, const TranslationFound *found)
{
	for (int field = 0; field < FIELD_REST; field++)
		if (!found->changed[field] && (found->said < 0 || (found->said & SAID_BIT(field)) == 0) &&
			adapter_member(back, translation_fields[field]) == NULL)
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

/*
 * Must the carrier give the new document this identifier of the original one?
 * Not if somebody has removed its field.  The new document's own ID will do if
 * the task is not derived from it.
 */
static bool
translation_needs_native(const Adapter *adapter, const Json *envelope, const Json *back, int native)
{
	if (adapter_member(envelope, translation_fields[translation_natives[native].field]) == NULL)
		return false;
	return native != NATIVE_ID || adapter_noted(adapter, back, translation_natives[native].path) == NULL ||
		adapter_noted(adapter, envelope, NATIVES "/task_id") == NULL;
}

/*
 * Must the carrier take this identifier from the new document, because the
 * original one had none?  Not if it has no effect, or if it is the ID that the
 * field has here and nothing else would lead to that.  An adapter may leave out
 * identifiers because of the context, so their absence counts only in a similar
 * one.
 */
static bool
translation_lacks_native(const TranslationReading *reading, const Json *envelope, int said, int native)
{
	const char *path = translation_natives[native].path;
	const char *field = translation_fields[translation_natives[native].field];
	bool		in_task = adapter_member(reading->context, "/task_id") != NULL;
	bool		has_id = !in_task && adapter_noted(reading->adapter, envelope, NATIVES "/id") != NULL;

	if (in_task != ((said & SAID_BIT(SAID_IN_TASK)) != 0) || (native <= NATIVE_THREAD && (said & SAID_BIT(SAID_IN_PLACE)) != 0))
		return false;
	return native != NATIVE_ID && adapter_member(reading->bearer, field) == NULL &&
		(has_id || !json_equal(adapter_noted(reading->adapter, reading->bearer, path), json_get(envelope, field)));
}

/*
 * Gives a copy of the envelope, which has the notes of the new document, the
 * identifiers of the original one.
 */
static void
translation_restore_natives(const TranslationReading *reading, const Json *envelope, int said, Json *made)
{
	const Adapter *adapter = reading->adapter;

	for (int i = 0; i < lengthof(translation_natives); i++)
	{
		const char *path = translation_natives[i].path;
		Json	   *own = adapter_noted(adapter, envelope, path);

		if (own == NULL && translation_lacks_native(reading, envelope, said, i))
			(void) json_take(made, psprintf("/meta/%s%s", adapter->name, path));
		if (own != NULL && (said & SAID_BIT(SAID_NATIVE + i)) != 0 && translation_needs_native(adapter, envelope, reading->bearer, i))
			adapter_note(adapter, made, path, own);
	}
	if ((said & SAID_BIT(SAID_STUB)) != 0 && !reading->has_stub && adapter_noted(adapter, made, NATIVES "/reply_to") != NULL)
		adapter_note(adapter, made, NATIVES "/stub", json_of_bool(true));
	if ((said & SAID_BIT(SAID_SUBTASK)) != 0 && !reading->is_subtask && adapter_member(reading->context, "/task_id") != NULL)
		adapter_note(adapter, made, NATIVES "/subtask", json_of_bool(true));
}

/*
 * Returns the difference.  Identifiers are put into their object one by one,
 * because in another context there may be others in it.
 */
static Json *
translation_difference(const Adapter *adapter, const Json *back, const Json *made)
{
	Json	   *opened = json_copy(back);
	Json	   *changes;

	if (adapter_noted(adapter, made, NATIVES) != NULL && adapter_noted(adapter, back, NATIVES) == NULL)
		adapter_note(adapter, opened, NATIVES, json_new_object());
	changes = json_difference(back, opened);
	json_add_all(changes, json_difference(opened, made));
	return changes;
}

Json *
translation_changes(const TranslationReading *reading, const Json *envelope, const Json *unmarked)
{
	const Adapter *adapter = reading->adapter;
	const Json *back = reading->bearer;
	TranslationFound found;
	Json	   *made = json_copy(unmarked);
	char	   *path = psprintf("/meta/%s", adapter->name);

	if (!translation_find_changed(adapter, envelope, &found))
		return NULL;
	(void) json_take(made, path);
	json_put(made, path, json_copy(adapter_noted(adapter, back, "")));
	if (found.said >= 0)
		translation_restore_natives(reading, envelope, found.said, made);
	translation_unfill(made, back, &found);
	if (json_equal(back, made))
		return NULL;
	adapter_note(adapter, made, "/kept", json_new_array());
	return translation_difference(adapter, back, made);
}
