/*-------------------------------------------------------------------------
 *
 * redact.c
 *	  Erasing the content of one event.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "ledger/excuse.h"
#include "ledger/leaf.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "retention/redact.h"
#include "store/artifact.h"
#include "store/audit.h"
#include "store/erasure.h"
#include "store/redaction.h"
#include "task/task.h"

pg_noreturn static void
redact_refuse_missing(int64 seq)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errproblem("seq", "EVENT_NOT_FOUND"),
			 errmsg("event " INT64_FORMAT " does not exist", seq),
			 errhint("Pass the seq of a row of clutch.events.")));
}

static void
redact_read_event(int64 seq, Envelope *envelope, TimestampTz *received_at)
{
	Jsonb	   *document = event_read_received(seq, ROWS_LATEST, received_at, NULL);

	if (document == NULL)
		redact_refuse_missing(seq);
	envelope_read_admitted(document, envelope, problem_list_admitted());
	if (message_type_is_agent(envelope->type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errproblem("seq", "NOT_REDACTABLE"),
				 errmsg("event " INT64_FORMAT " is a record of the registry and cannot be redacted", seq),
				 errhint("The log keeps it for good; clutch.register(card) only replaces the card that clutch.agents shows.")));
	if (audit_is(envelope->run_id, envelope->from_agent, SLICE_NONE, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errproblem("seq", "NOT_REDACTABLE"),
				 errmsg("event " INT64_FORMAT " is a record of an audit and cannot be redacted", seq),
				 errhint("The log keeps it for good, to show what was changed.")));
}

/* Does a later event of the task, which is not late, have the same text? */
static bool
redact_is_said_again(int64 seq, Slice task_id, Slice detail)
{
	bool		again = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	while (!again && rows_next(&scan))
	{
		Envelope	later;

		CHECK_FOR_INTERRUPTS();
		if (rows_int8(&scan, Anum_event_seq) <= seq || rows_bool(&scan, Anum_event_late))
			continue;
		envelope_read_admitted(rows_jsonb(&scan, Anum_event_envelope), &later, problem_list_admitted());
		again = slice_equal(redaction_detail(&later), detail);
	}
	rows_end(&scan);
	return again;
}

/*
 * Redacts the detail of the task.  The state of a task includes one text from
 * its events: why it failed or was cancelled.  It comes from the last such
 * event.
 */
static void
redact_detail(int64 seq, const Envelope *envelope)
{
	Slice		detail = redaction_detail(envelope);
	Task	   *task = slice_present(detail) ? task_lock(envelope->task_id) : NULL;

	if (task == NULL || !slice_equal(task->run_id, envelope->run_id) ||
		!slice_equal(task->detail, detail) ||
		redact_is_said_again(seq, task->task_id, detail))
		return;
	task->detail = SLICE_OF(REDACTED_TEXT);
	task_save(task);
}

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

typedef struct Replacement
{
	int64		seq;
	Jsonb	   *redacted;
} Replacement;

static void
redact_replace_now(void *arg)
{
	const Replacement *replacement = arg;

	erasure_replace(replacement->seq, replacement->redacted);
}

/*
 * The wait for a lock is short, and the error of the server would not say what to
 * do.  If the event could not be replaced, it may have been pruned since it was
 * read.
 */
static void
redact_replace(int64 seq, Jsonb *redacted)
{
	Replacement replacement = {seq, redacted};
	ErrorData  *error = savepoint_run(redact_replace_now, &replacement);

	if (error == NULL)
		return;
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("event " INT64_FORMAT " is locked by an open transaction", seq),
				 errhint("Call the function again when that transaction has ended.")));
	if (error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE && event_read(seq, ROWS_LATEST) == NULL)
		redact_refuse_missing(seq);
	ReThrowError(error);
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
	redact_detail(seq, &envelope);
	redacted = redaction_document(&envelope, digest, reason);
	was = leaf_hash(seq, received_at, envelope.doc);
	is = leaf_hash(seq, received_at, redacted);
	redact_replace(seq, redacted);
	artifact_use_forget(&seq, 1);
	redact_append_audit(seq, &envelope, &was, &is, digest, reason);
	return true;
}
