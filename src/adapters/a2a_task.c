/*-------------------------------------------------------------------------
 *
 * a2a_task.c
 *	  The Agent2Agent protocol: tasks, and the events of their streams.
 *
 * The message of a status becomes the payload.  Depending on the type, its
 * text becomes the question, the message of an error, the reason for a
 * cancellation, or "text".  If a result has no message but exactly one
 * artifact, the payload is made from the parts of that artifact.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/a2a_part.h"

#include "settings.h"

#define FAILED_CODE		"TASK_FAILED"
#define REJECTED_CODE	"REJECTED"
#define FAILED			"The task failed."

typedef struct A2aState
{
	const char *word;			/* payload.state of a task.progress, or
								 * payload.code of a task.error, that tells
								 * this state from others of the same type */
	MessageType type;
	const char *name;
	const char *old_name;		/* the name in version 0.3 */
} A2aState;

/* If two states have the same type, the one whose word matches is meant. */
static const A2aState a2a_states[] = {
	{"working", MSG_TASK_PROGRESS, "TASK_STATE_WORKING", "working"},
	{"submitted", MSG_TASK_PROGRESS, "TASK_STATE_SUBMITTED", "submitted"},
	{"input_required", MSG_TASK_PROGRESS, "TASK_STATE_INPUT_REQUIRED", "input-required"},
	{"auth_required", MSG_TASK_PROGRESS, "TASK_STATE_AUTH_REQUIRED", "auth-required"},
	{"unknown", MSG_TASK_PROGRESS, "TASK_STATE_UNSPECIFIED", "unknown"},
	{NULL, MSG_TASK_RESULT, "TASK_STATE_COMPLETED", "completed"},
	{NULL, MSG_TASK_CANCEL, "TASK_STATE_CANCELED", "canceled"},
	{NULL, MSG_TASK_ERROR, "TASK_STATE_FAILED", "failed"},
	{REJECTED_CODE, MSG_TASK_ERROR, "TASK_STATE_REJECTED", "rejected"}
};

static const A2aContent a2a_update_content = {
	"text", false, false, {"artifact_id", "name", "description", "append", "last_chunk", NULL}
};

static const A2aContent a2a_artifact_content = {"text", true, true, {NULL}};

static const AdapterRow a2a_update_rows[] = {
	{ROW_VALUE, "/artifact/artifactId", "/payload/artifact_id"},
	{ROW_VALUE, "/artifact/name", "/payload/name"},
	{ROW_VALUE, "/artifact/description", "/payload/description"},
	{ROW_VALUE, "/append", "/payload/append"},
	{ROW_VALUE, "/lastChunk", "/payload/last_chunk"},
	{ROW_VALUE, NULL, NULL}
};

/* --------------------------------------------------------------------- states */

static const A2aState *
a2a_state_named(Slice name)
{
	for (int i = 0; i < lengthof(a2a_states); i++)
		if (slice_is(name, a2a_states[i].name) ||
			slice_is(name, a2a_states[i].old_name))
			return &a2a_states[i];
	return NULL;
}

/*
 * Returns the state of a task.progress with this word, or NULL if there is
 * none.
 */
static const A2aState *
a2a_state_of_word(Slice word)
{
	for (int i = 0; i < lengthof(a2a_states); i++)
		if (a2a_states[i].type == MSG_TASK_PROGRESS && slice_present(word) &&
			slice_is(word, a2a_states[i].word))
			return &a2a_states[i];
	return NULL;
}

static const A2aState *
a2a_state_of_type(MessageType type, bool is_rejected)
{
	for (int i = 0; i < lengthof(a2a_states); i++)
		if (a2a_states[i].type == type && (type != MSG_TASK_ERROR || is_rejected == (a2a_states[i].word != NULL)))
			return &a2a_states[i];
	return &a2a_states[0];
}

