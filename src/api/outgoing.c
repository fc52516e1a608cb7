/*-------------------------------------------------------------------------
 *
 * outgoing.c
 *	  Making the document that is sent for a call.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/outgoing_part.h"

#include <ctype.h>

#include "adapters/adapter.h"
#include "api/outbox_fn.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/json.h"
#include "flow/callee.h"
#include "outbox/signing.h"
#include "protocol/identifier.h"
#include "protocol/value.h"
#include "registry/agent.h"
#include "utils/timestamp.h"

/* before the name of a tool in a capability */
#define OUTGOING_TOOL	"tool:"

/* the media type of a stream of documents */
#define STREAM			"text/event-stream"

/*
 * Returns the value of the endpoint's header of this name, which is not
 * case-sensitive, or an absent slice if it has none.
 */
static Slice
outgoing_header(const Endpoint *endpoint, Slice name)
{
	int			n = endpoint->headers == NULL ? 0 : JsonContainerSize(&endpoint->headers->root);

	for (int i = 0; i < n; i++)
	{
		Slice		key = value_key_at(&endpoint->headers->root, i);
		JsonbValue	value;

		if (key.len != name.len || pg_strncasecmp(key.s, name.s, name.len) != 0)
			continue;
		value_at(&endpoint->headers->root, i, &value);
		return document_text(&value);
	}
	return SLICE_NONE;
}

Slice
outgoing_a2a_version(const Endpoint *endpoint)
{
	return outgoing_header(endpoint, SLICE_OF(A2A_VERSION));
}

Slice
outgoing_task_in(Jsonb *report, const char *adapter)
{
	return document_get_text(document_get_container(document_get_container(&report->root, "meta"), adapter), "task");
}

Jsonb *
outgoing_event(int64 seq)
{
	Jsonb	   *envelope = seq == 0 ? NULL : event_read(seq, ROWS_LATEST);

	if (envelope == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("event " INT64_FORMAT " is not in the log any more", seq)));
	return envelope;
}

/* Do documents of the dialect name a recipient, by which the other side finds its agent? */
static bool
outgoing_is_addressed(Slice adapter)
{
	static const char *const names[] = {"langgraph", "collab", "map", "autogen"};

	return slice_find(adapter, names, lengthof(names)) >= 0;
}

/*
 * Returns the envelope, addressed to the agent, because a request may be
 * addressed to the orchestrator.  An answer may be in any thread, but the other
 * side knows the conversation by the thread of the task: LangGraph keeps the
 * state of the graph there, and collab uses it as the name of the session.
 */
static Jsonb *
outgoing_addressed(const Call *call, Jsonb *envelope)
{
	Json	   *addressed = json_read(envelope);

	adapter_put_recipient(addressed, call->agent_id);
	json_put_text(addressed, "/thread_id", callee_thread(call));
	return json_write(addressed);
}

/*
 * Returns the tools in the list from which the card of the agent was made, by
 * name (adapters/card_mcp.c), or NULL if it was made from something else.
 */
static Json *
outgoing_listed_tools(Slice agent_id)
{
	Jsonb	   *card = slice_present(agent_id) ? agent_read_document(agent_id) : NULL;

	return card == NULL ? NULL : json_get_kind(json_read(card), "/meta/mcp/tools", JSON_OBJECT);
}

/* Returns the first required tool that is in the list of the agent's tools, or an absent slice. */
static Slice
outgoing_required_tool(const Json *request, Slice agent_id)
{
	Json	   *tools = outgoing_listed_tools(agent_id);
	Json	   *requires = json_get_kind(request, "/requires", JSON_ARRAY);

	for (int i = 0; tools != NULL && requires != NULL && i < requires->n; i++)
	{
		Slice		entry = requires->items[i]->text;
		Slice		id;
		Slice		range;

		identifier_split_version(entry, &id, &range);
		if (!slice_starts(id, SLICE_OF(OUTGOING_TOOL)))
			continue;
		id = slice_after(id, strlen(OUTGOING_TOOL));
		if (json_member(tools, id) != NULL)
			return id;
	}
	return SLICE_NONE;
}

/*
 * An MCP server whose tools are known has no tool that takes requests.  So a request becomes
 * a call of the tool that it requires, with the payload as the arguments.
 */
static Jsonb *
outgoing_request_of_mcp(Jsonb *envelope, Slice agent_id)
{
	Json	   *call = json_read(envelope);
	Slice		tool = outgoing_required_tool(call, agent_id);
	Json	   *payload = json_new_object();

	if (!slice_present(tool))
		return envelope;
	json_put_cstring(call, "/type", message_type_name(MSG_TOOL_CALL));
	json_put_text(payload, "/tool", slice_of_cstring(psprintf(OUTGOING_TOOL "%.*s", tool.len, tool.s)));
	json_put_text(payload, "/name", tool);
	json_put(payload, "/args", json_take(call, "/payload"));
	json_put(call, "/payload", payload);
	return json_write(call);
}

