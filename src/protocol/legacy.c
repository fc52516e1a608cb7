/*-------------------------------------------------------------------------
 *
 * legacy.c
 *	  Translation of the message types that were used before this protocol
 *	  (spec Appendix A).
 *
 *		PLAN			task.request, domain planning
 *		PROPOSAL		task.result if payload.final is true, else
 *						task.progress
 *		EXEC_REPORT		task.result, with its own payload_type
 *		REVIEW			task.result, payload_type review.feedback.v1
 *		BLOCKER			task.error if an agent has its task, else chat.system
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/legacy.h"

#include "base/document.h"
#include "protocol/message_type.h"
#include "protocol/place.h"
#include "protocol/problem.h"

typedef enum LegacyType
{
	LEGACY_PLAN,
	LEGACY_PROPOSAL,
	LEGACY_EXEC_REPORT,
	LEGACY_REVIEW,
	LEGACY_BLOCKER,
	NUM_LEGACY_TYPES
} LegacyType;

/* in the order of LegacyType */
static const char *const legacy_names[NUM_LEGACY_TYPES] = {
	"PLAN", "PROPOSAL", "EXEC_REPORT", "REVIEW", "BLOCKER"
};

typedef struct Translation
{
	MessageType type;
	const char *domain;			/* NULL if unchanged */
	const char *payload_type;	/* NULL if unchanged */
	bool		is_error;		/* the payload needs a code and a message */
} Translation;

/* Returns NUM_LEGACY_TYPES if it is not one of them. */
static LegacyType
legacy_type_parse(Slice name)
{
	int			i;

	for (i = 0; i < NUM_LEGACY_TYPES; i++)
		if (slice_is(name, legacy_names[i]))
			break;
	return i;
}

bool
legacy_type_known(Slice type)
{
	return legacy_type_parse(type) != NUM_LEGACY_TYPES;
}

static bool
legacy_is_final(Jsonb *doc)
{
	bool		final = false;

	return document_get_bool(document_get_container(&doc->root, "payload"), "final", &final) &&
		final;
}

static Translation
legacy_translation_of(LegacyType type, Jsonb *doc, LegacyTaskInWork in_work)
{
	Slice		task_id = document_get_text(&doc->root, "task_id");
	bool		has_agent;

	switch (type)
	{
		case LEGACY_PLAN:
			return (Translation) {.type = MSG_TASK_REQUEST, .domain = "planning"};
		case LEGACY_PROPOSAL:
			return (Translation) {legacy_is_final(doc) ? MSG_TASK_RESULT : MSG_TASK_PROGRESS};
		case LEGACY_EXEC_REPORT:
			return (Translation) {MSG_TASK_RESULT};
		case LEGACY_REVIEW:
			return (Translation) {MSG_TASK_RESULT, .payload_type = "review.feedback.v1"};
		case LEGACY_BLOCKER:
			has_agent = slice_present(task_id) && in_work(task_id);
			return (Translation) {has_agent ? MSG_TASK_ERROR : MSG_CHAT_SYSTEM, .is_error = true};
		case NUM_LEGACY_TYPES:
			break;
	}
	return (Translation) {MSG_UNKNOWN};
}

/*
 * Returns the reason that a BLOCKER gives, under one of the keys that were in
 * use.
 */
static Slice
legacy_blocker_message(JsonbContainer *payload)
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
legacy_put_error_payload(DocumentBuilder *b, JsonbContainer *payload)
{
	JsonbValue	value;

	document_open_object(b, "payload");
	document_put_pairs(b, payload, NULL);
	if (!document_get(payload, "code", &value))
		document_put_cstring(b, "code", "BLOCKED");
	if (!document_get(payload, "message", &value))
		document_put_text(b, "message", legacy_blocker_message(payload));
	document_close_object(b);
}

Jsonb *
legacy_translate(Jsonb *doc, LegacyTaskInWork in_work)
{
	JsonbContainer *payload = document_get_container(&doc->root, "payload");
	Slice		name = document_get_text(&doc->root, "type");
	LegacyType	type = legacy_type_parse(name);
	Translation t;
	DocumentBuilder b;

	if (!JB_ROOT_IS_OBJECT(doc))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
				 errproblem("", "WRONG_TYPE"),
				 errmsg("a legacy envelope must be a JSON object")));
	if (!slice_present(name))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
				 errproblem("/type", "REQUIRED"),
				 errmsg("a legacy envelope must have a type")));
	if (message_type_parse(name) != MSG_UNKNOWN)
		return doc;
	if (type == NUM_LEGACY_TYPES)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
				 errproblem("/type", "UNKNOWN_TYPE"),
				 errmsg("%s is neither a legacy message type nor a type of the protocol",
						place_quote(name)),
				 errhint("The legacy types are PLAN, PROPOSAL, EXEC_REPORT, REVIEW and BLOCKER.")));

	t = legacy_translation_of(type, doc, in_work);
	document_begin(&b);
	document_put_pairs(&b, &doc->root, NULL);
	document_put_cstring(&b, "type", message_type_name(t.type));
	document_put_cstring(&b, "domain", t.domain);
	document_put_cstring(&b, "payload_type", t.payload_type);
	if (t.is_error && payload != NULL && JsonContainerIsObject(payload))
		legacy_put_error_payload(&b, payload);
	return document_end(&b);
}