static const A2aState *
a2a_state_of(const Json *envelope)
{
	MessageType type = adapter_type(envelope);
	const A2aState *state = type == MSG_TASK_PROGRESS ? a2a_state_of_word(json_get_text(envelope, "/payload/state")) : NULL;

	if (state != NULL)
		return state;
	/* the task is waiting for an agent, and how it ends will be reported */
	if (type == MSG_ROUTING_FAILURE)
		return a2a_state_of_word(SLICE_OF("submitted"));
	return a2a_state_of_type(type == MSG_TASK_TIMEOUT ? MSG_TASK_ERROR : type, json_says(envelope, "/payload/code", REJECTED_CODE));
}

static bool
a2a_asks(const A2aState *state)
{
	return state->type == MSG_TASK_PROGRESS &&
		(strcmp(state->word, "input_required") == 0 || strcmp(state->word, "auth_required") == 0);
}

/*
 * Tells how the parts of a status become a payload, or, if is_inbound is false,
 * the reverse.  is_known says that the "state" in the payload is one that the
 * protocol defines.
 */
static A2aContent
a2a_status_content(const A2aState *state, MessageType type, bool is_known, bool is_event, bool is_inbound)
{
	A2aContent	content = {"text", true, false, {NULL}};
	int			n = 0;

	if (state->type == MSG_TASK_ERROR || type == MSG_ROUTING_FAILURE)
		content.text = "message";
	else if (state->type == MSG_TASK_CANCEL)
		content.text = "reason";
	else if (a2a_asks(state))
		content.text = "question";
	if (is_known)
		content.own[n++] = "state";
	if (!is_event)
		content.own[n++] = "artifacts";
	/* in the payload of a question, it would say until when it must be answered */
	if (is_inbound && a2a_asks(state))
		content.own[n++] = "deadline";
	content.own[n] = NULL;
	return content;
}

/* --------------------------------------------------------------------- status */

/* Can the members of the data parts become members of an error's payload? */
static bool
a2a_fits_error(const Json *parts)
{
	static const struct
	{
		const char *path;
		JsonKind	kind;
	}			members[] = {{"/data/code", JSON_TEXT}, {"/data/retryable", JSON_BOOL}, {"/data/details", JSON_OBJECT}};

	for (int i = 0; parts != NULL && i < parts->n; i++)
	{
		Slice		code = json_get_text(parts->items[i], "/data/code");

		for (int j = 0; j < lengthof(members); j++)
			if (json_get(parts->items[i], members[j].path) != NULL &&
				json_get_kind(parts->items[i], members[j].path, members[j].kind) == NULL)
				return false;
		if (slice_present(code) && (code.len == 0 || code.len > clutch_limits.max_id_bytes || identifier_find_control(code) >= 0))
			return false;
	}
	return true;
}

/*
 * Adds the members that the payload of an error must have and the document has
 * not given.
 */
static void
a2a_complete_error(const Adapter *self, Json *envelope, const A2aState *state)
{
	Json	   *payload = json_get(envelope, "/payload");

	if (json_get(payload, "/code") == NULL)
	{
		json_put_cstring(payload, "/code", state->word != NULL ? REJECTED_CODE : FAILED_CODE);
		adapter_note(self, envelope, "/uncoded", json_of_bool(true));
	}
	if (json_get(payload, "/message") == NULL)
	{
		json_put_cstring(payload, "/message", FAILED);
		adapter_note(self, envelope, "/unsaid", json_of_bool(true));
	}
}

/* Returns a copy of an object without one of its members. */
static Json *
a2a_without(const Json *object, const char *path)
{
	Json	   *rest = json_copy(object);

	json_take(rest, path);
	return rest;
}

/*
 * Notes a native ID for a report of a state.  Several streams and queries may
 * report the same state of a task, so the ID is made from its time, its
 * message and its payload, which makes the repeated report a duplicate.
 */
