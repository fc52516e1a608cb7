/*-------------------------------------------------------------------------
 *
 * a2a_content.c
 *	  The Agent2Agent protocol: parts, artifacts and metadata.
 *
 * Each part has exactly one place in the envelope, so a change made there shows in the document:
 *
 *	T	the first text is the member "text" of the payload (or "question", ...)
 *	D	the only data part, if it is an object, gives the payload its members
 *	U	a file with a URL is an attachment, which has the other members of the part too
 *	P	any other part is an element of payload.parts
 *
 * Parts are written in the order T, P, D, U.  If a document has them in another order,
 * meta.a2a.order stores that order as letters.  If the payload uses the name of a member of the
 * data for something else, the data becomes the whole payload (meta.a2a.whole) if it is the only
 * part, and otherwise an element of payload.parts.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/a2a_part.h"

#include "settings.h"

#define SKILL		"/clutch~1skill"
#define SKILL_PREFIX	"skill:"
#define TRACEPARENT	"/traceparent"

static const char a2a_letters[] = "TPDU";

/* indexes into an array with one entry for each of these letters */
enum
{
	QUEUE_TEXT,
	QUEUE_PARTS,
	QUEUE_DATA,
	QUEUE_URLS,
	QUEUES
};

/* members of the metadata that have a row in the mapping */
static const AdapterRow a2a_metadata_rows[] = {
	{ROW_NATIVE, "/clutch~1run_id", "run_id"},
	{ROW_NATIVE, "/clutch~1parent_task_id", "parent_task_id"},
	{ROW_WORD, "/clutch~1domain", "/domain"},
	{ROW_WORD, "/clutch~1payload_type", "/payload_type"},
	{ROW_WORD, "/clutch~1schema_ref", "/schema_ref"},
	{ROW_TEXT, TRACEPARENT, "/trace/traceparent"},
	{ROW_TEXT, "/tracestate", "/trace/tracestate"},
	{ROW_VALUE, NULL, NULL}
};

static const struct
{
	const char *path;
	IdentifierKind kind;
}			a2a_metadata_kinds[] = {
	{"/clutch~1domain", ID_WORD},
	{"/clutch~1payload_type", ID_WORD},
	{"/clutch~1schema_ref", ID_SCHEMA},
};

/* ------------------------------------------------------- a part of version 0.3 */

/* Copies the member if it is a text, and leaves it out otherwise. */
static void
a2a_move(Json *to, const char *path, const Json *from, const char *member)
{
	json_put(to, path, json_get_kind(from, member, JSON_TEXT));
}

/* Converts a part to the format of version 1.0.  A value that its version does not define stays as it is. */
static Json *
a2a_part_in(Json *part, bool is_old)
{
	Json	   *made = json_new_object();
	const Json *file = json_get_kind(part, "/file", JSON_OBJECT);
	bool		is_file = json_says(part, "/kind", "file") && file != NULL &&
		json_has_text(file, "/bytes") != json_has_text(file, "/uri");

	if (!is_old || !json_is(part, JSON_OBJECT) ||
		(!is_file && !(json_says(part, "/kind", "text") && json_has_text(part, "/text")) &&
		 !(json_says(part, "/kind", "data") && json_get(part, "/data") != NULL)))
		return part;
	for (int i = 0; i < part->n; i++)
		if (!slice_is(part->keys[i], "kind") && !(is_file && slice_is(part->keys[i], "file")))
			json_put_member(made, part->keys[i], part->items[i]);
	if (!is_file)
		return made;
	a2a_move(made, "/raw", file, "/bytes");
	a2a_move(made, "/url", file, "/uri");
	a2a_move(made, "/filename", file, "/name");
	a2a_move(made, "/mediaType", file, "/mimeType");
	return made;
}

static Json *
a2a_part_out(Json *part, bool is_old)
{
	Json	   *made;

	if (!is_old || !json_is(part, JSON_OBJECT) || json_get(part, "/kind") != NULL)
		return part;
	made = json_copy(part);
	if (json_get(part, "/text") != NULL || json_get(part, "/data") != NULL)
	{
		json_put_cstring(made, "/kind", json_get(part, "/text") != NULL ? "text" : "data");
		return made;
	}
	if (json_get(part, "/raw") == NULL && json_get(part, "/url") == NULL)
		return part;
	json_put_cstring(made, "/kind", "file");
	json_put(made, "/file", json_new_object());
	json_put(made, "/file/bytes", json_take(made, "/raw"));
	json_put(made, "/file/uri", json_take(made, "/url"));
	json_put(made, "/file/name", json_take(made, "/filename"));
	json_put(made, "/file/mimeType", json_take(made, "/mediaType"));
	return made;
}

