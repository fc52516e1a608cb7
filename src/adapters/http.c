/*-------------------------------------------------------------------------
 *
 * http.c
 *	  Webhooks: CloudEvents 1.0.2 and Standard Webhooks 1.
 *
 * A CloudEvent in binary mode is converted to structured mode before it is
 * read, and back after it has been written.  Notes:
 *
 *	kind		"binary" or "webhook"; missing for an event in structured mode
 *	request		true if the document is {headers, body}
 *	plain		true if the body is the payload
 *	base64		true if the payload was in the member data_base64
 *	names		the header names that were not in lower case
 *	ours		true if the source has the form that http_event_of writes
 *	typed		true if the type has become the payload_type
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/http_part.h"

#include "utils/fmgrprotos.h"

#define TYPE_PREFIX		"clutch."
#define SOURCE_PREFIX	"/clutch/"
#define SUBJECT_HEADER	"ce-subject"

/*
 * members that are always translated; http_read_event and http_event_of handle
 * the others
 */
static const AdapterRow http_rows[] = {
	{ROW_NATIVE, "/id", "id"},
	{ROW_WORD, "/clutchidem", "/idempotency_key"},
	{ROW_TEXT, "/traceparent", "/trace/traceparent"},
	{ROW_TEXT, "/tracestate", "/trace/tracestate"},
	{ROW_VALUE, NULL, NULL}
};

/* ----------------------------------------------------------------- headers */

Slice
http_spelling(const Adapter *self, const Json *envelope, Slice lower)
{
	const Json *spelling = json_member(adapter_noted(self, envelope, "/names"), lower);

	return json_is(spelling, JSON_TEXT) ? spelling->text : lower;
}

void
http_note_spelling(const Adapter *self, Json *envelope, Slice name, Slice lower)
{
	if (!slice_equal(name, lower))
		adapter_note(self, envelope, psprintf("/names%s", json_path("", lower)), json_of_text(name));
}

/*
 * Converts a request in binary mode to the event in structured mode, and adds
 * the header names that are not in lower case to "names".
 */
static Json *
http_event_of_request(const Adapter *self, const Json *raw, Json *names)
{
	const Json *headers = json_get_kind(raw, "/headers", JSON_OBJECT);
	Json	   *event = json_new_object();

	for (int i = 0; i < headers->n; i++)
	{
		Slice		name = http_lower(headers->keys[i]);
		Slice		attribute_name;
		Json	   *attribute;

		if (!slice_starts(name, SLICE_OF("ce-")))
			continue;
		if (headers->items[i]->kind != JSON_TEXT)
			adapter_fault(self, json_path("/headers", headers->keys[i]), "WRONG_TYPE", "it must be a string");
		attribute = http_attribute(headers->items[i]);
		if (attribute == NULL)
			adapter_fault(self, json_path("/headers", headers->keys[i]), "WRONG_FORMAT", "its percent-encoded bytes are not valid UTF-8");
		attribute_name = slice_after(name, 3);
		http_check_header(self, headers->keys[i], attribute, json_member(event, attribute_name));
		json_put_member(event, attribute_name, attribute);
		if (!slice_equal(headers->keys[i], name))
			json_put_member(names, name, json_of_text(headers->keys[i]));
	}
	json_put(event, "/data", json_get(raw, "/body"));
	return event;
}

/* Returns the text of an attribute for a header. */
static Json *
http_header_of(const Json *attribute)
{
	Slice		text = attribute->text;

	if (attribute->kind == JSON_NUMBER)
		text = slice_of_cstring(DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(attribute->number))));
	return json_of_text(adapter_encode_header(text));
}

static Json *
http_request_of_event(const Adapter *self, const Json *event, const Json *envelope)
{
	Json	   *request = json_new_object();

	json_put(request, "/headers", json_new_object());
	for (int i = 0; i < event->n; i++)
	{
		Slice		name = slice_of_cstring(psprintf("ce-%.*s", event->keys[i].len, event->keys[i].s));

		if (!slice_is(event->keys[i], "data"))
			json_put_member(json_get(request, "/headers"), http_spelling(self, envelope, name), http_header_of(event->items[i]));
	}
	json_put(request, "/body", json_get(event, "/data"));
	return request;
}

/* -------------------------------------------------------------------- source */

/*
 * Splits a source of the form "/clutch/<run>/<agent>", where %2F stands for a
 * slash in the run.  Returns false if it has another form.
 */
