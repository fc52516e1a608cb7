/*-------------------------------------------------------------------------
 *
 * adapter.c
 *	  Functions shared by all adapters.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/adapter.h"

#include "base/clock.h"
#include "protocol/identifier.h"
#include "protocol/limits.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "settings.h"

#define AGENT_PREFIX	"agent:"
#define AT_T			10		/* where the date in a time ends */

const Adapter *
adapter_within(const Adapter *self, const char *path)
{
	Adapter    *within = palloc(sizeof(Adapter));

	*within = *self;
	within->base = psprintf("%s%s", self->base != NULL ? self->base : "", path);
	return within;
}

/* ------------------------------------------------------------------ faults */

void
adapter_fault(const Adapter *self, const char *path, const char *code, const char *format,...)
{
	const char *place = self->base != NULL ? psprintf("%s%s", self->base, path) : path;
	char	   *what;
	va_list		args;

	va_start(args, format);
	what = text_of_format(format, args);
	va_end(args);
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_FOREIGN_INVALID),
			 errproblem(place, code),
			 errmsg("the document is not valid for adapter \"%s\" at \"%s\": %s", self->name, place, what),
			 self->named ? errhint("Correct the document.") :
			 errhint("Correct the document, or name the adapter that it is meant for.")));
}

void
adapter_unsupported(const Adapter *self, const Json *envelope)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errproblem("/type", "NO_FORM"),
			 errmsg("adapter \"%s\" has no form for a message of type %s", self->name,
					place_quote(json_get_text(envelope, "/type"))),
			 errhint("The adapters \"http\" and \"peer\" have a form for every type.")));
}

/* ------------------------------------------------------------------- notes */

/*
 * Returns a member that is an object, adding it if it is missing.  Returns
 * NULL if it is something else.
 */
static Json *
adapter_open_object(Json *object, const char *key)
{
	Json	   *member = json_member(object, slice_of_cstring(key));

	if (member == NULL && json_is(object, JSON_OBJECT))
	{
		member = json_new_object();
		json_put_member(object, slice_of_cstring(key), member);
	}
	return json_is(member, JSON_OBJECT) ? member : NULL;
}

static Json *
adapter_open_notes(const Adapter *self, Json *envelope)
{
	return adapter_open_object(adapter_open_object(envelope, "meta"), self->name);
}

void
adapter_note(const Adapter *self, Json *envelope, const char *path, Json *value)
{
	if (value != NULL)
		json_put(adapter_open_notes(self, envelope), path, value);
}

Json *
adapter_noted(const Adapter *self, const Json *envelope, const char *path)
{
	return json_get(json_member(json_member(envelope, SLICE_OF("meta")), slice_of_cstring(self->name)), path);
}

bool
adapter_was_foreign(const Adapter *self, const Json *envelope)
{
	static const char *const marks[] = {"native", "kept", "part_of", "stub"};
	const Json *notes = adapter_noted(self, envelope, "");

	for (int i = 0; i < lengthof(marks) && json_is(notes, JSON_OBJECT); i++)
		if (json_member(notes, slice_of_cstring(marks[i])) != NULL)
			return true;
	return false;
}

void
adapter_mark_stub(const Adapter *self, Json *envelope)
{
	adapter_note(self, envelope, "/stub", json_of_bool(true));
}

bool
adapter_is_stub(const Adapter *self, const Json *envelope)
{
	return json_is_true(adapter_noted(self, envelope, "/stub"), "");
}

Json *
adapter_bearer(const Adapter *self, const List *envelopes)
{
	ListCell   *lc;

	foreach(lc, envelopes)
		if (!adapter_is_stub(self, lfirst(lc)))
			return lfirst(lc);
	return NULL;
}

void
adapter_note_native(const Adapter *self, Json *envelope, const char *field, Json *native)
{
	if (native != NULL && native->kind != JSON_NULL)
		json_put_member(adapter_open_object(adapter_open_notes(self, envelope), "native"), slice_of_cstring(field), native);
}

static Json *
adapter_noted_native(const Adapter *self, const Json *envelope, const char *field)
{
	return json_member(json_member(adapter_noted(self, envelope, ""), SLICE_OF("native")), slice_of_cstring(field));
}

Json *
adapter_native(const Adapter *self, const Json *envelope, const char *field)
{
	Json	   *own;

	if (adapter_was_foreign(self, envelope))
		return adapter_noted_native(self, envelope, field);
	if (strcmp(field, "reply_to") == 0)
		return json_get(envelope, "/meta/clutch/reply_to");
	own = json_member(envelope, slice_of_cstring(field));
	return json_is(own, JSON_NULL) ? NULL : own;
}

/* ----------------------------------------------------------------- members */

Json *
adapter_member(const Json *raw, const char *path)
{
	Json	   *member = json_get(raw, path);

	return json_is(member, JSON_NULL) ? NULL : member;
}

static const char *
adapter_kind_name(JsonKind kind)
{
	static const char *const names[] = {"null", "a boolean", "a number", "a string", "an array", "an object"};

	return names[kind];
}

