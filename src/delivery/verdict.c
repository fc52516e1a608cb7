/*-------------------------------------------------------------------------
 *
 * verdict.c
 *	  Does an event fit the state of its task?
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "delivery/verdict.h"
#include "settings.h"

void
verdict_task_not_found(Slice task_id)
{
	problem_refuse(ERRCODE_CLUTCH_TASK_NOT_FOUND, "/task_id", "TASK_NOT_FOUND",
				   "Send a task.request with this task_id first.",
				   "task \"%.*s\" was never requested", task_id.len, task_id.s);
}

void
verdict_check_run(const Task *task, Slice run_id)
{
	if (!slice_equal(task->run_id, run_id))
		problem_refuse(ERRCODE_CLUTCH_TASK_CONFLICT, "/task_id", "TASK_IN_OTHER_RUN",
					   "Name the run of the task, or make a new task_id.",
					   "task \"%.*s\" belongs to run \"%.*s\", not to \"%.*s\"",
					   task->task_id.len, task->task_id.s,
					   task->run_id.len, task->run_id.s, run_id.len, run_id.s);
}

static bool
is_orchestrator(Slice agent_id)
{
	return slice_equal(agent_id, slice_of_cstring(clutch_orchestrator));
}

void
verdict_check_may_steer(const Task *task, Slice agent_id)
{
	if (is_orchestrator(agent_id) || slice_equal(agent_id, task->from_agent) ||
		task_was_with(task, agent_id))
		return;
	problem_refuse(ERRCODE_INSUFFICIENT_PRIVILEGE, "/from/agent_id", "NOT_ASSIGNED",
				   "Let who requested the task, its agent, or the orchestrator do that.",
				   "\"%.*s\" may not cancel or retry task \"%.*s\"",
				   agent_id.len, agent_id.s, task->task_id.len, task->task_id.s);
}

Verdict
verdict_on_report(const Task *task, const Envelope *report)
{
	bool		has_it = slice_equal(task->agent_id, report->from_agent);

	if (task_status_is_over(task->status))
		return VERDICT_LATE;
	if (report->type == MSG_TASK_CANCEL)
	{
		verdict_check_may_steer(task, report->from_agent);
		return VERDICT_FITS;
	}
	if (report->has_attempt && report->attempt < task->attempt)
		return VERDICT_LATE;
	if (!task_was_with(task, report->from_agent))
		problem_refuse(ERRCODE_INSUFFICIENT_PRIVILEGE, "/from/agent_id", "NOT_ASSIGNED",
					   "Only the agent that a task was assigned to reports on it; claim tasks with clutch.claim.",
					   "task \"%.*s\" was never assigned to \"%.*s\"",
					   task->task_id.len, task->task_id.s,
					   report->from_agent.len, report->from_agent.s);
	if (report->has_attempt && report->attempt > task->attempt)
		problem_refuse(ERRCODE_CLUTCH_TASK_CONFLICT, "/attempt", "ATTEMPT_AHEAD",
					   "Report with the attempt that clutch.claim answered.",
					   "task \"%.*s\" is at attempt %d, not yet at %d",
					   task->task_id.len, task->task_id.s, task->attempt, report->attempt);
	/* parked, it is not to be claimed before it is answered */
	if (task->status == TASK_INPUT_REQUIRED && report->type == MSG_TASK_ACCEPT)
		return VERDICT_LATE;
	/* without an attempt: what the agent holds now, if it holds it */
	return has_it ? VERDICT_FITS : VERDICT_LATE;
}

Verdict
verdict_on_request(const Task *task, const Envelope *request)
{
	bool		names_agent = request->to_agents.n == 1 &&
		slice_starts(request->to_agents.items[0], SLICE_OF("agent:")) &&
		!is_orchestrator(request->to_agents.items[0]);

	if (task_status_is_over(task->status))
		return VERDICT_LATE;
	if (names_agent && (is_orchestrator(request->from_agent) ||
						slice_equal(request->from_agent, task->agent_id)))
		return VERDICT_FITS;
	problem_refuse(ERRCODE_CLUTCH_TASK_CONFLICT, "/task_id", "TASK_EXISTS",
				   "Make a new task_id; a resend repeats the envelope with its id.",
				   "task \"%.*s\" was requested before and is %s",
				   task->task_id.len, task->task_id.s, task_status_name(task->status));
}
