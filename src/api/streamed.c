/*-------------------------------------------------------------------------
 *
 * streamed.c
 *	  Artifacts that an agent behind an A2A endpoint has streamed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/streamed.h"

#include "adapters/a2a.h"
#include "adapters/translation.h"
#include "api/blob.h"
#include "api/outgoing.h"
#include "base/document.h"
#include "base/rows.h"
#include "base/text_map.h"
#include "flow/callee.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "protocol/message_type.h"
#include "settings.h"
#include "store/event.h"

#define A2A			"a2a"
#define ARTIFACTS	"/payload/artifacts"

/* total size of the events that are combined at most */
#define MOST_BYTES	(64 * 1024 * 1024)

/*
 * size of the parts of a report other than its payload and notes: the sender,
 * the task, IDs
 */
#define MOST_FRAME	8192

/* ------------------------------------------------------------------- the events */

typedef struct Update
{
	int64		seq;
	int			attempt;
	Jsonb	   *envelope;
} Update;

static int
compare_updates(const ListCell *a, const ListCell *b)
{
	int64		left = ((const Update *) lfirst(a))->seq;
	int64		right = ((const Update *) lfirst(b))->seq;

	return (left > right) - (left < right);
}

/*
 * Does the update belong to the task that has ended?  A call whose stream
 * broke is sent again, and the other side then usually creates another task,
 * with its own artifacts.  Those of the first task will never be complete.
 */
static bool
is_update_of(Jsonb *update, Slice ended)
{
	Slice		task = outgoing_task_in(update, A2A);

	return !slice_present(task) || !slice_present(ended) || slice_equal(task, ended);
}

/*
 * Reads a progress of the agent.  Adds it if it is an update of an artifact,
 * and its attempt if it is a question.
 */
static void
take_progress(RowScan *scan, Slice ended, List **updates, Bitmapset **asked, Size *bytes)
{
	Jsonb	   *envelope = rows_jsonb(scan, Anum_event_envelope);
	JsonbContainer *payload = document_get_container(&envelope->root, "payload");
	Update	   *update;

	if (callee_asks(payload) && slice_present(ended) && slice_equal(outgoing_task_in(envelope, A2A), ended))
		*asked = bms_add_member(*asked, rows_int4(scan, Anum_event_attempt));
	if (!slice_present(document_get_text(payload, "artifact_id")) || !is_update_of(envelope, ended))
	{
		pfree(envelope);
		return;
	}
	update = palloc(sizeof(Update));
	*update = (Update) {rows_int8(scan, Anum_event_seq), rows_int4(scan, Anum_event_attempt), envelope};
	*updates = lappend(*updates, update);
	*bytes += VARSIZE(envelope);
}

/*
 * Returns the updates of artifacts that were reported for the call, in order.
 * They are those of its attempt of the task, and of earlier ones that have
 * ended with a question: the other side goes on with its task when it gets the
 * answer.  "ended" is the other side's task that has ended; updates of other
 * tasks are left out.  Returns NIL if there are none, or too many to be
 * combined.
 */
static List *
updates_of_call(const Call *call, Slice ended)
{
	List	   *updates = NIL;
	Bitmapset  *asked = NULL;
	Size		bytes = 0;
	ListCell   *cell;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, call->task_id);
	rows_start(&scan);
	while (bytes <= MOST_BYTES && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (message_type_parse(rows_text(&scan, Anum_event_type)) == MSG_TASK_PROGRESS &&
			!rows_bool(&scan, Anum_event_late) && rows_int4(&scan, Anum_event_attempt) >= 0 &&
			slice_equal(rows_text(&scan, Anum_event_from_agent), call->agent_id))
			take_progress(&scan, ended, &updates, &asked, &bytes);
	}
	rows_end(&scan);
	if (bytes > MOST_BYTES)
		return NIL;
	foreach(cell, updates)
	{
		int			attempt = ((const Update *) lfirst(cell))->attempt;

		if (attempt != call->task_attempt && !bms_is_member(attempt, asked))
			updates = foreach_delete_current(updates, cell);
	}
	list_sort(updates, compare_updates);
	return updates;
}

/* ---------------------------------------------------------------- the artifacts */

/*
 * Returns how much memory is allocated for a text of this length.  It doubles
 * as the text grows.
 */
static int
room_for(int len)
{
	return pg_nextpower2_32(Max(len, 1));
}

/* Appends to a text whose allocated size is room_for(its length). */
static void
append_text(Slice *text, Slice more)
{
	char	   *data = (char *) text->s;

	if (text->len + more.len > room_for(text->len))
	{
		data = palloc(room_for(text->len + more.len));
		memcpy(data, text->s, text->len);
	}
	memcpy(data + text->len, more.s, more.len);
	*text = (Slice) {data, text->len + more.len};
}

/*
 * Adds a part.  A text after a text is appended to it, because agents stream
 * texts in pieces.
 */
static void
add_part(Json *parts, const Json *part)
{
	Json	   *last = parts->n == 0 ? NULL : parts->items[parts->n - 1];

	if (!a2a_is_plain_text(part))
		json_add(parts, json_copy(part));
	else
	{
		if (last == NULL || !a2a_is_plain_text(last))
		{
			last = json_new_object();
			json_put_text(last, "/text", (Slice) {palloc(room_for(0)), 0});
			json_add(parts, last);
		}
		append_text(&json_get(last, "/text")->text, json_get_text(part, "/text"));
	}
}