pg_noreturn static void
adapter_wrong_kind(const Adapter *self, const char *path, const Json *member, const char *expected)
{
	adapter_fault(self, path, "WRONG_TYPE", "it is %s, and must be %s", adapter_kind_name(member->kind), expected);
}

Json *
adapter_find(const Adapter *self, const Json *raw, const char *path, JsonKind kind)
{
	Json	   *member = adapter_member(raw, path);

	if (member != NULL && member->kind != kind)
		adapter_wrong_kind(self, path, member, adapter_kind_name(kind));
	return member;
}

static void
adapter_check_length(const Adapter *self, const char *path, Slice text, int most, const char *setting)
{
	if (text.len == 0)
		adapter_fault(self, path, "EMPTY", "it is an empty string");
	if (text.len > most)
		adapter_fault(self, path, "TOO_LONG", "it has %d bytes; the limit is %d (setting %s)", text.len, most, setting);
}

static void
adapter_check_word(const Adapter *self, const char *path, Slice word)
{
	adapter_check_length(self, path, word, clutch_limits.max_id_bytes, "clutch.max_id_bytes");
	if (identifier_find_control(word) >= 0)
		adapter_fault(self, path, "CONTROL_CHARACTER", "it contains a line break or another control character");
}

Slice
adapter_find_word(const Adapter *self, const Json *raw, const char *path)
{
	const Json *member = adapter_find(self, raw, path, JSON_TEXT);

	if (member == NULL)
		return SLICE_NONE;
	adapter_check_word(self, path, member->text);
	return member->text;
}

Slice
adapter_find_text(const Adapter *self, const Json *raw, const char *path)
{
	const Json *member = adapter_find(self, raw, path, JSON_TEXT);

	if (member == NULL || member->text.len == 0)
		return SLICE_NONE;
	adapter_check_length(self, path, member->text, clutch_limits.max_string_bytes, "clutch.max_string_bytes");
	return member->text;
}

Slice
adapter_require_word(const Adapter *self, const Json *raw, const char *path)
{
	Slice		word = adapter_find_word(self, raw, path);

	if (!slice_present(word))
		adapter_fault(self, path, "REQUIRED", "it is missing");
	return word;
}

Json *
adapter_find_name(const Adapter *self, const Json *raw, const char *path)
{
	Json	   *member = adapter_member(raw, path);

	if (json_is(member, JSON_TEXT))
		adapter_check_word(self, path, member->text);
	else if (member != NULL && member->kind != JSON_NUMBER)
		adapter_wrong_kind(self, path, member, "a string or a number");
	return member;
}

Json *
adapter_find_whole(const Adapter *self, const Json *raw, const char *path, int64 least, int64 most, const char *range)
{
	Json	   *member = adapter_find(self, raw, path, JSON_NUMBER);
	int64		number;

	if (member != NULL && (!json_get_int(member, "", &number) || number < least || number > most))
		adapter_fault(self, path, "NUMBER_OUT_OF_RANGE", "it must be %s", range);
	return member;
}

Json *
adapter_find_ttl(const Adapter *self, const Json *raw, const char *path)
{
	return adapter_find_whole(self, raw, path, 1, LIMITS_TTL_MS, "a number of milliseconds from 1 to 100 years");
}

void
adapter_check_identifier(const Adapter *self, const char *path, IdentifierKind kind, Slice text)
{
	const char *rule;
	const char *code;

	adapter_check_word(self, path, text);
	code = identifier_fault(kind, text, &rule);
	if (code != NULL)
		adapter_fault(self, path, code, "it is %s; %s", place_quote(text), rule);
}

Slice
adapter_time_of(Slice text)
{
	TimestampTz time;
	char	   *changed;

	if (clock_parse_rfc3339(text, &time))
		return text;
	changed = psprintf("%.*sZ", text.len, text.s);
	if (text.len > AT_T && changed[AT_T] == ' ')
		changed[AT_T] = 'T';
	if (clock_parse_rfc3339((Slice) {changed, text.len}, &time))
		return (Slice) {changed, text.len};
	return clock_parse_rfc3339((Slice) {changed, text.len + 1}, &time) ? (Slice) {changed, text.len + 1} : SLICE_NONE;
}

Slice
adapter_find_time(const Adapter *self, const Json *raw, const char *path)
{
	Slice		text = adapter_find_word(self, raw, path);
	Slice		time = slice_present(text) ? adapter_time_of(text) : SLICE_NONE;

	if (slice_present(text) && !slice_present(time))
		adapter_fault(self, path, "WRONG_FORMAT", "it is %s, and must be a time like \"2026-02-01T13:20:11.123Z\"",
					  place_quote(text));
	return time;
}

/* ----------------------------------------------------------------- agents */

Slice
adapter_agent_id(Slice name)
{
	if (slice_starts(name, SLICE_OF(AGENT_PREFIX)) && name.len > (int) strlen(AGENT_PREFIX))
		return name;
	return slice_of_cstring(psprintf(AGENT_PREFIX "%.*s", name.len, name.s));
}

