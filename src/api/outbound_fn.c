/*-------------------------------------------------------------------------
 *
 * outbound_fn.c
 *	  The SQL functions outbound, reply and task_as.
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
#include "base/clock.h"
#include "miscadmin.h"
#include "registry/agent.h"

PG_FUNCTION_INFO_V1(clutch_outbound);
PG_FUNCTION_INFO_V1(clutch_reply);
PG_FUNCTION_INFO_V1(clutch_task_as);

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
	reply_name_request(reply, document);
	return document;
}

/*
 * Reads the arguments task_id and adapter.  Returns the task, or NULL if there
 * is nothing to return: the caller may not see the task, its request is not in
 * the log, or no adapter is named and none has made the request.
 */
static Task *
reply_of_arguments(FunctionCallInfo fcinfo, Reply *reply)
{
	Slice		task_id = argument_optional_text(fcinfo, 0);
	Slice		name = argument_optional_text(fcinfo, 1);
	Task	   *task = slice_present(task_id) ? task_look(task_id, ROWS_ACTIVE) : NULL;
	Adapter    *adapter = slice_present(name) ? catalog_require(name) : NULL;
	Jsonb	   *asked;

	if (task == NULL || !visible_task(task))
		return NULL;
	asked = event_read(task->request_seq, ROWS_ACTIVE);
	if (asked == NULL)
		return NULL;
	reply->request = json_read(asked);
	if (adapter == NULL)
		adapter = reply_find_adapter(reply->request);
	if (adapter == NULL)
		return NULL;
	adapter->named = true;
	reply->adapter = adapter;
	reply->task_id = task->task_id;
	reply->thread_id = task->thread_id;
	reply->card = reply_find_card(task->agent_id);
	return task;
}

Datum
clutch_reply(PG_FUNCTION_ARGS)
{
	Reply		reply = {0};
	Task	   *task = reply_of_arguments(fcinfo, &reply);
	Jsonb	   *end = task == NULL ? NULL : reply_find_end(task);

	if (end == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(json_write(reply_write(&reply, end)));
}

/* ------------------------------------------------------------------ task_as */

/*
 * Returns the agent's last progress, or NULL if it has reported none, or if that
 * was an artifact, or a question that has been answered.
 */
static Json *
task_last_progress(const Task *task)
{
	Jsonb	   *event = task->progress_seq == 0 ? NULL : event_read(task->progress_seq, ROWS_ACTIVE);
	Json	   *progress = event == NULL ? NULL : json_read(event);

	if (progress == NULL || json_get(progress, "/payload/artifact_id") != NULL ||
		json_says(progress, "/payload/state", "input_required") || json_says(progress, "/payload/state", "auth_required"))
		return NULL;
	return progress;
}

/* Returns progress that is not in the log: a task.progress without words. */
static Json *
task_wordless_progress(const Json *request)
{
	static const char *const members[] = {"/v", "/id", "/run_id", "/thread_id", "/task_id"};
	Json	   *progress = json_new_object();

	for (int i = 0; i < lengthof(members); i++)
		json_put(progress, members[i], json_get(request, members[i]));
	json_put_cstring(progress, "/type", message_type_name(MSG_TASK_PROGRESS));
	json_put(progress, "/payload", json_new_object());
	return progress;
}

/* Returns an envelope that says what the task, which is not over, is doing. */
static Json *
task_state(const Task *task, const Json *request)
{
	bool		is_asking = task->status == TASK_INPUT_REQUIRED;
	bool		is_new = task->started_at == 0 && (task->status == TASK_PENDING || task->status == TASK_ASSIGNED);
	Jsonb	   *question = is_asking ? event_read(task->question_seq, ROWS_ACTIVE) : NULL;
	Json	   *state = question != NULL ? json_read(question) : is_new || is_asking ? NULL : task_last_progress(task);

	if (state == NULL)
		state = task_wordless_progress(request);
	if (question == NULL)
		json_put_cstring(state, "/payload/state", is_new ? "submitted" : is_asking ? "input_required" : "working");
	return state;
}

/* Adds the times of the task, as texts and in milliseconds (task_has_times in adapter.h). */
static void
task_put_times(const Task *task, Json *document)
{
	json_put_cstring(document, "/createdAt", clock_rfc3339(task->created_at));
	json_put_cstring(document, "/lastUpdatedAt", clock_rfc3339(task->since));
	json_put(document, "/ttl", task->deadline == 0 ? json_new_null() :
			 json_of_int((task->deadline - task->created_at) / 1000));
}

Datum
clutch_task_as(PG_FUNCTION_ARGS)
{
	Reply		reply = {0};
	Task	   *task = reply_of_arguments(fcinfo, &reply);
	Jsonb	   *end;
	Json	   *state;
	Json	   *document;

	if (task == NULL || reply.adapter->task_form == NULL)
		PG_RETURN_NULL();
	end = task_status_is_over(task->status) ? reply_find_end(task) : NULL;
	state = end != NULL ? json_read(end) : task_state(task, reply.request);
	json_put_cstring(state, "/ts", clock_rfc3339(task->since));
	reply_begin(&reply);
	document = reply_task(&reply, state);
	if (reply.adapter->task_has_times)
		task_put_times(task, document);
	PG_RETURN_JSONB_P(json_write(document));
}
