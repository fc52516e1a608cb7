/*-------------------------------------------------------------------------
 *
 * audit.c
 *	  Recording what operators have done to the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "miscadmin.h"
#include "protocol/draft.h"
#include "settings.h"
#include "store/audit.h"

#define AUDIT_THREAD		"thread:audit"
#define AUDIT_TASK			"task:audit"

void
audit_begin(DocumentBuilder *b)
{
	document_begin(b);
	document_put_cstring(b, "by", GetUserNameFromId(GetUserId(), false));
}

Receipt
audit_append(const char *what, Jsonb *payload)
{
	Draft		draft = {
		.now = clock_now(),
		.type = slice_of_cstring(message_type_name(MSG_CHAT_SYSTEM)),
		.from_agent = slice_of_cstring(clutch_orchestrator),
		.run_id = SLICE_OF(AUDIT_RUN),
		.thread_id = SLICE_OF(AUDIT_THREAD),
		.task_id = SLICE_OF(AUDIT_TASK),
		.payload_type = slice_of_cstring(what),
		.payload = payload,
	};

	draft_complete_ids(&draft);
	return event_append(draft_document(&draft));
}

bool
audit_is(Slice run_id, Slice from_agent, Slice payload_type, const char *what)
{
	return slice_equal(run_id, SLICE_OF(AUDIT_RUN)) &&
		slice_is(from_agent, clutch_orchestrator) &&
		(what == NULL || slice_is(payload_type, what));
}