static bool
http_split_source(Slice source, Slice *run, Slice *agent)
{
	Slice		rest;
	const char *slash;

	if (!slice_present(source) || !slice_starts(source, SLICE_OF(SOURCE_PREFIX)))
		return false;
	rest = slice_after(source, strlen(SOURCE_PREFIX));
	slash = memchr(rest.s, '/', rest.len);
	if (slash == NULL || slash == rest.s || slash == rest.s + rest.len - 1)
		return false;
	*run = adapter_decode_header((Slice) {rest.s, slash - rest.s});
	if (!slice_present(*run))
		*run = (Slice) {rest.s, slash - rest.s};
	*agent = adapter_agent_id((Slice) {slash + 1, rest.s + rest.len - slash - 1});
	return true;
}

static Slice
http_source_of(const Adapter *self, const Json *envelope)
{
	Slice		agent = adapter_agent_name(json_get_text(envelope, "/from/agent_id"));
	Slice		run = json_get_text(envelope, "/run_id");
	StringInfoData source;

	if (adapter_was_foreign(self, envelope) && !json_is_true(adapter_noted(self, envelope, ""), "/ours"))
		return agent;
	initStringInfo(&source);
	appendStringInfoString(&source, SOURCE_PREFIX);
	for (int i = 0; i < run.len; i++)
	{
		if (run.s[i] == '/' || run.s[i] == '%')
			appendStringInfo(&source, "%%%02X", run.s[i]);
		else
			appendStringInfoChar(&source, run.s[i]);
	}
	appendStringInfo(&source, "/%.*s", agent.len, agent.s);
	return (Slice) {source.data, source.len};
}

/* -------------------------------------------------------------------- inbound */

Json *
http_read_type(const Adapter *self, const Json *event)
{
	Slice		name = adapter_require_word(self, event, "/type");
	int			prefix = strlen(TYPE_PREFIX);
	MessageType type = slice_starts(name, SLICE_OF(TYPE_PREFIX)) ?
		message_type_parse(slice_after(name, prefix)) : MSG_UNKNOWN;
	Json	   *envelope;

	if (type != MSG_UNKNOWN && !message_type_is_internal(type))
		return adapter_envelope(type);
	adapter_check_identifier(self, "/type", ID_WORD, name);
	envelope = adapter_envelope(MSG_CHAT_MESSAGE);
	json_put_text(envelope, "/payload_type", name);
	adapter_note(self, envelope, "/typed", json_of_bool(true));
	return envelope;
}

/* Reads the attempt, which is a text if it comes from a header. */
static void
http_read_attempt(const Adapter *self, const Json *event, Json *envelope)
{
	Json	   *attempt = adapter_find_name(self, event, "/clutchattempt");
	int64		number;

	if (json_is(attempt, JSON_TEXT) && attempt->text.len < 10 && strspn(slice_cstring(attempt->text), "0123456789") == attempt->text.len)
		attempt = json_of_int(atoi(slice_cstring(attempt->text)));
	if (attempt != NULL && (!json_get_int(attempt, "", &number) || number < 1 || number > PG_INT32_MAX))
		adapter_fault(self, "/clutchattempt", "NUMBER_OUT_OF_RANGE", "it must be a whole number from 1 on");
	json_put(envelope, "/attempt", attempt);
}

/*
 * Reads the identifiers of an event that http_event_of has written.  They are
 * used unchanged.
 */
static void
http_read_own(const Adapter *self, const Json *event, Slice run, Slice agent, Json *envelope)
{
	Slice		id = adapter_require_word(self, event, "/id");
	Slice		subject = adapter_find_word(self, event, "/subject");

	adapter_check_identifier(self, "/source", ID_RUN, run);
	adapter_check_identifier(self, "/source", ID_AGENT, agent);
	json_put_text(envelope, "/run_id", run);
	json_put_text(envelope, "/from/agent_id", agent);
	adapter_check_identifier(self, "/id", ID_MESSAGE, id);
	json_put_text(envelope, "/id", id);
	if (slice_present(subject))
		adapter_check_identifier(self, "/subject", ID_TASK, subject);
	json_put_text(envelope, "/task_id", subject);
	adapter_note(self, envelope, "/ours", json_of_bool(true));
}

/* Returns the subject, which may be a number or any text, or NULL. */
static Json *
http_find_subject(const Adapter *self, const Json *event)
{
	Json	   *subject = adapter_member(event, "/subject");

	return json_is(subject, JSON_NUMBER) || slice_present(adapter_find_text(self, event, "/subject")) ? subject : NULL;
}