static void
a2a_note_moment(const Adapter *self, Json *envelope, const Json *task, bool is_event, Slice id, const A2aState *state)
{
	Slice		time = adapter_find_time(self, task, "/status/timestamp");
	Slice		message = json_get_text(task, "/status/message/messageId");
	Jsonb	   *payload = json_write(json_get(envelope, "/payload"));
	StringInfoData said;
	Json	   *key;

	if (!slice_present(time))
		return;
	json_put_text(envelope, "/ts", time);
	adapter_note_native(self, envelope, "ts", json_of_bool(true));
	initStringInfo(&said);
	appendStringInfo(&said, "%.*s/%.*s/%.*s/", id.len, id.s, time.len, time.s, message.len, slice_present(message) ? message.s : "");
	appendBinaryStringInfo(&said, VARDATA(payload), VARSIZE(payload) - VARHDRSZ);
	key = json_of_cstring(psprintf("%s/%s/%016llx", is_event ? "status" : "task", state->old_name,
								   (unsigned long long) slice_hash((Slice) {said.data, said.len})));
	adapter_note_native(self, envelope, "id", key);
	json_put(envelope, "/idempotency_key", key);
}

static void
a2a_read_artifacts(const Adapter *self, const Json *task, bool is_old, Json *envelope)
{
	const Json *artifacts = adapter_find(self, task, "/artifacts", JSON_ARRAY);
	Json	   *made = json_new_array();

	if (artifacts == NULL || artifacts->n == 0)
		return;
	if (artifacts->n == 1 && adapter_type(envelope) == MSG_TASK_RESULT && adapter_member(task, "/status/message") == NULL &&
		json_get_kind(artifacts->items[0], "/parts", JSON_ARRAY) != NULL)
	{
		adapter_note(self, envelope, "/artifact", a2a_without(artifacts->items[0], "/parts"));
		a2a_read_parts(self, json_get(artifacts->items[0], "/parts"), is_old, &a2a_artifact_content, envelope);
		return;
	}
	for (int i = 0; i < artifacts->n; i++)
		json_add(made, a2a_read_artifact(artifacts->items[i], is_old));
	json_put(envelope, "/payload/artifacts", made);
}

static const A2aState *
a2a_read_state(const Adapter *self, const Json *task)
{
	const A2aState *state = a2a_state_named(adapter_require_word(self, task, "/status/state"));

	if (state == NULL)
		adapter_fault(self, "/status/state", "WRONG_VALUE", "it must be a state of A2A like \"TASK_STATE_WORKING\" or \"input-required\"");
	return state;
}

Json *
a2a_read_task(const Adapter *self, const Json *task, const A2aDocument *document, const Json *context)
{
	bool		is_event = document->form == A2A_STATUS;
	const char *id_at = is_event ? "/taskId" : "/id";
	const A2aState *state = a2a_read_state(self, task);
	A2aContent	content = a2a_status_content(state, state->type, state->type == MSG_TASK_PROGRESS, is_event, true);
	const Json *said = adapter_find(self, task, "/status/message", JSON_OBJECT);
	const Json *parts = adapter_find(self, task, "/status/message/parts", JSON_ARRAY);
	Json	   *envelope = adapter_envelope(state->type);

	content.merges = state->type != MSG_TASK_ERROR || a2a_fits_error(parts);
	json_put(envelope, "/payload", json_new_object());
	a2a_note_place(self, envelope, context, json_of_text(adapter_require_word(self, task, id_at)),
				   a2a_find_id(self, task, "/contextId"));
	if (parts != NULL)
		a2a_read_parts(self, parts, document->is_old, &content, envelope);
	if (said != NULL)
		adapter_note(self, envelope, "/said", a2a_without(said, "/parts"));
	if (state->type == MSG_TASK_PROGRESS)
		json_put_cstring(envelope, "/payload/state", state->word);
	if (!is_event)
		a2a_read_artifacts(self, task, document->is_old, envelope);
	if (state->type == MSG_TASK_ERROR)
		a2a_complete_error(self, envelope, state);
	a2a_read_metadata(self, task, envelope);
	a2a_note_moment(self, envelope, task, is_event, adapter_require_word(self, task, id_at), state);
	return envelope;
}

