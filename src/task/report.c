/*-------------------------------------------------------------------------
 *
 * report.c
 *	  What an agent says of a task, made into an envelope and sent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "protocol/draft.h"
#include "protocol/identifier.h"
#include "task/report.h"
#include "task/verdict.h"

static Jsonb *
report_meta_of(const char *order, Slice value)
{
	DocumentBuilder b;

	document_begin(&b);
	document_open_object(&b, "clutch");
	document_put_text(&b, order, value);
	document_close_object(&b);
	return document_end(&b);
}

Jsonb *
report_build(const Task *task, Slice from, Slice to, MessageType type,
			 Jsonb *payload, int attempt, const char *order, Slice value)
{
	Draft		draft = {0};

	draft.now = clock_now();
	draft.id = slice_of_cstring(identifier_make("msg", draft.now));
	draft.type = slice_of_cstring(message_type_name(type));
	draft.thread_id = task->thread_id;
	draft.run_id = task->run_id;
	draft.task_id = task->task_id;
	draft.parent_task_id = task->parent_task_id;
	draft.from_agent = from;
	draft.to_agent = to;
	draft.payload = payload;
	draft.has_attempt = attempt > 0;
	draft.attempt = attempt;
	draft.meta = order != NULL ? report_meta_of(order, value) : NULL;
	return draft_document(&draft);
}

Receipt
report_send(Slice from_agent, Slice task_id, MessageType type, Jsonb *payload,
			int attempt)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);

	if (task == NULL)
		verdict_task_not_found(task_id, "task_id");
	return event_send(report_build(task, from_agent, task->from_agent, type,
								   payload, attempt, NULL, SLICE_NONE));
}