static void
http_read_thread(const Adapter *self, const Json *event, Json *envelope)
{
	Slice		thread = adapter_find_word(self, event, "/clutchthread");
	Slice		parent = adapter_find_word(self, event, "/clutchparent");

	if (slice_present(thread))
		adapter_check_identifier(self, "/clutchthread", ID_THREAD, thread);
	if (slice_present(parent))
		adapter_check_identifier(self, "/clutchparent", ID_TASK, parent);
	json_put_text(envelope, "/thread_id", thread);
	json_put_text(envelope, "/parent_task_id", parent);
	adapter_note_native(self, envelope, "thread_id", adapter_member(event, "/clutchthread"));
	adapter_note_native(self, envelope, "parent_task_id", adapter_member(event, "/clutchparent"));
}

static void
http_read_data(const Adapter *self, const Json *event, Json *envelope)
{
	Json	   *base64 = adapter_find(self, event, "/data_base64", JSON_TEXT);
	Json	   *data = adapter_member(event, "/data");

	if (base64 != NULL && data != NULL)
		adapter_fault(self, "/data_base64", "NOT_ALLOWED", "there is data as well; an event has one or the other");
	if (base64 != NULL && !adapter_is_base64(base64->text))
		adapter_fault(self, "/data_base64", "WRONG_FORMAT", "it is not base64");
	adapter_put_payload(self, envelope, base64 != NULL ? base64 : data);
	if (base64 != NULL)
		adapter_note(self, envelope, "/base64", json_of_bool(true));
}

/*
 * Makes the envelope for a CloudEvent in structured mode, starting from these
 * notes.
 */
static Json *
http_read_event(const Adapter *self, const Json *event, const Json *notes)
{
	Slice		run;
	Slice		agent;
	/* such a source may be longer than a word, because it consists of two */
	bool		is_ours = http_split_source(json_get_text(event, "/source"), &run, &agent);
	Slice		source = is_ours ? SLICE_NONE : adapter_require_word(self, event, "/source");
	Slice		schema = adapter_find_text(self, event, "/dataschema");
	Slice		time = adapter_find_time(self, event, "/time");
	Json	   *envelope = http_read_type(self, event);

	for (int i = 0; i < notes->n; i++)
		adapter_note(self, envelope, json_path("", notes->keys[i]), notes->items[i]);
	(void) adapter_require_word(self, event, "/id");
	adapter_rows_inbound(self, http_rows, event, envelope);
	adapter_note_native(self, envelope, "task_id", http_find_subject(self, event));
	if (is_ours)
		http_read_own(self, event, run, agent, envelope);
	else
	{
		json_put_text(envelope, "/from/agent_id", adapter_find_agent(self, event, "/source"));
		adapter_note_native(self, envelope, "scope", json_of_text(source));
	}
	json_put_text(envelope, "/ts", time);
	if (slice_present(time))
		adapter_note_native(self, envelope, "ts", json_of_bool(true));
	if (identifier_is_valid(ID_SCHEMA, schema) &&
		memchr(schema.s, ' ', schema.len) == NULL && schema.s[schema.len - 1] != '@')
		json_put_text(envelope, "/schema_ref", schema);
	http_read_thread(self, event, envelope);
	http_read_attempt(self, event, envelope);
	http_read_data(self, event, envelope);
	return envelope;
}

static List *
http_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *notes = json_new_object();

	if (json_get(raw, "/specversion") != NULL)
		return list_make1(http_read_event(self, raw, notes));
	if (http_header(raw, SLICE_OF("ce-specversion")) != NULL)
	{
		Json	   *names = json_new_object();
		Json	   *event = http_event_of_request(self, raw, names);

		if (names->n > 0)
			json_put(notes, "/names", names);
		json_put_cstring(notes, "/kind", "binary");
		return list_make1(http_read_event(self, event, notes));
	}
	if (http_header(raw, SLICE_OF("webhook-id")) != NULL)
		return list_make1(http_read_webhook_request(self, raw));
	return list_make1(http_read_webhook(self, raw, NULL));
}

/* ------------------------------------------------------------------ outbound */

Slice
http_type_of(const Adapter *self, const Json *envelope)
{
	Slice		type = json_get_text(envelope, "/type");
	Slice		payload_type = json_get_text(envelope, "/payload_type");

	if (slice_present(payload_type) && adapter_type(envelope) == MSG_CHAT_MESSAGE &&
		json_is_true(adapter_noted(self, envelope, ""), "/typed"))
		return payload_type;
	return slice_of_cstring(psprintf(TYPE_PREFIX "%.*s", type.len, type.s));
}

