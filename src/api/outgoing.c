/*-------------------------------------------------------------------------
 *
 * outgoing.c
 *	  Making the document that is sent for a call.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/outgoing.h"

#include "api/outbox_fn.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/json.h"
#include "flow/callee.h"
#include "outbox/signing.h"
#include "protocol/value.h"
#include "utils/timestamp.h"

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
		return (Slice) {value.val.string.val, value.val.string.len};
	}
	return SLICE_NONE;
}

Slice
outgoing_a2a_version(const Endpoint *endpoint)
{
	return outgoing_header(endpoint, SLICE_OF(A2A_VERSION));
}

/* Reads an event.  Raises 02000 if it is no longer in the log. */
static Jsonb *
outgoing_event(int64 seq)
{
	Jsonb	   *envelope = seq == 0 ? NULL : event_read(seq, ROWS_LATEST);

	if (envelope == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("event " INT64_FORMAT " is not in the log any more", seq)));
	return envelope;
}

/*
 * Adds notes for an answer to an MCP server.  The original call is repeated
 * with the state that the server has sent and with the answers, which are in
 * the payload.
 */
static void
outgoing_put_repetition(DocumentBuilder *b, const Call *call, const Endpoint *endpoint, JsonbContainer *asked)
{
	int64		seq = callee_request_seq(call);
	Jsonb	   *request = outbox_document(outgoing_event(seq), endpoint->adapter, NULL, seq);
	JsonbContainer *params = document_get_container(&request->root, "params");
	JsonbValue	arguments;

	document_put_cstring(b, "form", "inputs");
	document_put_text(b, "task", document_get_text(asked, "request_state"));
	document_put_text(b, "name", document_get_text(params, "name"));
	if (document_get(params, "arguments", &arguments))
		document_put_value(b, "args", &arguments);
}

/*
 * Returns the notes that the adapter needs in addition to the envelope, or
 * NULL: the version of A2A in which the document is to be written and, for an
 * answer, the IDs by which the other side knows the task and the question.
 */
static Jsonb *
outgoing_notes(const Call *call, const Endpoint *endpoint)
{
	Slice		version = slice_equal(endpoint->adapter, SLICE_OF("a2a")) ? outgoing_a2a_version(endpoint) : SLICE_NONE;
	Jsonb	   *question = callee_question(call);
	JsonbContainer *meta = question == NULL ? NULL : document_get_container(&question->root, "meta");
	JsonbContainer *asked = meta == NULL ? NULL : document_get_container(meta, slice_cstring(endpoint->adapter));
	DocumentBuilder b;

	if (!slice_present(version) && asked == NULL)
		return NULL;
	document_begin(&b);
	document_put_text(&b, "v", version);
	if (asked != NULL && slice_equal(endpoint->adapter, SLICE_OF("mcp")) &&
		slice_present(document_get_text(asked, "request_state")))
		outgoing_put_repetition(&b, call, endpoint, asked);
	else if (asked != NULL)
	{
		document_put_text(&b, "task", document_get_text(asked, "task"));
		document_put_text(&b, "context_id", document_get_text(asked, "context_id"));
	}
	return document_end(&b);
}

/*
 * Do documents of the dialect name a recipient, by which the other side finds
 * its agent?
 */
static bool
outgoing_is_addressed(Slice adapter)
{
	static const char *const names[] = {"langgraph", "collab", "map", "autogen"};

	for (int i = 0; i < lengthof(names); i++)
		if (slice_equal(adapter, slice_of_cstring(names[i])))
			return true;
	return false;
}

/*
 * Returns the envelope, addressed to this agent.  The recipient of a request
 * may have been the orchestrator.
 */
static Jsonb *
outgoing_addressed(Jsonb *envelope, Slice agent_id)
{
	Json	   *addressed = json_read(envelope);
	Json	   *to = json_new_array();
	Json	   *recipient = json_new_object();

	json_put_text(recipient, "/agent_id", agent_id);
	json_add(to, recipient);
	json_put(addressed, "/to", to);
	return json_write(addressed);
}

Jsonb *
outgoing_document(const Call *call, const Endpoint *endpoint)
{
	Jsonb	   *envelope;

	if (call->body != NULL)
		return call->body;
	envelope = outgoing_event(call->seq);
	if (call->kind == CALL_TASK && outgoing_is_addressed(endpoint->adapter))
		envelope = outgoing_addressed(envelope, call->agent_id);
	return outbox_document(envelope, endpoint->adapter, outgoing_notes(call, endpoint), call->seq);
}

/* -------------------------------------------------------------------- headers */

static const char *
outgoing_content_type(Jsonb *document, const Endpoint *endpoint)
{
	if (slice_equal(endpoint->adapter, SLICE_OF("http")) && JB_ROOT_IS_OBJECT(document) &&
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
	outgoing_put_header(&b, endpoint, "content-type", outgoing_content_type(document, endpoint));
	if (slice_equal(endpoint->adapter, SLICE_OF("mcp")))
		outgoing_put_header(&b, endpoint, "accept", "application/json, text/event-stream");
	if (slice_equal(endpoint->adapter, SLICE_OF("a2a")))
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
