/*-------------------------------------------------------------------------
 *
 * work_fn.c
 *	  SQL functions by which agents report on their work.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/document.h"
#include "base/rows.h"
#include "flow/answer.h"
#include "flow/cancel.h"
#include "flow/keep.h"
#include "flow/liveness.h"
#include "flow/open_work.h"
#include "flow/requeue.h"
#include "flow/restored.h"
#include "flow/right.h"
#include "flow/sight.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "registry/roster.h"
#include "task/report.h"
#include "task/verdict.h"
#include "trust/principal.h"
#include "trust/traffic.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(clutch_report);
PG_FUNCTION_INFO_V1(clutch_progress);
PG_FUNCTION_INFO_V1(clutch_finish);
PG_FUNCTION_INFO_V1(clutch_fail);
PG_FUNCTION_INFO_V1(clutch_release);
PG_FUNCTION_INFO_V1(clutch_cancel);
PG_FUNCTION_INFO_V1(clutch_cancel_run);
PG_FUNCTION_INFO_V1(clutch_retry);
PG_FUNCTION_INFO_V1(clutch_retry_run);
PG_FUNCTION_INFO_V1(clutch_answer);
PG_FUNCTION_INFO_V1(clutch_suspend);
PG_FUNCTION_INFO_V1(clutch_step);

/* --------------------------------------------------------------- reporting */

/* where the arguments are in the envelope that is built from them */
static const ProblemArgument report_arguments[] = {
	{"/from/agent_id", "agent_id"},
	{"/task_id", "task_id"},
	{"/attempt", "attempt"},
	{"/payload", "payload"},
	{"/meta/clutch/usage", "usage"},
	{NULL}
};
static const ProblemArgument any_report_arguments[] = {
	{"/from/agent_id", "agent_id"},
	{"/task_id", "task_id"},
	{"/attempt", "attempt"},
	{"/payload", "payload"},
	{"/meta", "meta"},
	{NULL}
};
static const ProblemArgument finish_arguments[] = {
	{"/from/agent_id", "agent_id"},
	{"/task_id", "task_id"},
	{"/attempt", "attempt"},
	{"/payload", "result"},
	{"/payload_type", "payload_type"},
	{"/meta/clutch/usage", "usage"},
	{"/attachments", "attachments"},
	{NULL}
};
static const ProblemArgument fail_arguments[] = {
	{"/from/agent_id", "agent_id"},
	{"/task_id", "task_id"},
	{"/attempt", "attempt"},
	{"/payload/code", "code"},
	{"/payload/message", "message"},
	{"/payload/details", "details"},
	{"/meta/clutch/usage", "usage"},
	{NULL}
};
static const ProblemArgument cancel_arguments[] = {
	{"/from/agent_id", "by_agent"},
	{"/task_id", "task_id"},
	{"/payload/reason", "reason"},
	{NULL}
};
static const ProblemArgument answer_arguments[] = {
	{"/from/agent_id", "by_agent"},
	{"/task_id", "task_id"},
	{"/payload", "payload"},
	{NULL}
};

static Receipt
send_in_scope(Slice task_id, Report *report, const ProblemArgument *arguments)
{
	Task	   *task;
	ProblemArguments scope;
	Receipt		receipt;

	rows_expect_writing();
	problem_arguments_begin(&scope, arguments);
	task = right_look_task(report->from, task_id);
	receipt = report_send(task, report);
	problem_arguments_end(&scope);
	return receipt;
}

/*
 * Raises an error if the state of a progress is that of a question in the
 * spelling of A2A 0.3.  Nobody would be asked, and the agent would wait for the
 * answer.
 */
static void
refuse_misspelt_question(Jsonb *payload)
{
	static const char *const states[] = {"input-required", "auth-required"};
	Slice		state = payload == NULL ? SLICE_NONE : document_get_text(&payload->root, "state");

	if (slice_find(state, states, lengthof(states)) < 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("payload", "WRONG_VALUE"),
			 errmsg("invalid state \"%.*s\" of a progress", state.len, state.s),
			 errhint("Write \"input_required\" or \"auth_required\", with an underscore, to ask a question.")));
}