static Json *
http_event_of(const Adapter *self, const Json *envelope)
{
	Json	   *event = json_new_object();
	bool		foreign = adapter_was_foreign(self, envelope);
	Json	   *payload = adapter_payload(self, envelope);
	bool		base64 = json_is_true(adapter_noted(self, envelope, ""), "/base64") &&
		json_is(payload, JSON_TEXT) && adapter_is_base64(payload->text);

	json_put_cstring(event, "/specversion", "1.0");
	json_put_text(event, "/type", http_type_of(self, envelope));
	json_put_text(event, "/source", http_source_of(self, envelope));
	adapter_rows_outbound(self, http_rows, envelope, event);
	json_put(event, "/subject", adapter_native(self, envelope, "task_id"));
	if (!foreign || adapter_noted(self, envelope, "/native/ts") != NULL)
		json_put(event, "/time", json_get(envelope, "/ts"));
	json_put(event, "/dataschema", adapter_member(envelope, "/schema_ref"));
	json_put(event, "/clutchattempt", adapter_member(envelope, "/attempt"));
	if (!foreign || adapter_noted(self, envelope, "/native/thread_id") != NULL)
		json_put(event, "/clutchthread", json_get(envelope, "/thread_id"));
	if (!foreign || adapter_noted(self, envelope, "/native/parent_task_id") != NULL)
		json_put(event, "/clutchparent", adapter_member(envelope, "/parent_task_id"));
	json_put(event, base64 ? "/data_base64" : "/data", payload);
	return event;
}

static Json *
http_outbound(const Adapter *self, const Json *envelope)
{
	Slice		kind = json_get_text(adapter_noted(self, envelope, ""), "/kind");

	/* the body of a webhook has no place for an envelope that did not come as one */
	if (slice_is(kind, "webhook") && adapter_was_foreign(self, envelope))
		return http_webhook_of(self, envelope);
	if (slice_is(kind, "binary"))
		return http_request_of_event(self, http_event_of(self, envelope), envelope);
	return http_event_of(self, envelope);
}

/* ------------------------------------------------------------------ the test */

static bool
http_is_one(const Json *version)
{
	return json_says(version, "", "1.0");
}

static const char *
http_declines(const Adapter *self, const Json *raw)
{
	const Json *version = json_get(raw, "/specversion");

	if (!json_is(raw, JSON_OBJECT))
		return "it is not an object";
	if (version != NULL)
		return http_is_one(version) ? NULL : "its specversion is not \"1.0\"";
	if (json_get_kind(raw, "/headers", JSON_OBJECT) == NULL)
		return http_declines_webhook(raw);
	version = http_header(raw, SLICE_OF("ce-specversion"));
	if (version != NULL)
		return json_is(version, JSON_TEXT) && http_attribute(version) != NULL && http_is_one(http_attribute(version)) ? NULL : "its ce-specversion is not \"1.0\"";
	if (json_get(raw, "/body/specversion") != NULL || json_get(raw, "/body/0/specversion") != NULL)
		return "its body is a CloudEvent in structured mode, or a batch of them, which is passed without the request around it";
	return http_header(raw, SLICE_OF("webhook-id")) != NULL ? NULL :
		"its headers have neither ce-specversion nor webhook-id";
}

/*
 * An event about what another one was about has the same subject.  A webhook
 * has no subject.
 */
static void
http_names_request(const Adapter *self, const Json *request, const Json *asked, Json *document)
{
	Json	   *subject = adapter_noted(self, request, "/native/task_id");
	Slice		name = http_header_name(document, SLICE_OF(SUBJECT_HEADER));

	if (subject == NULL)
		subject = json_get(request, "/task_id");
	if (json_get(document, "/specversion") != NULL)
		json_put(document, "/subject", subject);
	else if (http_header(document, SLICE_OF("ce-specversion")) != NULL)
		json_put(document, json_path("/headers", slice_present(name) ? name : SLICE_OF(SUBJECT_HEADER)), http_header_of(subject));
}

const Adapter http_adapter = {
	.name = "http",
	.carrier_at = http_carrier,
	.reads_events = true,
	.declines = http_declines,
	.inbound = http_inbound,
	.outbound = http_outbound,
	.tells_ends = ENDS_ALWAYS,
	.names_request = http_names_request,
};