static Json *
a2a_parts(const Json *parts, bool is_old, Json *(*convert) (Json *part, bool is_old))
{
	Json	   *made = json_new_array();

	for (int i = 0; i < parts->n; i++)
		json_add(made, convert(parts->items[i], is_old));
	return made;
}

static Json *
a2a_artifact(const Json *artifact, bool is_old, Json *(*convert) (Json *part, bool is_old))
{
	Json	   *made = json_copy(artifact);
	const Json *parts = json_get_kind(artifact, "/parts", JSON_ARRAY);

	if (parts != NULL)
		json_put(made, "/parts", a2a_parts(parts, is_old, convert));
	return made;
}

Json *
a2a_read_artifact(const Json *artifact, bool is_old)
{
	return a2a_artifact(artifact, is_old, a2a_part_in);
}

Json *
a2a_write_artifact(const Json *artifact, bool is_old)
{
	return a2a_artifact(artifact, is_old, a2a_part_out);
}

/* -------------------------------------------------------------- what a part is */

static bool
a2a_is_empty(const Json *value)
{
	return value->kind == JSON_NULL || (value->kind == JSON_TEXT && value->text.len == 0) ||
		((value->kind == JSON_ARRAY || value->kind == JSON_OBJECT) && value->n == 0);
}

/* Does the part have only this member and, possibly, the default media type? */
static bool
a2a_is_plain(const Json *part, Slice member, const char *media_type)
{
	for (int i = 0; i < part->n; i++)
		if (!slice_equal(part->keys[i], member) && !a2a_is_empty(part->items[i]) &&
			!(slice_is(part->keys[i], "mediaType") && json_says(part, "/mediaType", media_type)))
			return false;
	return true;
}

bool
a2a_is_plain_text(const Json *part)
{
	return json_has_text(part, "/text") && a2a_is_plain(part, SLICE_OF("text"), "text/plain");
}

static bool
a2a_is_data(const Json *part)
{
	return json_get_kind(part, "/data", JSON_OBJECT) != NULL && a2a_is_plain(part, SLICE_OF("data"), "application/json");
}

/* Returns the attachment for a part with a URL, or NULL if the part has none. */
static Json *
a2a_read_attachment(const Json *part)
{
	Json	   *attachment = adapter_attachment(json_get_text(part, "/url"));

	if (attachment == NULL || json_get(part, "/kind") != NULL || json_get(part, "/ref") != NULL)
		return NULL;
	for (int i = 0; i < part->n; i++)
		if (!slice_is(part->keys[i], "url"))
			json_put_member(attachment, part->keys[i], part->items[i]);
	return attachment;
}

static Json *
a2a_write_attachment(const Json *attachment)
{
	Json	   *part = json_new_object();

	for (int i = 0; i < attachment->n; i++)
		if (!slice_is(attachment->keys[i], "kind") && !slice_is(attachment->keys[i], "ref"))
			json_put_member(part, attachment->keys[i], attachment->items[i]);
	json_put(part, "/url", json_get(attachment, "/ref"));
	return part;
}

/* ------------------------------------------------------------ parts: inbound */

/* Does the payload use a member of this name for something else? */
static bool
a2a_is_taken(const A2aContent *content, Slice key)
{
	for (const char *const *own = content->own; *own != NULL; own++)
		if (slice_is(key, *own))
			return true;
	return slice_is(key, "parts") || slice_is(key, content->text);
}

static bool
a2a_has_taken(const A2aContent *content, const Json *data)
{
	for (int i = 0; i < data->n; i++)
		if (a2a_is_taken(content, data->keys[i]))
			return true;
	return false;
}

/* Returns the index of the only data part if it is an object, or -1 otherwise. */
static int
a2a_data_place(const Json *parts)
{
	int			place = -1;

	for (int i = 0; i < parts->n; i++)
	{
		if (json_get(parts->items[i], "/data") == NULL)
			continue;
		if (place >= 0 || !a2a_is_data(parts->items[i]))
			return -1;
		place = i;
	}
	return place;
}

static void
a2a_note_order(const Adapter *self, Json *envelope, Slice order)
{
	for (int i = 1; i < order.len; i++)
		if (strchr(a2a_letters, order.s[i]) < strchr(a2a_letters, order.s[i - 1]))
		{
			adapter_note(self, envelope, "/order", json_of_text(order));
			return;
		}
}