static void
add_parts(Json *artifact, const Json *more)
{
	if (json_get_kind(artifact, "/parts", JSON_ARRAY) == NULL)
		json_put(artifact, "/parts", json_new_array());
	for (int i = 0; more != NULL && i < more->n; i++)
		add_part(json_get(artifact, "/parts"), more->items[i]);
}

/*
 * Returns the artifact with that ID, adding it if there is none.  by_id finds
 * the artifacts of the array.
 */
static Json *
artifact_of(Json *artifacts, TextMap *by_id, Slice id)
{
	Json	  **artifact = (Json **) text_map_place(by_id, id);

	if (*artifact == NULL)
	{
		*artifact = json_new_object();
		json_add(artifacts, *artifact);
	}
	return *artifact;
}

/* What an object says replaces what was said before; null says nothing. */
static void
put_members(Json *object, const Json *more)
{
	for (int i = 0; more != NULL && i < more->n; i++)
		if (more->items[i]->kind != JSON_NULL)
			json_put_member(object, more->keys[i], more->items[i]);
}

/*
 * Adds the artifact of an update, which is a piece of one or begins it anew.
 * The document from which the update was made says in which order the parts
 * are, and what the envelope has no place for.
 *
 * Returns the references to artifacts of the database that the update contains.
 */
static List *
take_update(Json *artifacts, TextMap *by_id, Json *envelope)
{
	List	   *references = blob_unmark(envelope, A2A);
	Json	   *piece = a2a_artifact_in(translation_outbound(&a2a_adapter, envelope));
	Json	   *artifact;
	Json	   *parts;
	Json	   *metadata;

	if (piece == NULL || !slice_present(json_get_text(piece, "/artifactId")))
		return NIL;
	artifact = artifact_of(artifacts, by_id, json_get_text(piece, "/artifactId"));
	if (!json_is_true(envelope, "/payload/append"))
		while (artifact->n > 0)
			json_take_at(artifact, artifact->n - 1);
	parts = json_take(piece, "/parts");
	metadata = json_take(piece, "/metadata");
	put_members(artifact, piece);
	add_parts(artifact, json_is(parts, JSON_ARRAY) ? parts : NULL);
	if (json_is(metadata, JSON_OBJECT) && json_get_kind(artifact, "/metadata", JSON_OBJECT) == NULL)
		json_put(artifact, "/metadata", json_new_object());
	put_members(json_get(artifact, "/metadata"), json_is(metadata, JSON_OBJECT) ? metadata : NULL);
	return references;
}

static bool
is_too_large(Jsonb *document)
{
	return (int64) VARSIZE(document) + MOST_FRAME > clutch_limits.max_envelope_bytes;
}

Jsonb *
streamed_task(const Call *call, Jsonb *result, List **references)
{
	List	   *updates = updates_of_call(call, outgoing_task_in(result, A2A));
	Json	   *task = json_new_object();
	Json	   *document = json_new_object();
	Json	   *artifacts = json_new_array();
	TextMap    *by_id = text_map_make();
	Jsonb	   *made;
	ListCell   *cell;

	*references = NIL;
	foreach(cell, updates)
	{
		CHECK_FOR_INTERRUPTS();
		*references = list_concat(*references, take_update(artifacts, by_id, json_read(((const Update *) lfirst(cell))->envelope)));
	}
	if (artifacts->n == 0)
		return NULL;
	json_put_text(task, "/id", call->task_id);
	json_put_text(task, "/contextId", call->task_id);
	json_put(task, "/status", json_new_object());
	json_put_cstring(task, "/status/state", "TASK_STATE_COMPLETED");
	json_put(task, "/artifacts", artifacts);
	json_put(document, "/task", task);
	made = json_write(document);
	return is_too_large(made) ? NULL : made;
}

/* ------------------------------------------------------------------- the result */

bool
streamed_lacks(Jsonb *envelope)
{
	Json	   *result;

	if (message_type_parse(document_get_text(&envelope->root, "type")) != MSG_TASK_RESULT)
		return false;
	result = json_read(envelope);
	return json_get(result, ARTIFACTS) == NULL && json_get(result, "/meta/" A2A "/artifact") == NULL;
}

static bool
says_nothing(const Json *result)
{
	const Json *payload = json_get_kind(result, "/payload", JSON_OBJECT);

	return (payload == NULL || payload->n == 0) && json_get(result, "/attachments") == NULL;
}

Jsonb *
streamed_complete(Jsonb *result, Jsonb *task, Jsonb *whole)
{
	static const char *const noted[] = {"/meta/" A2A "/form", "/meta/" A2A "/artifact", "/meta/" A2A "/order", "/meta/" A2A "/whole"};
	Json	   *completed = json_read(result);
	Json	   *other = json_read(whole);
	Jsonb	   *document;

	if (says_nothing(completed))
	{
		json_put(completed, "/payload", json_get(other, "/payload"));
		if (json_get(other, "/attachments") != NULL)
			json_put(completed, "/attachments", json_get(other, "/attachments"));
		for (int i = 0; i < lengthof(noted); i++)
			if (json_get(other, noted[i]) != NULL)
				json_put(completed, noted[i], json_get(other, noted[i]));
	}
	else
		json_put(completed, ARTIFACTS, json_get(json_read(task), "/task/artifacts"));
	document = json_write(completed);
	return is_too_large(document) ? result : document;
}