/* ----------------------------------------------------------- status: outbound */

/*
 * Returns the envelope of an error without what inbound has added to its
 * payload.
 */
static const Json *
a2a_plain_error(const Adapter *self, const Json *envelope)
{
	const Json *notes = adapter_noted(self, envelope, "");
	const char *made = a2a_state_of(envelope)->word != NULL ? REJECTED_CODE : FAILED_CODE;
	Json	   *plain = json_copy(envelope);

	if (json_is_true(notes, "/uncoded") && json_says(envelope, "/payload/code", made))
		json_take(plain, "/payload/code");
	if (json_is_true(notes, "/unsaid") && json_says(envelope, "/payload/message", FAILED))
		json_take(plain, "/payload/message");
	return plain;
}

/* Returns the message of a status, or NULL if there is nothing to say. */
static Json *
a2a_said(const Adapter *self, const Json *envelope, const A2aContent *content)
{
	bool		is_old = a2a_is_old(self, envelope);
	const Json *noted = adapter_noted(self, envelope, "/said");
	Json	   *parts = a2a_write_parts(self, envelope, is_old, content);
	Json	   *said;

	if (parts->n == 0 && !json_is(noted, JSON_OBJECT))
		return NULL;
	if (json_is(noted, JSON_OBJECT))
		said = json_copy(noted);
	else
	{
		said = json_new_object();
		if (is_old)
			json_put_cstring(said, "/kind", "message");
		json_put(said, "/messageId", json_get(envelope, "/id"));
		json_put(said, "/contextId", a2a_context_of(self, envelope));
		json_put(said, "/taskId", a2a_some_task_of(self, envelope));
		json_put_cstring(said, "/role", is_old ? "agent" : "ROLE_AGENT");
	}
	json_put(said, "/parts", parts);
	return said;
}

/*
 * Writes /status of a task or of an event about it.  The timestamp is written
 * only if it is that of the original or the event was made here; for anything
 * else, ts is the time of the translation.
 */
static void
a2a_write_status(const Adapter *self, const Json *envelope, bool is_event, bool has_message, Json *task)
{
	const A2aState *state = a2a_state_of(envelope);
	MessageType type = adapter_type(envelope);
	bool		is_known = type == MSG_TASK_PROGRESS && a2a_state_of_word(json_get_text(envelope, "/payload/state")) != NULL;
	A2aContent	content = a2a_status_content(state, type, is_known, is_event, false);
	const Json *plain = state->type == MSG_TASK_ERROR ? a2a_plain_error(self, envelope) : envelope;

	json_put_cstring(task, "/status/state", a2a_is_old(self, envelope) ? state->old_name : state->name);
	if (has_message)
		json_put(task, "/status/message", a2a_said(self, plain, &content));
	if (!adapter_was_foreign(self, envelope) || adapter_noted(self, envelope, "/native/ts") != NULL)
		json_put(task, "/status/timestamp", json_get(envelope, "/ts"));
}

/*
 * Returns the artifacts of a result: a single one, whose parts are made from
 * the payload.
 */
static Json *
a2a_only_artifact(const Adapter *self, const Json *envelope)
{
	const Json *noted = adapter_noted(self, envelope, "/artifact");
	Json	   *artifacts = json_new_array();
	Json	   *artifact = json_is(noted, JSON_OBJECT) ? json_copy(noted) : json_new_object();

	if (!json_is(noted, JSON_OBJECT))
		json_put(artifact, "/artifactId", json_get(envelope, "/id"));
	json_put(artifact, "/parts", a2a_write_parts(self, envelope, a2a_is_old(self, envelope), &a2a_artifact_content));
	json_add(artifacts, artifact);
	return artifacts;
}

