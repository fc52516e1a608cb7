/*-------------------------------------------------------------------------
 *
 * callee.c
 *	  Agents and tool servers that are reached through an endpoint.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "flow/attempt.h"
#include "flow/callee_part.h"
#include "flow/claim.h"
#include "flow/ending.h"
#include "flow/liveness.h"
#include "flow/move.h"
#include "queue/ready.h"
#include "queue/timer.h"
#include "registry/roster.h"
#include "routing/filter_agents.h"
#include "task/task.h"
#include "utils/timestamp.h"

#define SERVER_AGENT	"agent:mcp."
#define SERVER_TOOL		"mcp:"

/*
 * how long after the last look a tick looks again for ready tasks without a
 * call
 */
#define LOOK_AGAIN		(30 * USECS_PER_SEC)

/*
 * when this backend last looked; 0 if never, or if it did not see all of them
 */
static TimestampTz looked_at = 0;

/* ------------------------------------------------------------------ calling */

/*
 * Returns the seq of the event to send: the answer to a question of the agent,
 * until it has got it, or else the request.
 */
static int64
callee_seq_of(const Task *task)
{
	bool		is_answered = task->answer_seq != 0 && (task->reason == CLAIM_RESUMED || attempt_lacks_answer(task));

	return is_answered ? task->answer_seq : task->request_seq;
}

/*
 * maximum number of an agent's ready tasks that are put on the agenda at once;
 * the next tick continues
 */
#define MOST_READY		1000

/*
 * Puts at most n ready tasks of the agent on the agenda, and returns whether
 * there may be more.
 */
static bool
callee_call_ready(Slice agent_id, int n)
{
	List	   *tasks = roster_pauses_agent(roster_get(), agent_id) ? NIL : ready_list(agent_id, n);
	ListCell   *cell;

	foreach(cell, tasks)
		agenda_add_task(CONSEQUENCE_CALL, 0, *(Slice *) lfirst(cell));
	return list_length(tasks) == n;
}

void
callee_take_up(void)
{
	ListCell   *cell;

	foreach(cell, endpoint_list_served())
	{
		liveness_serve(*(Slice *) lfirst(cell));
		if (callee_call_ready(*(Slice *) lfirst(cell), MOST_READY))
			looked_at = 0;
	}
}

void
callee_watch(int n)
{
	TimestampTz now = clock_now();
	bool		has_more = false;
	ListCell   *cell;

	if (!clock_is_over(looked_at, LOOK_AGAIN, now))
		return;
	foreach(cell, endpoint_list_served())
		has_more |= callee_call_ready(*(Slice *) lfirst(cell), n);
	looked_at = has_more ? 0 : now;
}

TimestampTz
callee_next(void)
{
	return endpoint_list_served() == NIL ? DT_NOEND : looked_at + LOOK_AGAIN;
}

/*
 * Is the agent paused, or a capability that the task requires?  In that case
 * the call is written when it is resumed.
 */
static bool
callee_is_paused(const Task *task)
{
	Roster	   *roster = roster_get();

	return roster_pauses_agent(roster, task->agent_id) ||
		slice_present(filter_paused_capability(roster, &task->requires));
}

bool
callee_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_lock_now(consequence->subject, &busy);
	const Endpoint *endpoint;
	Call		call = {.kind = CALL_TASK};

	if (task == NULL)
		return !busy;
	endpoint = task->status == TASK_ASSIGNED && !callee_is_paused(task) ? endpoint_serving(task->agent_id) : NULL;
	if (endpoint == NULL || ending_at_deadline(task, clock_now()))
		return true;
	call.endpoint = slice_copy(endpoint->name);
	call.seq = callee_seq_of(task);
	call.agent_id = slice_copy(task->agent_id);
	call.run_id = task->run_id;
	call.task_id = task->task_id;
	call.task_attempt = task->attempt;
	claim_accept(task, call.agent_id, endpoint->patience * USECS_PER_SEC);
	call_put(&call);
	return true;
}

Slice
callee_server_of(Slice tool)
{
	int			prefix = strlen(SERVER_TOOL);
	int			len = 0;

	if (!slice_starts(tool, SLICE_OF(SERVER_TOOL)))
		return SLICE_NONE;
	while (prefix + len < tool.len && tool.s[prefix + len] != '/' && tool.s[prefix + len] != ':')
		len++;
	return slice_of_cstring(psprintf(SERVER_AGENT "%.*s", len, tool.s + prefix));
}