void
a2a_read_parts(const Adapter *self, const Json *raw, bool is_old, const A2aContent *content, Json *envelope)
{
	Json	   *parts = a2a_parts(raw, is_old, a2a_part_in);
	Json	   *payload = json_get(envelope, "/payload");
	Json	   *others = json_new_array();
	Json	   *attachments = json_new_array();
	Json	   *attachment;
	int			data_at = a2a_data_place(parts);
	const Json *data = data_at >= 0 ? json_get(parts->items[data_at], "/data") : NULL;
	char	   *order = palloc(parts->n + 1);

	if (data != NULL && parts->n == 1 && content->may_be_whole && a2a_has_taken(content, data))
	{
		json_put(envelope, "/payload", json_copy(data));
		adapter_note(self, envelope, "/whole", json_of_bool(true));
		return;
	}
	if (data != NULL && (!content->merges || a2a_has_taken(content, data)))
		data_at = -1;
	for (int i = 0; i < parts->n; i++)
	{
		Json	   *part = parts->items[i];

		order[i] = 'P';
		if (i == data_at)
		{
			order[i] = 'D';
			for (int j = 0; j < data->n; j++)
				json_put_member(payload, data->keys[j], data->items[j]);
		}
		else if (a2a_is_plain_text(part) && json_get_text(part, "/text").len > 0 &&
				 json_member(payload, slice_of_cstring(content->text)) == NULL)
		{
			order[i] = 'T';
			json_put_member(payload, slice_of_cstring(content->text), json_get(part, "/text"));
		}
		else if (attachments->n < clutch_limits.max_list && (attachment = a2a_read_attachment(part)) != NULL)
		{
			order[i] = 'U';
			json_add(attachments, attachment);
		}
		else
			json_add(others, part);
	}
	if (others->n > 0)
		json_put(payload, "/parts", others);
	if (attachments->n > 0)
		json_put(envelope, "/attachments", attachments);
	a2a_note_order(self, envelope, (Slice) {order, parts->n});
}

/* ----------------------------------------------------------- parts: outbound */

/* Can the value be used as the parts of a message? */
static bool
a2a_are_parts(const Json *value)
{
	static const char *const members[] = {"/text", "/raw", "/url", "/data", "/kind", NULL};

	for (int i = 0; json_is(value, JSON_ARRAY) && i < value->n; i++)
	{
		bool		is_part = false;

		for (const char *const *member = members; *member != NULL; member++)
			is_part = is_part || (json_is(value->items[i], JSON_OBJECT) && json_get(value->items[i], *member) != NULL);
		if (!is_part)
			return false;
	}
	return json_is(value, JSON_ARRAY) && value->n > 0;
}

/*
 * Is this member of the payload written somewhere other than in the parts?  A state that the
 * protocol does not define, and "artifacts" that are not a list, are written in the parts.
 */
static bool
a2a_is_elsewhere(const A2aContent *content, Slice key, const Json *value)
{
	if (slice_is(key, "parts") || slice_is(key, content->text))
		return false;
	if (slice_is(key, "artifacts") && !json_is(value, JSON_ARRAY))
		return false;
	return a2a_is_taken(content, key);
}

static void
a2a_sort_payload(const Json *payload, const A2aContent *content, Json **queues)
{
	Json	   *data = json_new_object();
	Json	   *part = json_new_object();

	for (int i = 0; i < payload->n; i++)
	{
		Slice		key = payload->keys[i];
		Json	   *value = payload->items[i];

		if (slice_is(key, content->text) && json_is(value, JSON_TEXT) && value->text.len > 0)
		{
			Json	   *text = json_new_object();

			json_put(text, "/text", value);
			json_add(queues[QUEUE_TEXT], text);
		}
		else if (slice_is(key, "parts") && a2a_are_parts(value))
			queues[QUEUE_PARTS] = value;
		else if (!a2a_is_elsewhere(content, key, value))
			json_put_member(data, key, value);
	}
	if (data->n == 0)
		return;
	json_put(part, "/data", data);
	json_add(queues[QUEUE_DATA], part);
}

