/*-------------------------------------------------------------------------
 *
 * multiagent_payload.c
 *	  Translating the content of a message of spec 001 to a payload and back.
 *
 * The payload has the members of the document: task, inputs, content, outputs.
 * The payloads of some types of envelopes have a prescribed form:
 *
 *	errors		message is content.text; code, retryable and details are taken
 *				from content.data
 *	tool.call	args is content.data; tool is a resource of the type "tool"
 *	agent.register	the card is content.data.card, or else made from agent and
 *					content.data
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/multiagent_part.h"

#include "settings.h"

#define RESOURCES	"/inputs/resources"
#define ARTIFACTS	"/outputs/artifacts"

/* members of the document that have other places in the envelope */
static const char *const multiagent_elsewhere[] = {
	"/protocol", "/role", "/agent", "/timestamp", "/intent", "/confidence", "/trace", NULL
};

/* members of content.data, and their places in the payload of an error */
static const struct
{
	const char *data;
	const char *payload;
	JsonKind	kind;
}			multiagent_error_members[] = {
	{"/content/data/code", "/code", JSON_TEXT},
	{"/content/data/retryable", "/retryable", JSON_BOOL},
	{"/content/data/details", "/details", JSON_OBJECT},
};

/* ---------------------------------------------------------------------- tools */

static Json *
multiagent_tool_resource(const Json *raw)
{
	const Json *resources = json_get_kind(raw, RESOURCES, JSON_ARRAY);

	for (int i = 0; resources != NULL && i < resources->n; i++)
		if (json_says(resources->items[i], "/type", "tool") &&
			json_has_text(resources->items[i], "/id"))
			return resources->items[i];
	return NULL;
}

static Slice
multiagent_tool_name(Slice id)
{
	if (!identifier_is_valid(ID_TOOL, id))
		id = slice_of_cstring(psprintf("tool:%.*s", id.len, id.s));
	return identifier_is_valid(ID_TOOL, id) ? id : SLICE_OF("tool:unknown");
}

Slice
multiagent_tool(const Json *raw)
{
	const Json *resource = multiagent_tool_resource(raw);

	return resource != NULL ? multiagent_tool_name(json_get_text(resource, "/id")) : SLICE_NONE;
}

static void
multiagent_read_call(Json *payload)
{
	Slice		tool = multiagent_tool(payload);
	Json	   *args = json_get_kind(payload, "/content/data", JSON_OBJECT) != NULL ?
		json_take(payload, "/content/data") : json_new_object();

	json_put_text(payload, "/tool", slice_present(tool) ? tool : SLICE_OF("tool:unknown"));
	json_put(payload, "/args", args);
}

static void
multiagent_write_call(Json *document)
{
	Slice		tool = json_get_text(document, "/tool");
	Json	   *resource = multiagent_tool_resource(document);
	Json	   *args = json_take(document, "/args");

	if (resource != NULL)
	{
		if (!slice_equal(tool, multiagent_tool_name(json_get_text(resource, "/id"))))
			json_put_text(resource, "/id", tool);
	}
	else if (!slice_is(tool, "tool:unknown"))
	{
		if (json_get_kind(document, RESOURCES, JSON_ARRAY) == NULL)
			json_put(document, RESOURCES, json_new_array());
		resource = json_new_object();
		json_put_cstring(resource, "/type", "tool");
		json_put_text(resource, "/id", tool);
		if (json_get(document, RESOURCES) != NULL)
			json_add(json_get(document, RESOURCES), resource);
	}
	json_take(document, "/tool");
	if (json_get(document, "/content/data") == NULL && args != NULL && args->n > 0)
		json_put(document, "/content/data", args);
}

/* --------------------------------------------------------------------- errors */

static void
multiagent_read_error(Json *payload)
{
	Slice		text = json_get_text(payload, "/content/text");

	for (int i = 0; i < lengthof(multiagent_error_members); i++)
	{
		json_take(payload, multiagent_error_members[i].payload);
		if (json_get_kind(payload, multiagent_error_members[i].data, multiagent_error_members[i].kind) != NULL &&
			(i > 0 || identifier_is_valid(ID_WORD, json_get_text(payload, "/content/data/code"))))
			json_put(payload, multiagent_error_members[i].payload, json_take(payload, multiagent_error_members[i].data));
	}
	if (json_get(payload, "/code") == NULL)
		json_put_cstring(payload, "/code", "ERROR");
	if (slice_present(text) && text.len > 0)
		json_put(payload, "/message", json_take(payload, "/content/text"));
	else
		json_put_cstring(payload, "/message", "the agent reported an error");
}

