/*-------------------------------------------------------------------------
 *
 * verdict.c
 *	  Judging whether an event fits the state of its task.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/place.h"
#include "settings.h"
#include "task/verdict.h"

void
verdict_task_not_found(Slice task_id)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_NOT_FOUND),
			 errproblem("task_id", "TASK_NOT_FOUND"),
			 errmsg("task %s does not exist", place_quote(task_id)),
			 errhint("Pass the task_id that clutch.claim returned to the agent, or clutch.send to the sender of the request. The error is the same for a task in whose run the agent takes no part.")));
}

void
verdict_check_run(const Task *task, Slice run_id)
{
	if (!slice_equal(task->run_id, run_id))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/task_id", "TASK_IN_OTHER_RUN"),
				 errmsg("task \"%.*s\" does not belong to run \"%.*s\"",
						task->task_id.len, task->task_id.s, run_id.len, run_id.s),
				 errhint("Make a new task_id, or name the run of the task. To be able to send a request twice, give clutch.envelope an idempotency_key.")));
}

void
verdict_require_in_run(const Task *task, Slice task_id, Slice run_id)
{
	if (task == NULL || !slice_equal(task->run_id, run_id))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_NOT_FOUND),
				 errproblem("/task_id", "TASK_NOT_FOUND"),
				 errmsg("task \"%.*s\" does not exist in run \"%.*s\"",
						task_id.len, task_id.s, run_id.len, run_id.s),
				 errhint("Name the task and the run of the envelope that clutch.claim returned, in clutch.ingest as members of the context.")));
}

bool
verdict_may_steer(const Task *task, Slice agent_id)
{
	return slice_is(agent_id, clutch_orchestrator) || slice_equal(agent_id, task->from_agent) ||
		task_was_with(task, agent_id);
}

void
verdict_check_may_steer(const Task *task, Slice agent_id)
{
	if (verdict_may_steer(task, agent_id))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem("/from/agent_id", "NOT_ASSIGNED"),
			 errmsg("\"%.*s\" may not cancel or retry task \"%.*s\"",
					agent_id.len, agent_id.s, task->task_id.len, task->task_id.s),
			 errhint("Only the requester of the task, its agents and the orchestrator may cancel or retry it.")));
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
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/from/agent_id", "NOT_ASSIGNED"),
				 errmsg("task \"%.*s\" was never assigned to \"%.*s\"",
						task->task_id.len, task->task_id.s, report->from_agent.len,
						report->from_agent.s),
				 task->status == TASK_PENDING ?
				 errhint("The task waits for an agent; the column waiting_for of clutch.tasks says why. An agent must be registered, and have a free slot, to get it.") :
				 errhint("Only the agent that a task was assigned to reports on it; claim tasks with clutch.claim.")));
	if (report->has_attempt && report->attempt > task->attempt)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/attempt", "ATTEMPT_AHEAD"),
				 errmsg("task \"%.*s\" is at attempt %d, not yet at %d",
						task->task_id.len, task->task_id.s, task->attempt,
						report->attempt),
				 errhint("Report with the attempt that clutch.claim returned.")));
	/* a waiting task cannot be claimed */
	if ((task->status == TASK_INPUT_REQUIRED || task->status == TASK_SUSPENDED) &&
		report->type == MSG_TASK_ACCEPT)
		return VERDICT_LATE;
	/*
	 * a report without an attempt is about the one that the agent holds now,
	 * if it holds one
	 */
	return has_it ? VERDICT_FITS : VERDICT_LATE;
}

/* Returns what the sender can do instead of requesting the task a second time. */
static const char *
verdict_instead_of_request(const Task *task, const Envelope *request)
{
	bool		is_over = task_status_is_over(task->status);

	if (is_over && task->status != TASK_COMPLETED && verdict_may_steer(task, request->from_agent))
		return "To have it done again, call clutch.retry(task_id); for other work, make a new task_id.";
	if (!is_over && slice_equal(request->from_agent, task->agent_id))
		return "To hand the task over, name one agent in \"to\"; for other work, make a new task_id.";
	if (slice_equal(request->from_agent, task->from_agent))
		return "To send the request again, repeat its envelope with the same id; for other work, make a new task_id.";
	return "Make a new task_id.";
}

void
verdict_check_hand_over(const Task *task, const Envelope *request)
{
	bool		names_agent = request->to_agents.n == 1 &&
		slice_starts(request->to_agents.items[0], SLICE_OF("agent:")) &&
		!slice_is(request->to_agents.items[0], clutch_orchestrator);
	bool		is_over = task_status_is_over(task->status);

	if (!is_over && names_agent && (slice_is(request->from_agent, clutch_orchestrator) ||
									slice_equal(request->from_agent, task->agent_id)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/task_id", "TASK_EXISTS"),
			 errmsg("task \"%.*s\" was requested before and is %s",
					task->task_id.len, task->task_id.s,
					task_status_name(task->status)),
			 errhint("%s", verdict_instead_of_request(task, request))));
}