Json *
a2a_write_parts(const Adapter *self, const Json *envelope, bool is_old, const A2aContent *content)
{
	const Json *payload = json_get_kind(envelope, "/payload", JSON_OBJECT);
	const Json *attachments = json_get_kind(envelope, "/attachments", JSON_ARRAY);
	bool		is_whole = content->may_be_whole && json_is_true(adapter_noted(self, envelope, ""), "/whole");
	Slice		order = json_get_text(adapter_noted(self, envelope, ""), "/order");
	Json	   *queues[QUEUES];
	int			taken[QUEUES] = {0};
	Json	   *parts = json_new_array();

	for (int i = 0; i < QUEUES; i++)
		queues[i] = json_new_array();
	if (is_whole && payload != NULL)
	{
		Json	   *part = json_new_object();

		json_put(part, "/data", unconstify(Json *, payload));
		json_add(queues[QUEUE_DATA], part);
	}
	else if (payload != NULL)
		a2a_sort_payload(payload, content, queues);
	for (int i = 0; attachments != NULL && i < attachments->n; i++)
		if (slice_present(json_get_text(attachments->items[i], "/ref")))
			json_add(queues[QUEUE_URLS], a2a_write_attachment(attachments->items[i]));
	for (int i = 0; i < order.len; i++)
	{
		const char *letter = order.s[i] != '\0' ? strchr(a2a_letters, order.s[i]) : NULL;
		int			queue = letter != NULL ? letter - a2a_letters : QUEUES;

		if (queue < QUEUES && taken[queue] < queues[queue]->n)
			json_add(parts, queues[queue]->items[taken[queue]++]);
	}
	for (int queue = 0; queue < QUEUES; queue++)
		while (taken[queue] < queues[queue]->n)
			json_add(parts, queues[queue]->items[taken[queue]++]);
	return a2a_parts(parts, is_old, a2a_part_out);
}

/* ------------------------------------------------------------------ metadata */

Json *
a2a_plain_metadata(const Json *metadata)
{
	Json	   *plain = json_copy(metadata);

	for (const AdapterRow *row = a2a_metadata_rows; row->foreign != NULL; row++)
		json_take(plain, row->foreign);
	json_take(plain, SKILL);
	return plain;
}

static void
a2a_read_skill(const Adapter *self, const Json *metadata, Json *envelope)
{
	Slice		skill = adapter_find_word(self, metadata, SKILL);
	Json	   *requires = json_new_array();
	char	   *capability;

	if (!slice_present(skill))
		return;
	capability = psprintf(SKILL_PREFIX "%.*s", skill.len, skill.s);
	adapter_check_identifier(self, SKILL, ID_CAPABILITY, slice_of_cstring(capability));
	if (memchr(skill.s, '@', skill.len) != NULL)
		adapter_fault(self, SKILL, "WRONG_FORMAT", "it must be the ID of a skill, without a version");
	json_add(requires, json_of_cstring(capability));
	json_put(envelope, "/requires", requires);
}

void
a2a_read_metadata(const Adapter *self, const Json *object, Json *envelope)
{
	const Json *metadata = adapter_find(self, object, "/metadata", JSON_OBJECT);
	const Adapter *within = adapter_within(self, "/metadata");
	Json	   *plain;

	if (metadata == NULL)
		return;
	adapter_rows_inbound(within, a2a_metadata_rows, metadata, envelope);
	for (int i = 0; i < lengthof(a2a_metadata_kinds); i++)
		if (json_has_text(metadata, a2a_metadata_kinds[i].path))
			adapter_check_identifier(within, a2a_metadata_kinds[i].path, a2a_metadata_kinds[i].kind,
									 json_get_text(metadata, a2a_metadata_kinds[i].path));
	a2a_read_skill(within, metadata, envelope);
	plain = a2a_plain_metadata(metadata);
	if (plain->n > 0)
		adapter_note(self, envelope, "/metadata", plain);
}

/* Returns the first skill among the required capabilities, without its version. */
static Slice
a2a_skill_of(const Json *envelope)
{
	const Json *requires = json_get_kind(envelope, "/requires", JSON_ARRAY);
	int			prefix = strlen(SKILL_PREFIX);

	for (int i = 0; requires != NULL && i < requires->n; i++)
	{
		Slice		entry = json_get_text(requires->items[i], "");
		Slice		range;

		if (!slice_present(entry) || !slice_starts(entry, SLICE_OF(SKILL_PREFIX)))
			continue;
		identifier_split_version(entry, &entry, &range);
		return slice_after(entry, prefix);
	}
	return SLICE_NONE;
}

void
a2a_write_metadata(const Adapter *self, const Json *envelope, Json *object)
{
	const Json *noted = adapter_noted(self, envelope, "/metadata");
	Json	   *metadata = json_is(noted, JSON_OBJECT) ? json_copy(noted) : json_new_object();

	adapter_rows_outbound(self, a2a_metadata_rows, envelope, metadata);
	json_put_text(metadata, TRACEPARENT, adapter_traceparent(envelope));
	json_put_text(metadata, SKILL, a2a_skill_of(envelope));
	if (metadata->n > 0)
		json_put(object, "/metadata", metadata);
}
