/*-------------------------------------------------------------------------
 *
 * outbox_fn.c
 *	  Calls to other systems: clutch.post, and functions for operators.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/blob.h"
#include "api/outbox_fn.h"
#include "api/result.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/query.h"
#include "flow/callee.h"
#include "outbox/call.h"
#include "outbox/signing.h"
#include "protocol/place.h"
#include "settings.h"
#include "store/epoch.h"
#include "trust/principal.h"
#include "trust/traffic.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

PG_FUNCTION_INFO_V1(clutch_post);
PG_FUNCTION_INFO_V1(clutch_outbox_retry);
PG_FUNCTION_INFO_V1(clutch_outbox_drop);
PG_FUNCTION_INFO_V1(clutch_webhook_signature);
PG_FUNCTION_INFO_V1(clutch_secret_can_sign);
PG_FUNCTION_INFO_V1(clutch_endpoints_changed);

/*
 * Returns the envelope with these notes of the adapter in meta.<adapter>, or
 * without notes if they are NULL.  The author of the envelope may have written
 * notes, which would determine the method, sender, task and tool in the
 * document.
 */
static Jsonb *
envelope_with_notes(Jsonb *envelope, const char *adapter, Jsonb *notes)
{
	JsonbContainer *meta = document_get_container(&envelope->root, "meta");
	JsonbValue	own;
	bool		has_own = document_get(meta, adapter, &own);
	DocumentBuilder b;

	if (notes == NULL && !has_own)
		return envelope;
	document_begin(&b);
	document_put_pairs(&b, &envelope->root, "meta");
	if (notes != NULL || JsonContainerSize(meta) > 1)
	{
		document_open_object(&b, "meta");
		if (meta != NULL)
			document_put_pairs(&b, meta, adapter);
		if (notes != NULL)
			document_put_jsonb(&b, adapter, notes);
		document_close_object(&b);
	}
	return document_end(&b);
}

Jsonb *
outbox_document(Jsonb *envelope, Slice adapter, Jsonb *notes, int64 seq)
{
	/*
	 * this must be a copy, because a user-defined function may change the
	 * endpoints, and the slice may belong to one
	 */
	char	   *name = slice_cstring(adapter);
	Json	   *tree = json_read(envelope);
	List	   *blobs = blob_unmark(tree, name);
	Jsonb	   *argument = envelope_with_notes(blobs != NIL ? json_write(tree) : envelope, name, notes);
	List	   *documents = query_list_jsonb(psprintf("SELECT clutch.outbound($1, %s)", quote_literal_cstr(name)), &argument, 1);

	if (documents == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("adapter %s returned no document for the envelope", place_quote(slice_of_cstring(name)))));
	if (blobs == NIL)
		return linitial(documents);
	tree = json_read(linitial(documents));
	blob_restore(tree, blobs, seq, (int64) clutch_max_body_size * 1024 * 1024);
	return json_write(tree);
}

/* ------------------------------------------------------------------- posting */

static const Endpoint *
endpoint_named(Slice name)
{
	const Endpoint *endpoint = endpoint_find(name);

	if (endpoint == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errproblem("endpoint", "ENDPOINT_NOT_FOUND"),
				 errmsg("endpoint %s does not exist", place_quote(name)),
				 errhint("Operators insert endpoints into clutch.endpoint.")));
	return endpoint;
}

static void
require_use(const Endpoint *endpoint, Slice agent_id)
{
	principal_require(agent_id, "/from/agent_id");
	if (!endpoint_allows(endpoint, agent_id) && !principal_is_operator(principal_role()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("endpoint", "ENDPOINT_NOT_ALLOWED"),
				 errmsg("\"%.*s\" may not use endpoint \"%.*s\"", agent_id.len, agent_id.s,
						endpoint->name.len, endpoint->name.s),
				 errhint("Ask an operator to add the agent to the column agents of clutch.endpoint.")));
}

Datum
clutch_post(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "endpoint");
	Jsonb	   *document = argument_jsonb(fcinfo, 1, "envelope");
	const Endpoint *endpoint = endpoint_named(name);
	ProblemList *list = problem_list();
	Envelope	envelope;
	Call		call = {.kind = CALL_POST, .endpoint = name};

	envelope_read(document, &envelope, list);
	envelope_refuse_internal(&envelope, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	require_use(endpoint, envelope.from_agent);
	if (traffic_is_counted())
		traffic_add(VARSIZE(document), clock_now(), true);
	call.body = outbox_document(document, endpoint->adapter, NULL, 0);
	call.agent_id = envelope.from_agent;
	call.run_id = envelope.run_id;
	call.task_id = envelope.task_id;
	call_put(&call);
	PG_RETURN_TEXT_P(slice_to_text(call.id));
}

/* -------------------------------------------------------------- for operators */

Datum
clutch_outbox_retry(PG_FUNCTION_ARGS)
{
	Call	   *call = call_lock(argument_text(fcinfo, 0, "id"));

	if (call != NULL)
		call_revive(call);
	PG_RETURN_BOOL(call != NULL);
}

Datum
clutch_outbox_drop(PG_FUNCTION_ARGS)
{
	Call	   *call = call_lock(argument_text(fcinfo, 0, "id"));

	if (call != NULL)
		call_remove(call);
	PG_RETURN_BOOL(call != NULL);
}

Datum
clutch_webhook_signature(PG_FUNCTION_ARGS)
{
	Slice		secret = slice_of_text(PG_GETARG_TEXT_PP(0));
	Slice		id = slice_of_text(PG_GETARG_TEXT_PP(1));
	Slice		body = slice_of_text(PG_GETARG_TEXT_PP(3));

	PG_RETURN_TEXT_P(cstring_to_text(signing_webhook(secret, id, timestamptz_to_time_t(PG_GETARG_TIMESTAMPTZ(2)), body)));
}

Datum
clutch_secret_can_sign(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(signing_is_possible(slice_of_text(PG_GETARG_TEXT_PP(0))));
}

/* Tells all backends, which cache the endpoints, to read them again. */
Datum
clutch_endpoints_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "endpoints_changed");
	endpoint_announce();
	/* a dump may still be being restored, and a restore moves nothing */
	if (epoch_has_begun())
		callee_take_up();
	/*
	 * wake the gateways: calls of an endpoint that is no longer paused can be
	 * sent now
	 */
	notify_outbox();
	PG_RETURN_POINTER(NULL);
}
