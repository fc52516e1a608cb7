/*-------------------------------------------------------------------------
 *
 * legacy.c
 *	  Message types of before the protocol, translated (spec Appendix A).
 *
 *		PLAN			task.request, domain planning
 *		PROPOSAL		task.result if payload.final is true, else task.progress
 *		EXEC_REPORT		task.result, with the payload_type it has
 *		REVIEW			task.result, payload_type review.feedback.v1
 *		BLOCKER			task.error if its task is in work, else chat.system
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/legacy.h"

#include "base/document.h"
#include "protocol/message_type.h"
#include "protocol/place.h"
#include "protocol/problem.h"

/* what becomes of an envelope */
typedef struct Translation
{
	MessageType type;
	const char *domain;			/* NULL: as it is */
	const char *payload_type;	/* NULL: as it is */
	bool		is_error;		/* payload needs code and message */
} Translation;

static bool
is_final(Jsonb *doc)
{
	bool		final = false;

	return document_get_bool(document_get_container(&doc->root, "payload"), "final", &final) &&
		final;
}

static bool
translation_of(Slice type, Jsonb *doc, LegacyTaskInWork in_work, Translation *t)
{
	memset(t, 0, sizeof(*t));
	if (slice_equal(type, SLICE_OF("PLAN")))
	{
		t->type = MSG_TASK_REQUEST;
		t->domain = "planning";
	}
	else if (slice_equal(type, SLICE_OF("PROPOSAL")))
		t->type = is_final(doc) ? MSG_TASK_RESULT : MSG_TASK_PROGRESS;
	else if (slice_equal(type, SLICE_OF("EXEC_REPORT")))
		t->type = MSG_TASK_RESULT;
	else if (slice_equal(type, SLICE_OF("REVIEW")))
	{
		t->type = MSG_TASK_RESULT;
		t->payload_type = "review.feedback.v1";
	}
	else if (slice_equal(type, SLICE_OF("BLOCKER")))
	{
		Slice		task_id = document_get_text(&doc->root, "task_id");

		t->type = slice_present(task_id) && in_work(task_id) ?
			MSG_TASK_ERROR : MSG_CHAT_SYSTEM;
		t->is_error = true;
	}
	else
		return false;
	return true;
}

/* the words an old BLOCKER said it in */
static Slice
blocker_message(JsonbContainer *payload)
{
	static const char *const keys[] = {"reason", "text", "description"};
	int			i;

	for (i = 0; i < lengthof(keys); i++)
	{
		Slice		words = document_get_text(payload, keys[i]);

		if (words.len > 0)
			return words;
	}
	return SLICE_OF("The work is blocked.");
}

static void
put_error_payload(DocumentBuilder *b, JsonbContainer *payload)
{
	JsonbValue	value;

	document_open_object(b, "payload");
	document_put_pairs(b, payload, NULL);
	if (!document_get(payload, "code", &value))
		document_put_cstring(b, "code", "BLOCKED");
	if (!document_get(payload, "message", &value))
		document_put_text(b, "message", blocker_message(payload));
	document_close_object(b);
}

Jsonb *
legacy_translate(Jsonb *doc, LegacyTaskInWork in_work)
{
	JsonbContainer *payload = document_get_container(&doc->root, "payload");
	Slice		type = document_get_text(&doc->root, "type");
	Translation t;
	DocumentBuilder b;

	if (!JB_ROOT_IS_OBJECT(doc))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
				 errproblem("", "WRONG_TYPE"),
				 errmsg("a legacy envelope must be a JSON object")));
	if (!slice_present(type))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
				 errproblem("/type", "REQUIRED"),
				 errmsg("a legacy envelope needs a type")));
	if (message_type_parse(type) != MSG_UNKNOWN)
		return doc;
	if (!translation_of(type, doc, in_work, &t))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
				 errproblem("/type", "UNKNOWN_TYPE"),
				 errmsg("%s is neither a legacy message type nor one of the protocol",
						place_quote(type)),
				 errhint("Legacy types are PLAN, PROPOSAL, EXEC_REPORT, REVIEW and BLOCKER.")));

	document_begin(&b);
	document_put_pairs(&b, &doc->root, NULL);
	document_put_cstring(&b, "type", message_type_name(t.type));
	document_put_cstring(&b, "domain", t.domain);
	document_put_cstring(&b, "payload_type", t.payload_type);
	if (t.is_error && payload != NULL && JsonContainerIsObject(payload))
		put_error_payload(&b, payload);
	return document_end(&b);
}
