/*-------------------------------------------------------------------------
 *
 * mcp_status.c
 *	  The Model Context Protocol: the status of tasks, and the answers to their
 *	  questions.
 *
 * In the revision of 2025-11-25, the result of a task is a response of its own,
 * whose "_meta" names the task.  In the extension of 2026-07-28, the status has
 * the result, the error or the questions of the task.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/mcp_part.h"

#define TASK_FAILED		"The task failed."
#define INTERNAL_CODE	(-32603)

/* the values of the note "holds" (mcp_held) */
#define HOLDS_RESULT		"result"
#define HOLDS_STRUCTURED	"structured"
#define HOLDS_ERROR			"error"

/* where a message names the task that it belongs to */
#define RELATED_TASK	"_meta/io.modelcontextprotocol~1related-task/taskId"

/* the states of tasks, and the types of envelopes that report them */
static const struct
{
	const char *status;
	MessageType type;
}			mcp_statuses[] = {
	{"working", MSG_TASK_PROGRESS}, {"input_required", MSG_TASK_PROGRESS}, {"completed", MSG_TASK_RESULT},
	{"failed", MSG_TASK_ERROR}, {"cancelled", MSG_TASK_CANCEL}
};

/* ------------------------------------------------------------- the task of a message */

Json *
mcp_related_task(const Json *raw, const char *at)
{
	return json_get_kind(raw, psprintf("%s/" RELATED_TASK, at), JSON_TEXT);
}

void
mcp_note_related_task(const Adapter *self, Json *envelope, const Json *raw, const char *at, const Json *context)
{
	if (mcp_related_task(raw, at) == NULL || mcp_task_of(self, envelope) != NULL)
		return;
	mcp_note_task(self, envelope, context, adapter_find_name(self, raw, psprintf("%s/" RELATED_TASK, at)));
	adapter_note(self, envelope, "/related", json_of_bool(true));
}

void
mcp_write_related_task(const Adapter *self, const Json *envelope, Json *raw, const char *at)
{
	if (json_is_true(adapter_noted(self, envelope, ""), "/related"))
		json_put(raw, psprintf("%s/" RELATED_TASK, at), mcp_task_of(self, envelope));
}

/* ------------------------------------------------------------------- the status */

static int
mcp_status_named(Slice status)
{
	for (int i = 0; i < lengthof(mcp_statuses); i++)
		if (slice_is(status, mcp_statuses[i].status))
			return i;
	return -1;
}

/*
 * What the status of a task contains beside it: nothing, a result, a result
 * whose text repeats its structured content, or an error.  This is noted as
 * "holds".
 */
static const char *
mcp_held(const Json *task, MessageType type)
{
	const Json *result = json_get_kind(task, "/result", JSON_OBJECT);

	if (type == MSG_TASK_RESULT && result != NULL && (mcp_has_content(result) || json_is_true(result, "/isError")))
		return HOLDS_RESULT;
	return type == MSG_TASK_ERROR && json_get_kind(task, "/error", JSON_OBJECT) != NULL ? HOLDS_ERROR : NULL;
}

/* Reads a status that has neither a result nor an error. */
static void
mcp_read_bare_status(const Adapter *self, const Json *raw, const char *path, int i, Json *envelope)
{
	Json	   *said = adapter_find(self, raw, psprintf("%s/statusMessage", path), JSON_TEXT);

	adapter_put_payload(self, envelope, NULL);
	if (mcp_statuses[i].type == MSG_TASK_PROGRESS)
	{
		json_put_cstring(envelope, "/payload/state", mcp_statuses[i].status);
		json_put(envelope, "/payload/input_requests", json_get_kind(raw, psprintf("%s/inputRequests", path), JSON_OBJECT));
	}
	if (mcp_statuses[i].type == MSG_TASK_ERROR)
	{
		json_put_cstring(envelope, "/payload/code", "TASK_FAILED");
		json_put_cstring(envelope, "/payload/message", TASK_FAILED);
	}
	if (said != NULL && said->text.len > 0)
		json_put(envelope, mcp_statuses[i].type == MSG_TASK_CANCEL ? "/payload/reason" : "/payload/message", said);
}

