/*-------------------------------------------------------------------------
 *
 * report.c
 *	  Making an envelope from an agent's report on a task, and sending it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "protocol/draft.h"
#include "protocol/identifier.h"
#include "task/report.h"

static Jsonb *
report_meta_of(const Report *report)
{
	DocumentBuilder b;

	if (report->meta != NULL || (report->order == NULL && report->usage == NULL))
		return report->meta;
	document_begin(&b);
	document_open_object(&b, "clutch");
	if (report->order != NULL)
		document_put_text(&b, report->order, report->value);
	if (report->order_value != NULL)
		document_put_jsonb(&b, report->order, report->order_value);
	if (report->usage != NULL)
		document_put_jsonb(&b, "usage", report->usage);
	document_close_object(&b);
	return document_end(&b);
}

/*
 * Returns the trace of the request.  The request is read only if it has one,
 * and is in the log.
 */
static Jsonb *
report_trace_of(Task *task)
{
	Jsonb	   *request;
	JsonbValue	trace;

	if (!task->is_traced || task->trace != NULL)
		return task->trace;
	request = task_request(task);
	if (request == NULL || !document_get(&request->root, "trace", &trace))
		return NULL;
	return document_of_value(&trace);
}

Jsonb *
report_build(Task *task, const Report *report)
{
	Draft		draft = {0};

	draft.now = clock_now();
	draft.id = slice_of_cstring(identifier_make("msg", draft.now));
	draft.type = slice_of_cstring(message_type_name(report->type));
	draft.thread_id = task->thread_id;
	draft.run_id = task->run_id;
	draft.task_id = task->task_id;
	draft.parent_task_id = task->parent_task_id;
	draft.from_agent = report->from;
	draft.to_agent = report->to;
	draft.domain = report->domain;
	draft.payload_type = report->payload_type;
	draft.idempotency_key = report->idempotency_key;
	draft.payload = report->payload;
	draft.has_attempt = report->attempt > 0;
	draft.attempt = report->attempt;
	draft.trace = report_trace_of(task);
	draft.attachments = report->attachments;
	draft.meta = report_meta_of(report);
	return draft_document(&draft);
}

Receipt
report_send(Task *task, Report *report)
{
	report->to = task->from_agent;
	report->domain = task->domain;
	return event_send_new(report_build(task, report));
}