/*
 * Sends an agent's report on a task.  The first two arguments of the SQL
 * function are the agent and the task.
 */
static Datum
send_report(FunctionCallInfo fcinfo, Report *report, const ProblemArgument *arguments)
{
	if (report->type == MSG_TASK_PROGRESS)
		refuse_misspelt_question(report->payload);
	report->from = argument_text(fcinfo, 0, "agent_id");
	return result_receipt(fcinfo, send_in_scope(argument_text(fcinfo, 1, "task_id"), report,
												arguments));
}

Datum
clutch_report(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 2, "type");
	Report		report = {message_type_parse(name)};

	if (report.type != MSG_TASK_ACCEPT && report.type != MSG_TASK_PROGRESS &&
		report.type != MSG_TASK_RESULT && report.type != MSG_TASK_ERROR &&
		report.type != MSG_TASK_CANCEL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("type", "WRONG_VALUE"),
				 errmsg("invalid type of a report %s", place_quote(name)),
				 errhint("A report is a task.accept, task.progress, task.result, task.error or task.cancel.")));
	report.payload = argument_optional_jsonb(fcinfo, 3);
	report.attempt = argument_attempt(fcinfo, 4);
	report.meta = argument_optional_jsonb(fcinfo, 5);
	return send_report(fcinfo, &report, any_report_arguments);
}

Datum
clutch_progress(PG_FUNCTION_ARGS)
{
	Report		report = {MSG_TASK_PROGRESS};

	report.payload = argument_jsonb(fcinfo, 2, "payload");
	report.attempt = argument_attempt(fcinfo, 3);
	report.usage = argument_optional_jsonb(fcinfo, 4);
	return send_report(fcinfo, &report, report_arguments);
}

Datum
clutch_finish(PG_FUNCTION_ARGS)
{
	Report		report = {MSG_TASK_RESULT};

	report.payload = argument_optional_jsonb(fcinfo, 2);
	report.attempt = argument_attempt(fcinfo, 3);
	report.payload_type = argument_optional_text(fcinfo, 4);
	report.usage = argument_optional_jsonb(fcinfo, 5);
	report.attachments = argument_optional_jsonb(fcinfo, 6);
	return send_report(fcinfo, &report, finish_arguments);
}

/* Spec 5.4. */
Datum
clutch_fail(PG_FUNCTION_ARGS)
{
	Report		report = {MSG_TASK_ERROR};
	DocumentBuilder b;

	document_begin(&b);
	document_put_text(&b, "code", argument_text(fcinfo, 2, "code"));
	document_put_text(&b, "message", argument_text(fcinfo, 3, "message"));
	if (!argument_is_null(fcinfo, 4))
		document_put_bool(&b, "retryable", PG_GETARG_BOOL(4));
	if (!argument_is_null(fcinfo, 5))
		document_put_jsonb(&b, "details", PG_GETARG_JSONB_P(5));
	report.payload = document_end(&b);
	report.attempt = argument_attempt(fcinfo, 6);
	report.usage = argument_optional_jsonb(fcinfo, 7);
	return send_report(fcinfo, &report, fail_arguments);
}

/* ----------------------------------------------------------------- waiting */

static const ProblemArgument suspend_arguments[] = {
	{"/from/agent_id", "agent_id"},
	{"/task_id", "task_id"},
	{"/attempt", "attempt"},
	{"/meta/clutch/wait", "wait"},
	{"/payload", "note"},
	{NULL}
};

/*
 * Raises an error if the note has a state of its own, which would be lost,
 * unless it is the one that clutch.claim has returned with an earlier note.
 */
static void
refuse_state_of_note(Jsonb *note)
{
	JsonbValue	state;

	if (!document_get(&note->root, "state", &state) ||
		slice_is(document_get_text(&note->root, "state"), "suspended"))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("note", "NOT_ALLOWED"),
			 errmsg("the note has a member \"state\" of its own"),
			 errhint("Give the member another name, such as \"phase\": the state of the progress that keeps the note is \"suspended\".")));
}

