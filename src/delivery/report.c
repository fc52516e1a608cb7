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
#include "delivery/report.h"
#include "delivery/verdict.h"
#include "protocol/identifier.h"

static void
put_agent(DocumentBuilder *b, const char *key, Slice agent_id)
{
	document_open_object(b, key);
	document_put_text(b, "agent_id", agent_id);
	document_close_object(b);
}

Jsonb *
report_build(const Task *task, Slice from, Slice to, MessageType type,
			 Jsonb *payload, int attempt, const char *move)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "v", CLUTCH_PROTOCOL);
	document_put_cstring(&b, "id", identifier_make("msg"));
	document_put_timestamp(&b, "ts", clock_now());
	document_put_cstring(&b, "type", message_type_name(type));
	document_put_text(&b, "thread_id", task->thread_id);
	document_put_text(&b, "run_id", task->run_id);
	document_put_text(&b, "task_id", task->task_id);
	document_put_text(&b, "parent_task_id", task->parent_task_id);
	put_agent(&b, "from", from);
	document_open_array(&b, "to");
	put_agent(&b, NULL, to);
	document_close_array(&b);
	document_put_jsonb(&b, "payload", payload);
	if (attempt > 0)
		document_put_int(&b, "attempt", attempt);
	if (move != NULL)
	{
		document_open_object(&b, "meta");
		document_open_object(&b, "clutch");
		document_put_cstring(&b, "move", move);
		document_close_object(&b);
		document_close_object(&b);
	}
	return document_end(&b);
}

Receipt
report_send(Slice from_agent, Slice task_id, MessageType type, Jsonb *payload,
			int attempt)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);

	if (task == NULL)
		verdict_task_not_found(task_id);
	return event_send(report_build(task, from_agent, task->from_agent, type,
								   payload, attempt, NULL));
}