static void
multiagent_write_error(Json *document)
{
	json_put(document, "/content/text", json_take(document, "/message"));
	for (int i = 0; i < lengthof(multiagent_error_members); i++)
		json_put(document, multiagent_error_members[i].data, json_take(document, multiagent_error_members[i].payload));
}

/* ---------------------------------------------------------------------- cards */

/*
 * Returns the AgentCard of a handshake.  The rest of the payload becomes the
 * note "body".  The note "made" is true if the document had no card, so that
 * one was made from other members.
 */
static Json *
multiagent_read_card(const Adapter *self, const Json *raw, Json *payload, Json *envelope)
{
	Json	   *card = json_get_kind(payload, "/content/data/card", JSON_OBJECT);
	Slice		id = adapter_require_word(self, raw, "/agent/id");
	Slice		name = adapter_find_word(self, raw, "/agent/name");
	Json	   *data;

	if (card != NULL)
		card = json_take(payload, "/content/data/card");
	else
	{
		data = json_take(payload, "/content/data");
		card = json_new_object();
		json_put_cstring(card, "/v", CLUTCH_PROTOCOL);
		json_put_text(card, "/agent_id", adapter_agent_id(id));
		json_put_text(card, "/display/name", slice_present(name) ? name : id);
		json_put_text(card, "/model", adapter_find_word(self, raw, "/agent/model"));
		json_put(card, "/capabilities", json_new_array());
		json_put(card, "/meta/multiagent", data);
		adapter_note(self, envelope, "/made", json_of_bool(true));
	}
	adapter_note(self, envelope, "/body", payload);
	return card;
}

static Json *
multiagent_write_card(const Adapter *self, const Json *envelope)
{
	const Json *body = adapter_noted(self, envelope, "/body");
	Json	   *document = body != NULL ? json_copy(body) : json_new_object();

	if (json_is_true(adapter_noted(self, envelope, "/made"), ""))
		json_put(document, "/content/data", json_get(envelope, "/payload/meta/multiagent"));
	else
	{
		if (json_get_kind(document, "/content/data/supports", JSON_ARRAY) == NULL)
			json_put(document, "/content/data/supports", json_new_array());
		json_put(document, "/content/data/card", json_copy(json_get(envelope, "/payload")));
	}
	return document;
}

/* ---------------------------------------------------------------- attachments */

static void
multiagent_read_artifacts(const Json *payload, Json *envelope)
{
	const Json *artifacts = json_get_kind(payload, ARTIFACTS, JSON_ARRAY);
	Json	   *attachments = json_new_array();

	for (int i = 0; artifacts != NULL && i < artifacts->n && attachments->n < clutch_limits.max_list; i++)
	{
		Json	   *attachment = adapter_attachment(json_get_text(artifacts->items[i], "/uri"));

		if (attachment != NULL)
			json_add(attachments, attachment);
	}
	if (attachments->n > 0)
		json_put(envelope, "/attachments", attachments);
}

/*
 * Writes the references of the attachments into the artifacts, in order, and
 * adds artifacts for the remaining ones.
 */
static void
multiagent_write_artifacts(const Json *envelope, Json *document)
{
	const Json *attachments = json_get_kind(envelope, "/attachments", JSON_ARRAY);
	Json	   *artifacts = json_get_kind(document, ARTIFACTS, JSON_ARRAY);
	int			next = 0;

	if (attachments == NULL)
		return;
	if (artifacts == NULL)
	{
		json_put(document, ARTIFACTS, json_new_array());
		artifacts = json_get_kind(document, ARTIFACTS, JSON_ARRAY);
	}
	for (int i = 0; artifacts != NULL && i < artifacts->n && next < attachments->n; i++)
		if (adapter_attachment(json_get_text(artifacts->items[i], "/uri")) != NULL)
			json_put(artifacts->items[i], "/uri", json_get(attachments->items[next++], "/ref"));
	for (; artifacts != NULL && next < attachments->n; next++)
	{
		Json	   *artifact = json_new_object();

		json_put_cstring(artifact, "/kind", "report");
		json_put(artifact, "/name", json_get(attachments->items[next], "/ref"));
		json_put(artifact, "/uri", json_get(attachments->items[next], "/ref"));
		json_add(artifacts, artifact);
	}
}