/* Returns the fields of the note, if it is an object, next to the state. */
static Jsonb *
suspend_payload(Jsonb *note)
{
	DocumentBuilder b;

	document_begin(&b);
	if (note != NULL && JB_ROOT_IS_OBJECT(note))
	{
		refuse_state_of_note(note);
		document_put_pairs(&b, &note->root, NULL);
	}
	else if (note != NULL)
		document_put_jsonb(&b, "note", note);
	document_put_cstring(&b, "state", "suspended");
	return document_end(&b);
}

Datum
clutch_suspend(PG_FUNCTION_ARGS)
{
	Report		report = {MSG_TASK_PROGRESS, .order = "wait"};

	report.order_value = argument_jsonb(fcinfo, 2, "wait");
	report.payload = suspend_payload(argument_optional_jsonb(fcinfo, 3));
	report.attempt = argument_attempt(fcinfo, 4);
	return send_report(fcinfo, &report, suspend_arguments);
}

/* ------------------------------------------------------------------- steps */

static const ProblemArgument step_arguments[] = {
	{"/from/agent_id", "agent_id"},
	{"/task_id", "task_id"},
	{"/attempt", "attempt"},
	{"/meta/clutch/step/name", "name"},
	{"/meta/clutch/step/output", "output"},
	{NULL}
};

Datum
clutch_step(PG_FUNCTION_ARGS)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");
	Slice		task_id = argument_text(fcinfo, 1, "task_id");
	Slice		name = argument_text(fcinfo, 2, "name");
	JsonbValue	null = {.type = jbvNull};
	Jsonb	   *output = argument_optional_jsonb(fcinfo, 3);
	ProblemArguments scope;

	principal_require(agent_id, "agent_id");
	liveness_sign(agent_id, false);
	problem_arguments_begin(&scope, step_arguments);
	output = keep_send(agent_id, task_id, name, output != NULL ? output : document_of_value(&null),
					   argument_attempt(fcinfo, 4));
	problem_arguments_end(&scope);
	PG_RETURN_JSONB_P(output);
}

/* ---------------------------------------------------------------- steering */

static Slice
acting_agent(FunctionCallInfo fcinfo, int n)
{
	Slice		by_agent = argument_optional_text(fcinfo, n);

	return slice_present(by_agent) ? by_agent : principal_default_agent();
}

Datum
clutch_cancel(PG_FUNCTION_ARGS)
{
	Slice		task_id = argument_text(fcinfo, 0, "task_id");
	Report		report = {MSG_TASK_CANCEL, .from = acting_agent(fcinfo, 2)};
	DocumentBuilder b;

	document_begin(&b);
	document_put_text(&b, "reason", argument_optional_text(fcinfo, 1));
	report.payload = document_end(&b);
	return result_receipt(fcinfo, send_in_scope(task_id, &report, cancel_arguments));
}

Datum
clutch_cancel_run(PG_FUNCTION_ARGS)
{
	Slice		run_id = argument_text(fcinfo, 0, "run_id");
	Slice		by_agent = acting_agent(fcinfo, 2);
	ProblemArguments scope;
	int64		cancelled;

	principal_require(by_agent, "by_agent");
	right_require(by_agent, run_id);
	(void) restored_epoch();
	problem_arguments_begin(&scope, cancel_arguments);
	cancelled = cancel_run(run_id, argument_optional_text(fcinfo, 1), by_agent);
	problem_arguments_end(&scope);
	PG_RETURN_INT64(cancelled);
}

/*
 * Locks the task.  The rights are checked before that, so that a role without
 * them cannot wait for the lock, or learn anything about the task.
 */
static Task *
lock_or_refuse(Slice agent_id, Slice task_id)
{
	Task	   *task;

	(void) restored_epoch();
	(void) right_look_task(agent_id, task_id);
	task = task_lock(task_id);
	if (task == NULL)
		verdict_task_not_found(task_id);
	return task;
}