void
callee_note_tool_call(const Event *event)
{
	const Envelope *envelope = &event->envelope;
	Slice		server = endpoint_is_any() ? callee_server_of(envelope->tool) : SLICE_NONE;
	const Endpoint *endpoint = slice_present(server) ? endpoint_serving(server) : NULL;
	Call		call = {.kind = CALL_TOOL, .seq = event->seq, .agent_id = envelope->from_agent,
	.run_id = envelope->run_id, .task_id = envelope->task_id};

	if (endpoint == NULL)
		return;
	if (!endpoint_allows(endpoint, envelope->from_agent))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/payload/tool", "ENDPOINT_NOT_ALLOWED"),
				 errmsg("\"%.*s\" may not use endpoint \"%.*s\"", envelope->from_agent.len, envelope->from_agent.s,
						endpoint->name.len, endpoint->name.s),
				 errhint("Ask an operator to add the agent to the column agents of clutch.endpoint.")));
	call.endpoint = endpoint->name;
	call_put(&call);
}

/* ------------------------------------------------------- whether it is wanted */

/* Returns the task of a CALL_TASK if it has this status and is in the attempt of the call, or NULL. */
static Task *
callee_task_if(const Call *call, TaskStatus status)
{
	Task	   *task = call->kind == CALL_TASK ? task_look(call->task_id, ROWS_LATEST) : NULL;

	return task != NULL && task->status == status && task->attempt == call->task_attempt &&
		slice_equal(task->agent_id, call->agent_id) ? task : NULL;
}

Task *
callee_task(const Call *call)
{
	return callee_task_if(call, TASK_RUNNING);
}

Task *
callee_held_task(const Call *call)
{
	Task	   *task = callee_task(call);

	return task != NULL ? task : callee_task_if(call, TASK_INPUT_REQUIRED);
}

bool
callee_has_asked(const Call *call)
{
	return callee_task_if(call, TASK_INPUT_REQUIRED) != NULL;
}

bool
callee_answers(const Call *call)
{
	return call->kind == CALL_TASK || call->kind == CALL_TOOL;
}

bool
callee_is_awaited(const Call *call)
{
	return call->kind != CALL_TASK || callee_task(call) != NULL;
}

void
callee_note_claimed(const Call *call, const Endpoint *endpoint)
{
	Task	   *task = call_attempts(call) == 1 ? callee_task(call) : NULL;
	int64		patience = endpoint->patience * USECS_PER_SEC;
	TimestampTz now = clock_now();
	bool		busy;

	/* usually little time has passed, and the task need not be written */
	if (task == NULL || task->lease_until >= now + patience - patience / 10)
		return;
	task = task_lock_now(call->task_id, &busy);
	if (task == NULL || callee_task(call) == NULL)
		return;
	move_begin_again(task, now, patience);
}

bool
callee_is_called_off(const Call *call)
{
	Task	   *task = call->kind == CALL_TOOL && slice_present(call->task_id) ? task_look(call->task_id, ROWS_LATEST) : NULL;

	return task != NULL && slice_equal(task->run_id, call->run_id) &&
		(task->status == TASK_CANCELLED || task->status == TASK_TIMED_OUT);
}

bool
callee_goes_on(const Call *call)
{
	Task	   *task = call->kind == CALL_CANCEL ? task_look(call->task_id, ROWS_LATEST) : NULL;

	return task != NULL && !task_status_is_over(task->status);
}

bool
callee_has_ended(const Call *call)
{
	Bitmapset  *begun;
	Bitmapset  *ended;

	if (call->kind != CALL_CANCEL)
		return false;
	ended = attempt_list_ended(call->task_id, call->agent_id, call->task_attempt, &begun);
	return begun != NULL && bms_is_subset(begun, ended);
}

CalleeSent
callee_sent(Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);
	CalleeSent	sent = {0};

	if (task == NULL)
		return sent;
	sent.seq = callee_seq_of(task);
	sent.request_seq = task->request_seq;
	sent.question_seq = sent.seq != sent.request_seq ? task->question_seq : 0;
	return sent;
}

Jsonb *
callee_question(const Call *call)
{
	Task	   *task = callee_task(call);

	return task == NULL || task->question_seq == 0 || call->seq != task->answer_seq ? NULL :
		event_read(task->question_seq, ROWS_LATEST);
}

int64
callee_request_seq(const Call *call)
{
	Task	   *task = callee_task(call);

	return task == NULL ? 0 : task->request_seq;
}

Slice
callee_thread(const Call *call)
{
	Task	   *task = callee_held_task(call);

	return task == NULL ? SLICE_NONE : task->thread_id;
}

TimestampTz
callee_awaited_until(const Call *call)
{
	Task	   *task = callee_task(call);

	return task == NULL ? 0 : task->lease_until;
}

Jsonb *
callee_context(const Call *call, const Endpoint *endpoint)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_text(&b, "agent_id", endpoint->serves);
	document_put_text(&b, "run_id", call->run_id);
	document_put_text(&b, "task_id", call->task_id);
	document_put_text(&b, "thread_id", callee_thread(call));
	document_put_text(&b, "session", call->id);
	return document_end(&b);
}
