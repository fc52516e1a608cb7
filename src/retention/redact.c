/*-------------------------------------------------------------------------
 *
 * redact.c
 *	  Erasing the content of one event.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "ledger/excuse.h"
#include "ledger/leaf.h"
#include "protocol/problem.h"
#include "retention/redact.h"
#include "store/artifact.h"
#include "store/audit.h"
#include "store/erasure.h"
#include "store/redaction.h"
#include "task/task.h"

static void
redact_read_event(int64 seq, Envelope *envelope, TimestampTz *received_at)
{
	Jsonb	   *document = event_read_received(seq, ROWS_LATEST, received_at);

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

/* The audit event says by which leaf the event can still be proved, and by which it is compared. */
static void
redact_append_audit(int64 seq, const Envelope *envelope, const MerkleHash *was, const MerkleHash *is,
					Slice digest, Slice reason)
{
	DocumentBuilder b;

	audit_begin(&b);
	document_put_int(&b, "seq", seq);
	document_put_text(&b, "id", envelope->id);
	document_put_text(&b, "run_id", envelope->run_id);
	document_put_text(&b, "type", envelope->type_name);
	document_put_text(&b, "sha256", digest);
	document_put_text(&b, "reason", reason);
	excuse_put_redacted(&b, was, is);
	(void) audit_append(AUDIT_REDACTED, document_end(&b));
}

bool
redact_event(int64 seq, Slice reason)
{
	Envelope	envelope;
	TimestampTz received_at;
	Slice		digest;
	Jsonb	   *redacted;
	MerkleHash	was;
	MerkleHash	is;

	redact_read_event(seq, &envelope, &received_at);
	if (redaction_is_done(&envelope))
		return false;
	digest = redaction_digest(&envelope.payload);
	redact_detail(&envelope);
	redacted = redaction_document(&envelope, digest, reason);
	was = leaf_hash(seq, received_at, envelope.doc);
	is = leaf_hash(seq, received_at, redacted);
	erasure_replace(seq, redacted);
	artifact_use_forget(&seq, 1);
	redact_append_audit(seq, &envelope, &was, &is, digest, reason);
	return true;
}
