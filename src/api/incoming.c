/*-------------------------------------------------------------------------
 *
 * incoming.c
 *	  Taking the answer of an endpoint to a call.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/incoming.h"

#include "adapters/credential.h"
#include "adapters/langgraph.h"
#include "api/blob.h"
#include "api/streamed.h"
#include "base/query.h"
#include "base/savepoint.h"
#include "trust/principal.h"
#include "utils/builtins.h"

/*
 * a response; it is reported in a savepoint, so that an error becomes a
 * failure of the call
 */
typedef struct Answer
{
	const Call *call;
	const Endpoint *endpoint;
	Jsonb	   *response;
	bool		is_last;		/* no other response of this answer will follow */
	List	   *envelopes;		/* what the adapter makes of it, and is to be
								 * reported (Jsonb *) */
	Jsonb	   *envelope;		/* the one of them that is being reported */
	List	   *references;		/* the artifacts made from bytes in the
								 * response */
	bool		said;			/* something has been reported */
	CalleeState state;			/* the state of the call after what has been
								 * reported */
} Answer;

/*
 * Returns the response, in which artifacts replace bytes if the endpoint is
 * configured so.
 */
static Jsonb *
response_of_answer(Answer *answer)
{
	Json	   *tree;

	if (answer->endpoint->artifacts_from == 0)
		return answer->response;
	tree = json_read(answer->response);
	answer->references = blob_keep(tree, answer->endpoint->artifacts_from);
	return answer->references == NIL ? answer->response : json_write(tree);
}

/* Returns the envelope, with the artifacts that it mentions attached. */
static Jsonb *
with_artifacts(Jsonb *envelope, const Endpoint *endpoint, const List *references)
{
	Json	   *tree;

	if (references == NIL)
		return envelope;
	tree = json_read(envelope);
	blob_mark(tree, slice_cstring(endpoint->adapter), references);
	return json_write(tree);
}

static bool
is_of_graph(const Answer *answer)
{
	return slice_is(answer->endpoint->adapter, "langgraph");
}

/*
 * Returns the envelopes that the adapter of the endpoint makes from a
 * document.  The last document of a stream of LangGraph is the result, even if
 * it is a piece of a message, which is otherwise left out.
 */
static List *
translated(const Answer *answer, Jsonb *document)
{
	Jsonb	   *arguments[] = {document, callee_context(answer->call, answer->endpoint)};

	if (is_of_graph(answer) && answer->is_last)
	{
		Json	   *context = json_read(arguments[1]);

		json_put(context, "/stream", json_of_bool(true));
		arguments[1] = json_write(context);
	}
	return query_list_jsonb(psprintf("SELECT clutch.inbound($1, %s, $2)", quote_literal_cstr(slice_cstring(answer->endpoint->adapter))),
							arguments, lengthof(arguments));
}

/*
 * Returns the envelope.  If it is a result in A2A, the artifacts that were
 * streamed before it are added.
 */
static Jsonb *
with_streamed(const Answer *answer, Jsonb *envelope)
{
	List	   *references = NIL;
	Jsonb	   *task = answer->call->kind == CALL_TASK && slice_is(answer->endpoint->adapter, "a2a") &&
		streamed_lacks(envelope) ? streamed_task(answer->call, envelope, &references) : NULL;

	return task == NULL ? envelope :
		with_artifacts(streamed_complete(envelope, task, linitial(translated(answer, task))), answer->endpoint, references);
}

/*
 * Two steps that make the envelopes of a response.  The sender of the envelopes
 * is the agent, for which the role of the gateway does not speak, so the
 * database acts as the owner of its tables (principal_run_as).
 */
static void
translate_response(void *arg)
{
	Answer	   *answer = arg;
	List	   *all = translated(answer, response_of_answer(answer));
	ListCell   *cell;

	foreach(cell, all)
		if (!callee_passes_over(answer->endpoint, lfirst(cell)))
			answer->envelopes = lappend(answer->envelopes, lfirst(cell));
	/* pieces of messages are left out, and nothing is wrong with that */
	answer->said = endpoint_tells_run(answer->endpoint) && !answer->is_last;
}

