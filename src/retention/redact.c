/*-------------------------------------------------------------------------
 *
 * redact.c
 *	  Erasing the content of one event.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "protocol/problem.h"
#include "retention/redact.h"
#include "store/audit.h"
#include "store/erasure.h"
#include "store/redaction.h"
#include "task/task.h"

static void
redact_read_event(int64 seq, Envelope *envelope)
{
	Jsonb	   *document = event_read(seq, ROWS_LATEST);

	if (document == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errproblem("seq", "EVENT_NOT_FOUND"),
				 errmsg("event " INT64_FORMAT " does not exist", seq),
				 errhint("Pass the seq of a row of clutch.events.")));
	envelope_read_admitted(document, envelope, problem_list_admitted());
	if (message_type_is_agent(envelope->type) ||
		audit_is(envelope->run_id, envelope->from_agent, SLICE_NONE, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errproblem("seq", "NOT_REDACTABLE"),
				 errmsg("event " INT64_FORMAT " is a record of the registry or of an audit and cannot be redacted", seq),
				 errhint("Register the agent with another card.")));
}

/* The state of a task has one text of its events: why it failed or was cancelled. */
static void
redact_detail(const Envelope *envelope)
{
	Slice		detail = redaction_detail(envelope);
	Task	   *task = slice_present(detail) ? task_lock(envelope->task_id) : NULL;

	if (task == NULL || !slice_equal(task->run_id, envelope->run_id) ||
		!slice_equal(task->detail, detail))
		return;
	task->detail = SLICE_OF(REDACTED_TEXT);
	task_save(task);
}

static void
redact_append_audit(int64 seq, const Envelope *envelope, Slice digest, Slice reason)
{
	DocumentBuilder b;

	audit_begin(&b);
	document_put_int(&b, "seq", seq);
	document_put_text(&b, "id", envelope->id);
	document_put_text(&b, "run_id", envelope->run_id);
	document_put_text(&b, "type", envelope->type_name);
	document_put_text(&b, "sha256", digest);
	document_put_text(&b, "reason", reason);
	(void) audit_append(AUDIT_REDACTED, document_end(&b));
}

bool
redact_event(int64 seq, Slice reason)
{
	Envelope	envelope;
	Slice		digest;

	redact_read_event(seq, &envelope);
	if (redaction_is_done(&envelope))
		return false;
	digest = redaction_digest(&envelope.payload);
	redact_detail(&envelope);
	erasure_replace(seq, redaction_document(&envelope, digest, reason));
	redact_append_audit(seq, &envelope, digest, reason);
	return true;
}