/*
 * If the document calls a tool that demands to be called as a task, makes it
 * such a call.  The server then responds with its task at once.
 */
static Jsonb *
outgoing_as_task(Jsonb *document, Slice agent_id)
{
	Json	   *raw = json_read(document);
	Slice		name = json_says(raw, "/method", "tools/call") ? json_get_text(raw, "/params/name") : SLICE_NONE;
	Json	   *tools = slice_present(name) ? outgoing_listed_tools(agent_id) : NULL;

	if (tools == NULL || !json_says(json_member(tools, name), "/execution/taskSupport", "required"))
		return document;
	json_put(raw, "/params/task", json_new_object());
	return json_write(raw);
}

void
outgoing_require_callee(const Call *call, const Endpoint *endpoint, Jsonb *envelope)
{
	JsonbContainer *payload = call->kind == CALL_TOOL ? document_get_container(&envelope->root, "payload") : NULL;
	Slice		callee = call->kind == CALL_TASK || call->kind == CALL_CANCEL ? call->agent_id :
		callee_server_of(document_get_text(payload, "tool"));

	if (slice_present(callee) && !slice_equal(callee, endpoint->serves))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("endpoint \"%.*s\" does not serve \"%.*s\" any more", endpoint->name.len, endpoint->name.s,
						callee.len, callee.s)));
}

/*
 * Returns the request without what it says about other tasks of the run.  Those
 * that must be completed before it are completed, or the agent would not have
 * been given this task, but the other side may not know them, and would wait for
 * them.  Nor need it have the workflow, of whose steps this database takes care.
 * The signature of a request that is changed goes, too, because it would be wrong.
 */
static Jsonb *
outgoing_released(Jsonb *envelope)
{
	static const char *const orders[] = {"/meta/clutch/after", "/meta/clutch/workflow", "/meta/clutch/step_of"};
	JsonbContainer *meta = document_get_container(&envelope->root, "meta");
	Json	   *released;
	bool		is_changed = false;

	if (document_get_container(meta, "clutch") == NULL)
		return envelope;
	released = json_read(envelope);
	for (int i = 0; i < lengthof(orders); i++)
		is_changed |= json_take(released, orders[i]) != NULL;
	if (!is_changed)
		return envelope;
	(void) json_take(released, "/security/auth");
	return json_write(released);
}

/* Reads an event, and changes it so that the other side understands it. */
static Jsonb *
outgoing_envelope(const Call *call, const Endpoint *endpoint, int64 seq)
{
	Jsonb	   *envelope = outgoing_event(seq);

	outgoing_require_callee(call, endpoint, envelope);
	if (call->kind != CALL_TASK)
		return envelope;
	envelope = outgoing_released(envelope);
	if (slice_is(endpoint->adapter, "mcp") &&
		slice_is(document_get_text(&envelope->root, "type"), message_type_name(MSG_TASK_REQUEST)))
		return outgoing_request_of_mcp(envelope, call->agent_id);
	return outgoing_is_addressed(endpoint->adapter) ? outgoing_addressed(call, envelope) : envelope;
}

/*
 * Was the question a result of an MCP server that asks for input, and not the
 * status of a task?  The call is to be repeated with the answers and, if the
 * server has sent a state, with this state.
 */
static bool
outgoing_is_asked_by_result(JsonbContainer *asked)
{
	return slice_is(document_get_text(asked, "form"), "inputs");
}

/*
 * Adds notes for an answer to an MCP server.  The original call is repeated.
 * The answers to a result that has asked for them are in the payload.
 */
static void
outgoing_put_repetition(DocumentBuilder *b, const Call *call, const Endpoint *endpoint, JsonbContainer *asked)
{
	int64		seq = callee_request_seq(call);
	Jsonb	   *request = outbox_document(outgoing_envelope(call, endpoint, seq), endpoint->adapter, NULL, seq);
	JsonbContainer *params = document_get_container(&request->root, "params");
	JsonbValue	arguments;

	document_put_cstring(b, "form", outgoing_is_asked_by_result(asked) ? "inputs" : "repeat");
	document_put_text(b, "task", document_get_text(asked, "request_state"));
	document_put_text(b, "name", document_get_text(params, "name"));
	if (document_get(params, "arguments", &arguments))
		document_put_value(b, "args", &arguments);
}

/*
 * Does an MCP server want the call again, because its response was the
 * question?  It needs input, or wants a user to visit a URL first.
 */