/*
 * Completes the envelope that is reported next.  The artifacts that were
 * streamed before a result may have come in the same response, so this must be
 * called after everything before the result has been reported.
 */
static void
complete_envelope(void *arg)
{
	Answer	   *answer = arg;

	answer->envelope = with_artifacts(with_streamed(answer, answer->envelope), answer->endpoint, answer->references);
}

static void
take_documents(void *arg)
{
	Answer	   *answer = arg;
	ListCell   *cell;

	principal_run_as(rows_owner(), translate_response, answer);
	foreach(cell, answer->envelopes)
	{
		bool		is_last = answer->is_last && lnext(answer->envelopes, cell) == NULL;

		if (answer->state != CALLEE_GOES_ON)
			break;
		answer->envelope = lfirst(cell);
		principal_run_as(rows_owner(), complete_envelope, answer);
		answer->state = callee_report(answer->call, answer->endpoint, answer->envelope, answer->references, is_last);
		answer->said = true;
	}
}

/*
 * May an endpoint of this adapter answer with any JSON?  A server of LangGraph
 * answers with the final values of the graph unless it is asked for a stream.
 */
static bool
takes_any_json(const Endpoint *endpoint)
{
	return slice_is(endpoint->adapter, "http") || slice_is(endpoint->adapter, "langgraph");
}

/*
 * Is the response, which the adapter has not taken for this reason, a document
 * of no dialect?  The final values of a graph may look like a document of
 * LangGraph that lacks something.
 */
static bool
is_plain_json(const Answer *answer, const ErrorData *error)
{
	if (error->sqlerrcode == ERRCODE_CLUTCH_FOREIGN_INVALID)
		return answer->is_last && is_of_graph(answer) && langgraph_is_bare(json_read(answer->response));
	return error->sqlerrcode == ERRCODE_CLUTCH_NOT_HANDLED && takes_any_json(answer->endpoint);
}

/* Returns the notes of the adapter that name the credentials which were removed, or NULL if there were none. */
static Jsonb *
notes_on_dropped(const Endpoint *endpoint, Json *dropped)
{
	Json	   *meta = json_new_object();

	if (dropped == NULL)
		return NULL;
	json_put(meta, psprintf("/%s/dropped", slice_cstring(endpoint->adapter)), dropped);
	return json_write(meta);
}

/*
 * Takes a response that no adapter handles as the payload, without credentials.
 * One that is not an object becomes the content of one.
 */
static void
take_payload(void *arg)
{
	Answer	   *answer = arg;
	Json	   *payload = json_read(answer->response);
	Json	   *dropped;

	if (!json_is(payload, JSON_OBJECT))
	{
		Json	   *content = payload;

		payload = json_new_object();
		json_put(payload, "/content", content);
	}
	dropped = credential_remove(payload);
	answer->state = callee_report_payload(answer->call, answer->endpoint, json_write(payload),
										  notes_on_dropped(answer->endpoint, dropped), answer->is_last);
	answer->said = true;
}

const char *
incoming_take(const Call *call, const Endpoint *endpoint, Jsonb *response, bool is_last, CalleeState *state)
{
	Answer		answer = {call, endpoint, response, is_last};
	bool		are_values = is_last && is_of_graph(&answer) && langgraph_are_values(json_read(response));
	ErrorData  *error = savepoint_run(are_values ? take_payload : take_documents, &answer);

	if (error != NULL && is_plain_json(&answer, error))
		error = savepoint_run(take_payload, &answer);
	*state = answer.state;
	if (error == NULL)
		return answer.said ? NULL : "it says nothing";
	if (savepoint_failed_by_chance(error))
		ReThrowError(error);
	return error->message;
}
