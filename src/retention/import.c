/*-------------------------------------------------------------------------
 *
 * import.c
 *	  Importing a run that was exported from another database.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/guard.h"
#include "base/savepoint.h"
#include "base/wait.h"
#include "flow/rebuild.h"
#include "flow/attachment.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "retention/import.h"
#include "store/audit.h"
#include "store/epoch.h"
#include "store/participant.h"
#include "store/spending.h"
#include "task/task.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

/* version of the format of the lines */
#define EXPORT_FORMAT	1

typedef struct Import
{
	const Slice *lines;
	int			n;
	Slice		run_id;
	int			epoch;
} Import;

/* -------------------------------------------------------------------- lines */

pg_noreturn static void
import_refuse_line(int line, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("lines", "WRONG_FORMAT"),
			 errmsg("line %d is not a line of an export: %s", line, why),
			 errhint("Pass all lines that clutch.export returned for a run, unchanged and in their order.")));
}

/*
 * Parses a line.  The parser's own error would not tell which line it is
 * about.
 */
static Jsonb *
import_parse_line(const Import *import, int line)
{
	MemoryContext context = CurrentMemoryContext;
	Jsonb	   *volatile document = NULL;

	PG_TRY();
	{
		document = DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
													  CStringGetDatum(slice_cstring(import->lines[line - 1]))));
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (savepoint_failed_by_chance(error))
			ReThrowError(error);
		import_refuse_line(line, error->message);
	}
	PG_END_TRY();
	if (!JB_ROOT_IS_OBJECT(document))
		import_refuse_line(line, "it is not a JSON object");
	return document;
}

static void
import_read_header(Import *import)
{
	Jsonb	   *header;
	int64		format;
	int64		events;

	if (import->n == 0)
		import_refuse_line(1, "it is missing");
	header = import_parse_line(import, 1);
	if (!document_get_int(&header->root, "clutch_export", &format) || format != EXPORT_FORMAT)
		import_refuse_line(1, "the first line must have \"clutch_export\": 1");
	import->run_id = document_get_text(&header->root, "run_id");
	if (!slice_present(import->run_id) || !document_get_int(&header->root, "events", &events))
		import_refuse_line(1, "\"run_id\" or \"events\" is missing");
	/*
	 * its audit events would excuse events that are missing here; see
	 * ledger/excuse
	 */
	if (slice_equal(import->run_id, SLICE_OF(AUDIT_RUN)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errproblem("lines", "NOT_ALLOWED"),
				 errmsg("run \"%s\" of another database cannot be imported", AUDIT_RUN),
				 errhint("Keep the lines in a file: what was pruned or redacted elsewhere says nothing of this database.")));
	if (events != import->n - 1)
		import_refuse_line(import->n,
						   psprintf("the first line announces " INT64_FORMAT " events, and there are %d",
									events, import->n - 1));
}

static void
import_read_envelope(const Import *import, int line, JsonbValue *value, Envelope *envelope)
{
	ProblemList *problems = problem_list_admitted();

	envelope_read_admitted(document_of_value(value), envelope, problems);
	if (problems->n > 0)
		problem_raise(problems, ERRCODE_CLUTCH_ENVELOPE_INVALID,
					  psprintf("envelope in line %d", line));
	if (!slice_equal(envelope->run_id, import->run_id))
		import_refuse_line(line, "its envelope belongs to another run");
	if (message_type_is_agent(envelope->type))
		import_refuse_line(line, "it is an event of the registry; register the agent here");
}

static void
import_read_event(const Import *import, int line, Event *event)
{
	Jsonb	   *document = import_parse_line(import, line);
	bool		judged = true;
	int64		attempt;
	JsonbValue	envelope;

	memset(event, 0, sizeof(*event));
	if (!document_get(&document->root, "envelope", &envelope) || envelope.type != jbvBinary)
		import_refuse_line(line, "\"envelope\" is missing");
	if (!clock_parse_rfc3339(document_get_text(&document->root, "received_at"), &event->received_at))
		import_refuse_line(line, "\"received_at\" is missing, or not a time");
	if (!document_get_int(&document->root, "attempt", &attempt) ||
		attempt < PG_INT32_MIN || attempt > PG_INT32_MAX)
		import_refuse_line(line, "\"attempt\" is missing, or not an integer");
	if (!document_get_bool(&document->root, "late", &event->late) ||
		!document_get_bool(&document->root, "judged", &judged))
		import_refuse_line(line, "\"late\" or \"judged\" is missing");
	import_read_envelope(import, line, &envelope, &event->envelope);
	event->attempt = (int) attempt;
	event->scope = document_get_text(&document->root, "scope");
	event->epoch = judged ? import->epoch : EPOCH_ELSEWHERE(import->epoch);
	event->internal = true;
}

/* ---------------------------------------------------------- what is there */