static Json *
a2a_all_artifacts(const Adapter *self, const Json *envelope)
{
	const Json *noted = json_get_kind(envelope, "/payload/artifacts", JSON_ARRAY);
	Json	   *artifacts = json_new_array();

	if (noted == NULL)
		return NULL;
	for (int i = 0; i < noted->n; i++)
		json_add(artifacts, a2a_write_artifact(noted->items[i], a2a_is_old(self, envelope)));
	return artifacts;
}

/*
 * Is the payload written as an artifact?  What a task has produced is one,
 * unless it came as the message of a status.
 */
static bool
a2a_is_artifact(const Adapter *self, const Json *envelope)
{
	if (adapter_type(envelope) != MSG_TASK_RESULT)
		return false;
	if (json_is_true(adapter_noted(self, envelope, ""), ADAPTER_REPLY))
		return json_get_kind(envelope, "/payload/artifacts", JSON_ARRAY) == NULL;
	return !adapter_was_foreign(self, envelope) || adapter_noted(self, envelope, "/artifact") != NULL;
}

Json *
a2a_write_task(const Adapter *self, const Json *envelope, bool is_event)
{
	bool		is_old = a2a_is_old(self, envelope);
	const A2aState *state = a2a_state_of(envelope);
	bool		is_artifact = !is_event && a2a_is_artifact(self, envelope);
	Json	   *task = json_new_object();

	if (is_old)
		json_put_cstring(task, "/kind", is_event ? "status-update" : "task");
	if (is_old && is_event)
		json_put(task, "/final", json_of_bool(state->type != MSG_TASK_PROGRESS || a2a_asks(state)));
	json_put(task, is_event ? "/taskId" : "/id", a2a_some_task_of(self, envelope));
	json_put(task, "/contextId", a2a_context_of(self, envelope));
	a2a_write_status(self, envelope, is_event, !is_artifact, task);
	if (!is_event)
		json_put(task, "/artifacts", is_artifact ? a2a_only_artifact(self, envelope) : a2a_all_artifacts(self, envelope));
	a2a_write_metadata(self, envelope, task);
	return task;
}

/* ------------------------------------------------------ updates of artifacts */

Json *
a2a_read_artifact_update(const Adapter *self, const Json *event, const A2aDocument *document, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_TASK_PROGRESS);
	Json	   *task_id = json_of_text(adapter_require_word(self, event, "/taskId"));
	const Json *artifact = adapter_find(self, event, "/artifact", JSON_OBJECT);
	const Json *parts = adapter_find(self, event, "/artifact/parts", JSON_ARRAY);

	if (artifact == NULL)
		adapter_fault(self, "/artifact", "REQUIRED", "it is missing");
	(void) adapter_require_word(self, event, "/artifact/artifactId");
	json_put(envelope, "/payload", json_new_object());
	a2a_note_place(self, envelope, context, task_id, a2a_find_id(self, event, "/contextId"));
	adapter_rows_inbound(self, a2a_update_rows, event, envelope);
	if (parts != NULL)
		a2a_read_parts(self, parts, document->is_old, &a2a_update_content, envelope);
	a2a_read_metadata(self, event, envelope);
	return envelope;
}

Json *
a2a_write_artifact_update(const Adapter *self, const Json *envelope)
{
	bool		is_old = a2a_is_old(self, envelope);
	Json	   *event = json_new_object();

	if (is_old)
		json_put_cstring(event, "/kind", "artifact-update");
	json_put(event, "/taskId", a2a_some_task_of(self, envelope));
	json_put(event, "/contextId", a2a_context_of(self, envelope));
	json_put(event, "/artifact", json_new_object());
	adapter_rows_outbound(self, a2a_update_rows, envelope, event);
	json_put(event, "/artifact/parts", a2a_write_parts(self, envelope, is_old, &a2a_update_content));
	a2a_write_metadata(self, envelope, event);
	return event;
}