/* ----------------------------------------------------------------- the payload */

/* members that make a task.progress suspend its task or ask a question, and that mean something else in a message */
static const char *const multiagent_orders[] = {"/state", "/deadline", NULL};

static void
multiagent_note_orders(const Adapter *self, Json *payload, Json *envelope)
{
	for (const char *const *path = multiagent_orders; *path != NULL; path++)
		adapter_note(self, envelope, *path, json_take(payload, *path));
}

static void
multiagent_write_orders(const Adapter *self, const Json *envelope, Json *document)
{
	for (const char *const *path = multiagent_orders; *path != NULL; path++)
		if (json_get(document, *path) == NULL)
			json_put(document, *path, adapter_noted(self, envelope, *path));
}

void
multiagent_read_payload(const Adapter *self, const Json *raw, Json *envelope)
{
	Json	   *payload = json_copy_top(raw);
	MessageType type = adapter_type(envelope);

	for (const char *const *path = multiagent_elsewhere; *path != NULL; path++)
		json_take(payload, *path);
	json_unshare(payload, "/content/data");
	multiagent_read_artifacts(payload, envelope);
	if (type == MSG_TASK_ERROR || type == MSG_TOOL_ERROR)
		multiagent_read_error(payload);
	else if (type == MSG_TOOL_CALL)
		multiagent_read_call(payload);
	else if (type == MSG_AGENT_REGISTER)
		payload = multiagent_read_card(self, raw, payload, envelope);
	else if (type == MSG_TASK_PROGRESS)
		multiagent_note_orders(self, payload, envelope);
	json_put(envelope, "/payload", payload);
}

/*
 * Makes the document from the payload of an envelope that was never foreign.
 */
static Json *
multiagent_native_document(const Json *envelope)
{
	static const char *const texts[] = {"/task", "/text", "/title", "/question", "/message", NULL};
	const Json *payload = json_get(envelope, "/payload");
	Json	   *document = json_new_object();
	MessageType type = adapter_type(envelope);
	Slice		task = SLICE_NONE;

	for (const char *const *text = texts; *text != NULL && !slice_present(task); text++)
		task = json_get_text(payload, *text);
	json_put_text(document, "/task", slice_present(task) ? task : json_get_text(envelope, "/type"));
	if (adapter_is_error(type) || type == MSG_TOOL_CALL)
	{
		document = json_copy(payload);
		json_take(document, "/content");
		json_take(document, "/inputs");
		json_take(document, "/outputs");
		json_put_text(document, "/task", slice_present(task) ? task : json_get_text(envelope, "/type"));
	}
	else
	{
		json_put_text(document, "/content/text", json_get_text(payload, "/text"));
		json_put(document, "/content/data", json_copy(payload));
	}
	return document;
}

bool
multiagent_is_message(const Adapter *self, const Json *envelope)
{
	return adapter_was_foreign(self, envelope) || json_is(adapter_noted(self, envelope, "/intent"), JSON_TEXT);
}

Json *
multiagent_document_of(const Adapter *self, const Json *envelope)
{
	bool		foreign = multiagent_is_message(self, envelope);
	MessageType type = adapter_type(envelope);
	Json	   *document;

	if (type == MSG_AGENT_REGISTER)
		document = multiagent_write_card(self, envelope);
	else
		document = foreign ? json_copy(json_get(envelope, "/payload")) : multiagent_native_document(envelope);
	if (json_get_kind(document, "/content", JSON_OBJECT) == NULL)
		json_put(document, "/content", json_new_object());
	if (adapter_is_error(type))
		multiagent_write_error(document);
	else if (type == MSG_TOOL_CALL)
		multiagent_write_call(document);
	multiagent_write_orders(self, envelope, document);
	multiagent_write_artifacts(envelope, document);
	if (!json_has_text(document, "/task"))
		json_put(document, "/task", json_get(envelope, "/type"));
	return document;
}