static bool
outgoing_is_repetition(const Endpoint *endpoint, Jsonb *question, JsonbContainer *asked)
{
	JsonbContainer *payload = document_get_container(&question->root, "payload");

	return slice_is(endpoint->adapter, "mcp") &&
		(outgoing_is_asked_by_result(asked) || document_get_container(payload, "elicitations") != NULL);
}

/*
 * Has a task of an MCP server asked, whose status has the questions?  It is
 * answered with tasks/update, because the call of the tool is over.
 */
static bool
outgoing_is_update(const Endpoint *endpoint, Jsonb *question)
{
	JsonbContainer *payload = document_get_container(&question->root, "payload");
	JsonbValue	requests;

	return slice_is(endpoint->adapter, "mcp") && document_get(payload, "input_requests", &requests);
}

bool
outgoing_is_asked_by_request(JsonbContainer *asked, JsonbValue *id)
{
	return document_get(document_get_container(asked, "native"), "id", id);
}

/*
 * Adds notes for an answer to a request of an MCP server, which was the
 * question.  The answer is the response to it.  Returns false if the question
 * was something else.
 */
static bool
outgoing_put_response(DocumentBuilder *b, const Endpoint *endpoint, JsonbContainer *asked)
{
	JsonbValue	id;

	if (!slice_is(endpoint->adapter, "mcp") || !outgoing_is_asked_by_request(asked, &id))
		return false;
	document_put_cstring(b, "form", "elicited");
	document_open_object(b, "native");
	document_put_value(b, "reply_to", &id);
	document_close_object(b);
	return true;
}

/* Does the text have the form of the ID of an interrupt: 32 hexadecimal digits? */
static bool
outgoing_is_interrupt_id(Slice text)
{
	for (int i = 0; i < text.len; i++)
		if (!isxdigit((unsigned char) text.s[i]))
			return false;
	return text.len == 32;
}

/*
 * Adds notes for an answer to a graph of LangGraph, which is a request for a
 * run, whoever has given the answer.
 *
 * Several nodes may have asked at the same time, each in a document of its own.
 * An answer that named no interrupt would be taken for all of them.  At a
 * breakpoint, the graph has not asked anything, and the next node that asks
 * would take whatever the run has to resume with for the answer to its question.
 *
 * In this dialect, an answer may be any value.  If it is not an object, the
 * payload contains it in a wrapper, which is removed again.
 */
static void
outgoing_put_run(DocumentBuilder *b, Jsonb *question, Jsonb *answer)
{
	JsonbContainer *notes = document_get_container(document_get_container(&answer->root, "meta"), "langgraph");
	bool		is_wrapped = false;
	JsonbContainer *interrupts = document_get_container(document_get_container(&question->root, "payload"), "interrupts");
	int			n = interrupts != NULL && JsonContainerIsArray(interrupts) ? (int) JsonContainerSize(interrupts) : -1;
	JsonbValue *first = n == 1 ? getIthJsonbValueFromContainer(interrupts, 0) : NULL;
	Slice		id = first != NULL && first->type == jbvBinary ? document_get_text(first->val.binary.data, "id") : SLICE_NONE;

	document_put_cstring(b, "form", "bare");
	document_put_cstring(b, "kind", "run");
	document_put_cstring(b, "type", message_type_name(MSG_CHAT_MESSAGE));
	(void) document_get_bool(notes, "wrapped", &is_wrapped);
	if (is_wrapped)
		document_put_bool(b, "wrapped", true);
	if (n == 0)
		document_put_bool(b, "breakpoint", true);
	if (slice_present(id) && outgoing_is_interrupt_id(id))
		document_put_text(b, "interrupt", id);
}

/* Does the endpoint's header "accept" contain the media type of a stream? */
static bool
outgoing_accepts_stream(const Endpoint *endpoint)
{
	Slice		accept = outgoing_header(endpoint, SLICE_OF("accept"));
	int			len = strlen(STREAM);

	for (int i = 0; slice_present(accept) && i + len <= accept.len; i++)
		if (pg_strncasecmp(accept.s + i, STREAM, len) == 0)
			return true;
	return false;
}

/*
 * Returns the method by which an agent of A2A is asked to stream what becomes
 * of its task, or NULL for the method that responds once.  A server need not
 * be able to stream, so the endpoint must say that it can.
 */
static const char *
outgoing_streaming_method(const Call *call, const Endpoint *endpoint, Slice version)
{
	if (call->kind != CALL_TASK || !slice_is(endpoint->adapter, "a2a") || !outgoing_accepts_stream(endpoint))
		return NULL;
	return slice_is(version, "0.3") ? "message/stream" : "SendStreamingMessage";
}