Slice
adapter_agent_name(Slice agent_id)
{
	int			prefix = strlen(AGENT_PREFIX);

	if (!slice_starts(agent_id, SLICE_OF(AGENT_PREFIX)))
		return agent_id;
	return slice_after(agent_id, prefix);
}

Slice
adapter_find_agent(const Adapter *self, const Json *raw, const char *path)
{
	Slice		name = adapter_find_word(self, raw, path);
	Slice		agent_id = slice_present(name) ? adapter_agent_id(name) : SLICE_NONE;

	/* the carrier restores a group or topic of ours, so it may be too long with the prefix of agents */
	if (slice_present(agent_id) && !slice_starts(name, SLICE_OF("group:")) && !slice_starts(name, SLICE_OF("topic:")))
		adapter_check_word(self, path, agent_id);
	return agent_id;
}

void
adapter_add_recipient(Json *recipients, Slice agent_id)
{
	Json	   *recipient = json_new_object();

	json_put_text(recipient, "/agent_id", agent_id);
	json_add(recipients, recipient);
}

void
adapter_put_recipient(Json *envelope, Slice agent_id)
{
	Json	   *to = json_new_array();

	if (!slice_present(agent_id))
		return;
	adapter_add_recipient(to, agent_id);
	json_put(envelope, "/to", to);
}

/* ---------------------------------------------------------------- envelopes */

Json *
adapter_envelope(MessageType type)
{
	Json	   *envelope = json_new_object();

	json_put_cstring(envelope, "/type", message_type_name(type));
	return envelope;
}

MessageType
adapter_type(const Json *envelope)
{
	Slice		name = json_get_text(envelope, "/type");

	return slice_present(name) ? message_type_parse(name) : MSG_UNKNOWN;
}

bool
adapter_is_error(MessageType type)
{
	return type == MSG_TASK_ERROR || type == MSG_TOOL_ERROR || type == MSG_TASK_TIMEOUT;
}

void
adapter_put_payload(const Adapter *self, Json *envelope, Json *content)
{
	bool		wrapped = content != NULL && content->kind != JSON_OBJECT;
	Json	   *payload = wrapped || content == NULL ? json_new_object() : content;

	if (wrapped)
	{
		json_put(payload, "/content", content);
		adapter_note(self, envelope, "/wrapped", json_of_bool(true));
	}
	json_put(envelope, "/payload", payload);
}

Json *
adapter_payload(const Adapter *self, const Json *envelope)
{
	Json	   *payload = json_get(envelope, "/payload");

	if (payload == NULL || payload->n == 0)
		return NULL;
	if (payload->n == 1 && json_is_true(adapter_noted(self, envelope, ""), "/wrapped") &&
		json_get(payload, "/content") != NULL)
		return json_get(payload, "/content");
	return payload;
}

static bool
adapter_is_hex(Slice text, int len)
{
	return text.len == len && strspn(slice_cstring(text), "0123456789abcdef") == len;
}

Slice
adapter_traceparent(const Json *envelope)
{
	Slice		trace_id = json_get_text(envelope, "/trace/trace_id");
	Slice		span_id = json_get_text(envelope, "/trace/span_id");
	Slice		whole = json_get_text(envelope, "/trace/traceparent");

	if (slice_present(whole) || !adapter_is_hex(trace_id, 32) || !adapter_is_hex(span_id, 16))
		return whole;
	return slice_of_cstring(psprintf("00-%.*s-%.*s-01", trace_id.len, trace_id.s, span_id.len, span_id.s));
}

/* -------------------------------------------------------------------- rows */

void
adapter_rows_inbound(const Adapter *self, const AdapterRow *rows, const Json *raw, Json *envelope)
{
	for (; rows->foreign != NULL; rows++)
		switch (rows->kind)
		{
			case ROW_VALUE:
				json_put(envelope, rows->field, adapter_member(raw, rows->foreign));
				break;
			case ROW_WORD:
				json_put_text(envelope, rows->field, adapter_find_word(self, raw, rows->foreign));
				break;
			case ROW_TEXT:
				json_put_text(envelope, rows->field, adapter_find_text(self, raw, rows->foreign));
				break;
			case ROW_AGENT:
				json_put_text(envelope, rows->field, adapter_find_agent(self, raw, rows->foreign));
				break;
			case ROW_NATIVE:
				adapter_note_native(self, envelope, rows->field, adapter_find_name(self, raw, rows->foreign));
				break;
		}
}

void
adapter_rows_outbound(const Adapter *self, const AdapterRow *rows, const Json *envelope, Json *raw)
{
	Slice		agent;

	for (; rows->foreign != NULL; rows++)
		switch (rows->kind)
		{
			case ROW_VALUE:
			case ROW_WORD:
			case ROW_TEXT:
				json_put(raw, rows->foreign, adapter_member(envelope, rows->field));
				break;
			case ROW_AGENT:
				agent = json_get_text(envelope, rows->field);
				if (slice_present(agent))
					json_put_text(raw, rows->foreign, adapter_agent_name(agent));
				break;
			case ROW_NATIVE:
				json_put(raw, rows->foreign, adapter_native(self, envelope, rows->field));
				break;
		}
}