Datum
clutch_release(PG_FUNCTION_ARGS)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");
	Slice		task_id = argument_text(fcinfo, 1, "task_id");
	int			attempt = argument_attempt(fcinfo, 2);
	Slice		reason = argument_reason(fcinfo, 3);
	Task	   *task;

	principal_require(agent_id, "agent_id");
	task = lock_or_refuse(agent_id, task_id);
	if (!slice_equal(task->agent_id, agent_id) || task_status_is_over(task->status) ||
		(attempt > 0 && attempt != task->attempt))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("task_id", "NOT_HELD"),
				 errmsg("\"%.*s\" does not hold attempt %d of task \"%.*s\", which is %s",
						agent_id.len, agent_id.s,
						attempt > 0 ? attempt : task->attempt, task_id.len,
						task_id.s, task_status_name(task->status)),
				 errhint("There is nothing to give back: drop the task and claim the next.")));
	traffic_add_command(false);
	return result_receipt(fcinfo, requeue_release(task, reason));
}

/* Retries the task.  From now on it counts for the role that retries it. */
static Receipt
revive(Task *task, Slice by_agent, const char *argument)
{
	int64		former_seq = task_counts_since(task);
	Receipt		receipt = requeue_revive(task, by_agent);

	open_work_take_over(receipt.task_id, former_seq, receipt.seq, argument);
	traffic_add_command(true);
	return receipt;
}

Datum
clutch_retry(PG_FUNCTION_ARGS)
{
	Slice		task_id = argument_text(fcinfo, 0, "task_id");
	Slice		by_agent = acting_agent(fcinfo, 1);
	ProblemArguments scope;
	Task	   *task;

	principal_require(by_agent, "by_agent");
	task = lock_or_refuse(by_agent, task_id);
	problem_arguments_begin(&scope, cancel_arguments);
	verdict_check_may_steer(task, by_agent);
	problem_arguments_end(&scope);
	if (!task_status_is_over(task->status) || task->status == TASK_COMPLETED)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("task_id", "NOT_RETRYABLE"),
				 errmsg("task \"%.*s\" is %s",
						task_id.len, task_id.s, task_status_name(task->status)),
				 errhint("Only a task that failed, timed out or was cancelled can be retried.")));
	return result_receipt(fcinfo, revive(task, by_agent, "task_id"));
}

/* Retries one task, unless it has not failed or timed out. */
static void
retry_one_of_run(FunctionCallInfo fcinfo, Slice task_id, Slice by_agent)
{
	Task	   *task = task_lock(task_id);
	ProblemArguments scope;

	if (task == NULL || (task->status != TASK_FAILED && task->status != TASK_TIMED_OUT))
		return;
	problem_arguments_begin(&scope, cancel_arguments);
	sight_check_may_steer(task, by_agent);
	problem_arguments_end(&scope);
	result_put_receipt(fcinfo, revive(task, by_agent, "run_id"));
}

/*
 * Spec 1.3: retries the tasks that failed or timed out, ancestors first.
 * Completed tasks stay completed.  Requests may be large, so each is read in a
 * memory context of its own.
 */
Datum
clutch_retry_run(PG_FUNCTION_ARGS)
{
	Slice		run_id = argument_text(fcinfo, 0, "run_id");
	Slice		by_agent = acting_agent(fcinfo, 1);
	List	   *ids;
	MemoryContext each;
	MemoryContext old;
	ListCell   *cell;

	result_begin_rows(fcinfo);
	principal_require(by_agent, "by_agent");
	right_require(by_agent, run_id);
	(void) restored_epoch();
	ids = task_list_of_run(run_id);
	each = AllocSetContextCreate(CurrentMemoryContext, "clutch retry task", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(each);
	foreach(cell, ids)
	{
		CHECK_FOR_INTERRUPTS();
		retry_one_of_run(fcinfo, *(Slice *) lfirst(cell), by_agent);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	return (Datum) 0;
}

Datum
clutch_answer(PG_FUNCTION_ARGS)
{
	Slice		task_id = argument_text(fcinfo, 0, "task_id");
	Slice		by_agent = acting_agent(fcinfo, 2);
	ProblemArguments scope;
	Receipt		receipt;

	problem_arguments_begin(&scope, answer_arguments);
	receipt = answer_send(by_agent, task_id, argument_jsonb(fcinfo, 1, "payload"));
	problem_arguments_end(&scope);
	return result_receipt(fcinfo, receipt);
}