/*
 * Waits for a transaction that is removing events of the run, such as an open
 * prune.  Returns false if there was none.
 */
static bool
import_await_removal(Slice run_id)
{
	TransactionId remover = InvalidTransactionId;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_RUN_ID, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (!TransactionIdIsValid(remover) && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!rows_is_being_inserted(&scan))
			remover = rows_in_doubt(&scan);
	}
	rows_end(&scan);
	if (!TransactionIdIsValid(remover))
		return false;
	wait_for_transaction(remover);
	return true;
}

/*
 * Waits for other transactions that import the run, begin it or remove it,
 * because what they have written so far would collide with what is imported,
 * and what they have not removed yet may be gone soon.
 */
static bool
import_run_is_known(Slice run_id)
{
	RunState	state;
	TransactionId founder;

	guard_keep(guard_key(GUARD_IMPORT, run_id, SLICE_NONE, 0));
	do
	{
		while ((state = participant_run_state(run_id, &founder)) == RUN_IS_DOUBTFUL)
			wait_for_transaction(founder);
	} while (state == RUN_IS_FOUNDED && import_await_removal(run_id));
	return state == RUN_IS_FOUNDED || task_run_has_any(run_id);
}

/*
 * The run is in the log.  That is harmless if all of these events are there,
 * too.
 */
static void
import_require_same(const Import *import)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch import line",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	int			line;

	for (line = 2; line <= import->n; line++)
	{
		Event		event;
		Jsonb	   *there;

		CHECK_FOR_INTERRUPTS();
		import_read_event(import, line, &event);
		there = event_read_of_run(event.envelope.id, import->run_id, ROWS_LATEST);
		if (there == NULL ||
			compareJsonbContainers(&there->root, &event.envelope.doc->root) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
					 errproblem("lines", "RUN_EXISTS"),
					 errmsg("run \"%.*s\" exists, and does not have the event in line %d",
							import->run_id.len, import->run_id.s, line),
					 errhint("A run can be imported only into a database that has no event of it.")));
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

static void
import_require_task_free(const Import *import, const Event *event, int line)
{
	const Envelope *envelope = &event->envelope;
	Task	   *task = envelope->type == MSG_TASK_REQUEST ? task_await(envelope->task_id) : NULL;

	if (task != NULL && !slice_equal(task->run_id, import->run_id))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("lines", "TASK_IN_OTHER_RUN"),
				 errmsg("task \"%.*s\" of line %d belongs to run \"%.*s\" here",
						envelope->task_id.len, envelope->task_id.s, line,
						task->run_id.len, task->run_id.s),
				 errhint("Task IDs are unique in a database: import the run when the other one has been pruned, or into another database.")));
}

static void
import_require_over(const Import *import)
{
	bool		has_tasks;

	if (!task_run_is_over(import->run_id, &has_tasks))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("lines", "RUN_NOT_OVER"),
				 errmsg("run \"%.*s\" was exported while some of its tasks were not over",
						import->run_id.len, import->run_id.s),
				 errhint("Let its tasks end, or cancel them, and export it again.")));
}

/* ------------------------------------------------------------------ the story */

static void
import_append_audit(const Import *import)
{
	DocumentBuilder b;

	audit_begin(&b);
	document_put_text(&b, "run_id", import->run_id);
	document_put_int(&b, "events", import->n - 1);
	(void) audit_append(AUDIT_IMPORTED, document_end(&b));
}

static void
import_put_event(const Import *import, int line)
{
	Event		event;

	import_read_event(import, line, &event);
	if (event_read_of_run(event.envelope.id, import->run_id, ROWS_LATEST) != NULL)
		import_refuse_line(line, "the id of its envelope is that of an earlier line");
	import_require_task_free(import, &event, line);
	event.seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	event_put(&event);
	participant_add_recipients(&event.envelope, SLICE_NONE);
	attachment_take(&event);
	if (event.epoch > 0)
		rebuild_import_event(&event);
}

static void
import_put_events(const Import *import)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch import line",
											   ALLOCSET_DEFAULT_SIZES);
	int			line;

	rebuild_import_begin();
	for (line = 2; line <= import->n; line++)
	{
		MemoryContext old = MemoryContextSwitchTo(each);

		CHECK_FOR_INTERRUPTS();
		import_put_event(import, line);
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	(void) rebuild_import_end();
	MemoryContextDelete(each);
}

int64
import_lines(const Slice *lines, int n)
{
	Import		import = {lines, n};
	TransactionId founder;

	import_read_header(&import);
	import.epoch = epoch_look_to_write();
	if (import_run_is_known(import.run_id))
	{
		import_require_same(&import);
		return 0;
	}
	while (!participant_forget_earlier(import.run_id, &founder))
		wait_for_transaction(founder);
	import_append_audit(&import);
	import_put_events(&import);
	import_require_over(&import);
	spending_unfold(import.run_id);
	return n - 1;
}