Json *
mcp_read_status(const Adapter *self, const Json *raw, const char *path, const Json *context)
{
	int			i = mcp_status_named(json_get_text(raw, psprintf("%s/status", path)));
	const char *result = psprintf("%s/result", path);
	const char *holds;
	bool		failed;
	Json	   *envelope;

	if (i < 0)
		adapter_fault(self, psprintf("%s/status", path), "WRONG_VALUE", "it must be working, input_required, completed, failed or cancelled");
	holds = mcp_held(json_get(raw, path), mcp_statuses[i].type);
	failed = holds != NULL && json_is_true(raw, psprintf("%s/isError", result));
	envelope = mcp_envelope_of_server(self, failed ? MSG_TASK_ERROR : mcp_statuses[i].type, context);
	if (holds == NULL)
		mcp_read_bare_status(self, raw, path, i, envelope);
	else if (strcmp(holds, HOLDS_ERROR) == 0)
		mcp_read_error_at(self, raw, psprintf("%s/error", path), envelope);
	else if (failed)
		mcp_read_failure(self, raw, result, envelope);
	else if (mcp_read_content(self, raw, result, envelope))
		holds = HOLDS_STRUCTURED;
	mcp_note_task(self, envelope, context, adapter_find_name(self, raw, psprintf("%s/taskId", path)));
	adapter_note(self, envelope, "/form", json_of_cstring("status"));
	adapter_note(self, envelope, "/at", json_of_cstring(path));
	if (holds != NULL)
		adapter_note(self, envelope, "/holds", json_of_cstring(holds));
	if (json_says(raw, "/method", MCP_TASKS_NOTICE))
		adapter_note(self, envelope, "/notice", json_of_cstring(MCP_TASKS_NOTICE));
	return envelope;
}

static const char *
mcp_status_of(const Json *envelope)
{
	MessageType type = adapter_type(envelope);
	int			named = mcp_status_named(json_get_text(envelope, "/payload/state"));

	if (type == MSG_TASK_PROGRESS)
		return named >= 0 && mcp_statuses[named].type == type ? mcp_statuses[named].status : "working";
	return type == MSG_TASK_RESULT ? "completed" : type == MSG_TASK_CANCEL ? "cancelled" : "failed";
}

/* Returns the path of the task in the original document, ignoring a note that is not a possible path. */
static const char *
mcp_status_place(const Adapter *self, const Json *envelope)
{
	static const char *const places[] = {"/result/task", "/result"};
	Slice		at = json_get_text(adapter_noted(self, envelope, ""), "/at");

	for (int i = 0; i < lengthof(places); i++)
		if (slice_is(at, places[i]))
			return places[i];
	return "/params";
}

/* Writes the status of the task, and what it holds beside it. */
static void
mcp_put_status(const Adapter *self, const Json *envelope, Json *raw, const char *at)
{
	Slice		holds = json_get_text(adapter_noted(self, envelope, ""), "/holds");
	MessageType type = adapter_type(envelope);
	bool		ends = slice_present(holds) && (type == MSG_TASK_RESULT || type == MSG_TASK_ERROR);
	bool		fails = ends && type == MSG_TASK_ERROR && slice_is(holds, HOLDS_ERROR);

	json_put_cstring(raw, psprintf("%s/status", at), ends ? (fails ? "failed" : "completed") : mcp_status_of(envelope));
	if (!ends)
	{
		json_put(raw, psprintf("%s/statusMessage", at), json_get(envelope, type == MSG_TASK_CANCEL ? "/payload/reason" : "/payload/message"));
		json_put(raw, psprintf("%s/inputRequests", at), json_get_kind(envelope, "/payload/input_requests", JSON_OBJECT));
	}
	else if (type == MSG_TASK_RESULT)
		mcp_write_content(self, envelope, raw, psprintf("%s/result", at), slice_is(holds, HOLDS_STRUCTURED));
	else if (!fails)
		mcp_write_failure(self, envelope, raw, psprintf("%s/result", at));
	else if (!mcp_write_error_at(self, envelope, raw, psprintf("%s/error", at)))
	{
		json_put(raw, psprintf("%s/error/code", at), json_of_int(INTERNAL_CODE));
		json_put(raw, psprintf("%s/error/message", at), json_get(envelope, "/payload/message"));
	}
}

/* Writes the document for an envelope that mcp_read_status made. */
Json *
mcp_write_status(const Adapter *self, const Json *envelope)
{
	const char *at = mcp_status_place(self, envelope);
	bool		is_notice = strcmp(at, "/params") == 0;
	Json	   *raw = is_notice ? mcp_document() : mcp_response(self, envelope);

	if (is_notice)
		json_put_cstring(raw, "/method", json_says(adapter_noted(self, envelope, ""), "/notice", MCP_TASKS_NOTICE) ?
						 MCP_TASKS_NOTICE : MCP_STATUS_NOTICE);
	json_put(raw, psprintf("%s/taskId", at), mcp_task_of(self, envelope));
	mcp_put_status(self, envelope, raw, at);
	return raw;
}

/* ------------------------------------------------------------------ the answers */

Json *
mcp_read_update(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_CHAT_MESSAGE);

	adapter_put_payload(self, envelope, NULL);
	json_put(envelope, "/payload/input_responses", adapter_find(self, raw, "/params/inputResponses", JSON_OBJECT));
	mcp_note_task(self, envelope, context, adapter_find_name(self, raw, "/params/taskId"));
	adapter_note(self, envelope, "/form", json_of_cstring("update"));
	return envelope;
}

Json *
mcp_update_params(const Adapter *self, const Json *envelope)
{
	Json	   *params = json_new_object();

	json_put(params, "/taskId", mcp_task_of(self, envelope));
	json_put(params, "/inputResponses", json_get(envelope, "/payload/input_responses"));
	return params;
}