/*
 * Returns the notes that the adapter needs in addition to the envelope, or
 * NULL: the version and the method of A2A in which the document is to be
 * written and, for an answer, the IDs by which the other side knows the task
 * and the question.
 */
static Jsonb *
outgoing_notes(const Call *call, const Endpoint *endpoint, Jsonb *envelope)
{
	Slice		version = slice_is(endpoint->adapter, "a2a") ? outgoing_a2a_version(endpoint) : SLICE_NONE;
	const char *method = outgoing_streaming_method(call, endpoint, version);
	Jsonb	   *question = callee_question(call);
	JsonbContainer *meta = question == NULL ? NULL : document_get_container(&question->root, "meta");
	JsonbContainer *asked = document_get_container(meta, slice_cstring(endpoint->adapter));
	bool		is_resumed = question != NULL && slice_is(endpoint->adapter, "langgraph");
	DocumentBuilder b;

	if (!slice_present(version) && method == NULL && asked == NULL && !is_resumed)
		return NULL;
	document_begin(&b);
	document_put_text(&b, "v", version);
	if (method != NULL)
		document_put_cstring(&b, "method", method);
	/* also if the question did not come from the endpoint, but from a role that speaks for the agent */
	if (is_resumed)
		outgoing_put_run(&b, question, envelope);
	else if (asked != NULL && outgoing_is_repetition(endpoint, question, asked))
		outgoing_put_repetition(&b, call, endpoint, asked);
	else if (asked != NULL && !outgoing_put_response(&b, endpoint, asked))
	{
		if (outgoing_is_update(endpoint, question))
			document_put_cstring(&b, "form", "update");
		/* whoever answers, it is a request to the other side */
		else if (slice_is(endpoint->adapter, "a2a"))
			document_put_cstring(&b, "form", "send");
		document_put_text(&b, "task", document_get_text(asked, "task"));
		document_put_text(&b, "context_id", document_get_text(asked, "context_id"));
	}
	return document_end(&b);
}

Jsonb *
outgoing_document(const Call *call, const Endpoint *endpoint)
{
	Jsonb	   *envelope;
	Jsonb	   *document;

	if (call->body != NULL)
		return call->body;
	if (call->kind == CALL_CANCEL)
		return outgoing_cancel(call, endpoint);
	envelope = outgoing_envelope(call, endpoint, call->seq);
	if (outgoing_is_push(call, endpoint))
		return outgoing_push(call, endpoint, envelope);
	document = outbox_document(envelope, endpoint->adapter, outgoing_notes(call, endpoint, envelope), call->seq);
	return slice_is(endpoint->adapter, "mcp") ? outgoing_as_task(document, endpoint->serves) : document;
}

/* -------------------------------------------------------------------- headers */

static const char *
outgoing_content_type(const Call *call, Jsonb *document, const Endpoint *endpoint)
{
	if (outgoing_is_push(call, endpoint) && !slice_is(outgoing_a2a_version(endpoint), "0.3"))
		return "application/a2a+json";
	if (slice_is(endpoint->adapter, "http") && JB_ROOT_IS_OBJECT(document) &&
		slice_present(document_get_text(&document->root, "specversion")))
		return "application/cloudevents+json";
	return "application/json";
}

static void
outgoing_put_header(DocumentBuilder *b, const Endpoint *endpoint, const char *name, const char *value)
{
	if (!slice_present(outgoing_header(endpoint, slice_of_cstring(name))))
		document_put_cstring(b, name, value);
}

Jsonb *
outgoing_headers(const Call *call, const Endpoint *endpoint, Jsonb *document, Slice body)
{
	int64		seconds = timestamptz_to_time_t(clock_now());
	DocumentBuilder b;

	document_begin(&b);
	outgoing_put_header(&b, endpoint, "content-type", outgoing_content_type(call, document, endpoint));
	if (slice_is(endpoint->adapter, "mcp"))
		outgoing_put_header(&b, endpoint, "accept", "application/json, text/event-stream");
	if (slice_is(endpoint->adapter, "a2a"))
		outgoing_put_header(&b, endpoint, A2A_VERSION, "1.0");
	if (endpoint->headers != NULL)
		document_put_pairs(&b, &endpoint->headers->root, NULL);
	document_put_text(&b, "webhook-id", call->id);
	document_put_cstring(&b, "webhook-timestamp", psprintf(INT64_FORMAT, seconds));
	if (slice_present(endpoint->signing))
		document_put_cstring(&b, "webhook-signature",
							 signing_webhook(endpoint_secret(endpoint->signing), call->id, seconds, body));
	if (slice_present(endpoint->authorization))
		document_put_text(&b, "authorization", endpoint_secret(endpoint->authorization));
	return document_end(&b);
}
