/*-------------------------------------------------------------------------
 *
 * outbound_fn.c
 *	  The SQL functions outbound and reply.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/stratnum.h"
#include "adapters/catalog.h"
#include "adapters/reply.h"
#include "adapters/translation.h"
#include "api/blob.h"
#include "api/result.h"
#include "api/visible.h"
#include "miscadmin.h"
#include "registry/agent.h"

PG_FUNCTION_INFO_V1(clutch_outbound);
PG_FUNCTION_INFO_V1(clutch_reply);

/*
 * Translates an envelope, and puts the bytes of its artifacts into the
 * document.  The list of artifacts is removed from the envelope.
 */
static Json *
outbound_write(const Adapter *adapter, Json *envelope)
{
	List	   *blobs = blob_unmark(envelope, adapter->name);
	Json	   *document = translation_outbound(adapter, envelope);

	blob_restore(document, blobs, 0, JENTRY_OFFLENMASK);
	return document;
}

Datum
clutch_outbound(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = argument_jsonb(fcinfo, 0, "envelope");
	Adapter    *adapter = catalog_require(argument_text(fcinfo, 1, "adapter"));
	ProblemList *list = problem_list_admitted();
	Envelope	envelope;

	envelope_read_admitted(document, &envelope, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	adapter->named = true;
	PG_RETURN_JSONB_P(json_write(outbound_write(adapter, json_read(document))));
}

/* -------------------------------------------------------------------- reply */

/*
 * Returns the event that has ended the task, or NULL if it is not over or if
 * the event is no longer in the log.
 */
static Jsonb *
reply_find_end(const Task *task)
{
	MessageType type = task->status == TASK_CANCELLED ? MSG_TASK_CANCEL : MSG_TASK_TIMEOUT;
	int64		seq = task->result_seq;
	RowScan		scan;

	if (seq == 0 && (task->status == TASK_CANCELLED || task->status == TASK_TIMED_OUT))
	{
		rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_ACTIVE, AccessShareLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, task->task_id);
		rows_start(&scan);
		while (rows_next(&scan))
		{
			CHECK_FOR_INTERRUPTS();
			if (message_type_parse(rows_text(&scan, Anum_event_type)) == type && !rows_bool(&scan, Anum_event_late))
				seq = Max(seq, rows_int8(&scan, Anum_event_seq));
		}
		rows_end(&scan);
	}
	return seq == 0 ? NULL : event_read(seq, ROWS_ACTIVE);
}

/* Returns the first adapter that has noted something in the envelope, or NULL. */
static Adapter *
reply_find_adapter(const Json *request)
{
	const Json *meta = json_get(request, "/meta");
	ListCell   *lc;

	foreach(lc, catalog_list())
	{
		Adapter    *adapter = lfirst(lc);

		if (json_member(meta, slice_of_cstring(adapter->name)) != NULL)
			return adapter;
	}
	return NULL;
}

/* Returns the card of the agent, or NULL if it is not registered. */
static Json *
reply_find_card(Slice agent_id)
{
	Jsonb	   *card = slice_present(agent_id) ? agent_read_document(agent_id) : NULL;

	return card == NULL ? NULL : json_read(card);
}

static Json *
reply_write(Reply *reply, Jsonb *end)
{
	Json	   *envelope;
	Json	   *document;

	reply_begin(reply);
	envelope = reply_envelope(reply, json_read(end));
	document = outbound_write(reply->adapter, envelope);
	reply_name_request(reply, envelope, document);
	return document;
}

Datum
clutch_reply(PG_FUNCTION_ARGS)
{
	Slice		task_id = argument_optional_text(fcinfo, 0);
	Slice		name = argument_optional_text(fcinfo, 1);
	Task	   *task = slice_present(task_id) ? task_look(task_id, ROWS_ACTIVE) : NULL;
	Adapter    *adapter = NULL;
	Json	   *request;
	Jsonb	   *asked;
	Jsonb	   *end;
	Reply		reply;

	if (slice_present(name))
		adapter = catalog_require(name);
	if (task == NULL || !visible_task(task))
		PG_RETURN_NULL();
	asked = event_read(task->request_seq, ROWS_ACTIVE);
	end = reply_find_end(task);
	if (asked == NULL || end == NULL)
		PG_RETURN_NULL();
	request = json_read(asked);
	if (adapter == NULL)
		adapter = reply_find_adapter(request);
	if (adapter == NULL)
		PG_RETURN_NULL();
	adapter->named = true;
	reply = (Reply) {adapter, request, task->task_id, task->thread_id, reply_find_card(task->agent_id)};
	PG_RETURN_JSONB_P(json_write(reply_write(&reply, end)));
}
