/*-------------------------------------------------------------------------
 *
 * intake.c
 *	  What a task event does: judged under the task's lock, then applied.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "base/rows.h"
#include "flow/assign.h"
#include "flow/budget.h"
#include "flow/cancel.h"
#include "flow/claim.h"
#include "flow/dependency.h"
#include "flow/ending.h"
#include "flow/intake.h"
#include "flow/join.h"
#include "flow/lift.h"
#include "flow/liveness.h"
#include "flow/retry.h"
#include "miscadmin.h"
#include "queue/question.h"
#include "queue/ready.h"
#include "queue/timer.h"
#include "registry/breaker.h"
#include "registry/slot.h"
#include "settings.h"
#include "store/dedup.h"
#include "store/scope.h"
#include "store/spending.h"
#include "task/verdict.h"
#include "utils/timestamp.h"

/* ---------------------------------------------------------------- requests */

/*
 * Walks up from the parent.  Called with our own row written, so that of two
 * requests which name each other as parents one sees the other; a parent
 * that is not committed yet is waited for.  A parent nobody requested so far
 * is accepted: its own request will walk up in turn.  The walk ends where
 * all that is above was there before what is below.
 */
static void
check_ancestors(const Envelope *request)
{
	Slice		ancestor = request->parent_task_id;

	while (slice_present(ancestor))
	{
		Task	   *task = task_await(ancestor);

		CHECK_FOR_INTERRUPTS();
		if (task == NULL)
			return;
		if (!slice_equal(task->run_id, request->run_id))
			ereport(ERROR,
					(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
					 errproblem("/parent_task_id", "PARENT_IN_OTHER_RUN"),
					 errmsg("parent task \"%.*s\" belongs to run \"%.*s\", not to \"%.*s\"",
							ancestor.len, ancestor.s, task->run_id.len, task->run_id.s,
							request->run_id.len, request->run_id.s),
					 errhint("All subtasks share the run of their parent (spec 1.3).")));
		if (slice_equal(task->parent_task_id, request->task_id))
			ereport(ERROR,
					(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
					 errproblem("/parent_task_id", "CYCLE"),
					 errmsg("task \"%.*s\" would stand in a cycle below \"%.*s\"",
							request->task_id.len, request->task_id.s, ancestor.len,
							ancestor.s),
					 errhint("A task cannot be its own ancestor: name another parent.")));
		if (task->depth >= 0)
			return;
		ancestor = task->parent_task_id;
	}
}

/* the same rule from the other end: children that came before their parent; are there any? */
static bool
check_children(const Envelope *request)
{
	bool		any;
	Slice		child = task_child_elsewhere(request->task_id, request->run_id, &any);

	if (slice_present(child))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/run_id", "PARENT_IN_OTHER_RUN"),
				 errmsg("task \"%.*s\" was named as the parent of \"%.*s\", which belongs to another run than \"%.*s\"",
						request->task_id.len, request->task_id.s, child.len, child.s,
						request->run_id.len, request->run_id.s),
				 errhint("All subtasks share the run of their parent (spec 1.3).")));
	return any;
}

static void
take_second_request(Event *event, Task *task)
{
	const Envelope *request = &event->envelope;

	verdict_check_run(task, request->run_id);
	event->late = verdict_on_request(task, request) == VERDICT_LATE;
	event->scope = task->scope;
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	/* handed to who has it already: said again, and nothing changes */
	if (!event->late && !slice_equal(task->agent_id, request->to_agents.items[0]))
		assign_hand_over(task, request, event->seq, event->received_at);
	event->attempt = task->attempt;
}

/* what it belongs to and waits for, then who gets it */
static void
begin(Task *task, const Envelope *request, bool has_children, TimestampTz at)
{
	Task	   *parent = slice_present(task->parent_task_id) ? task_name(task->parent_task_id) : NULL;
	DependencyState state;

	join_begin(task, parent);
	state = dependency_begin(task, request);
	if (cancel_orphan(task, parent))
		return;
	if (state == DEPENDENCY_FAILED)
		ending_fail(task, "DEPENDENCY_FAILED", "a task that it waits for is over, and not completed");
	else
		assign_new(task, request, at);
	lift_for_who_waits(task);
	if (state == DEPENDENCY_OPEN || has_children)
		lift_what_it_waits_for(task);
	if (task->join != JOIN_NONE && parent != NULL && parent->priority > task->priority)
		lift_what_it_waits_for(parent);
}

bool
intake_request(Event *event)
{
	const Envelope *request = &event->envelope;
	int			depth = task_depth_below(request->parent_task_id);
	bool		has_children;
	Task	   *task;

	if (dedup_seen(event))
		return false;
	for (;;)
	{
		task = task_lock_requested(request->task_id);
		if (task != NULL)
		{
			take_second_request(event, task);
			return true;
		}
		event->scope = scope_of_request(request,
										slice_present(request->orders.scope) &&
										task_run_has_any(request->run_id));
		event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
		task = task_create(request, event->scope, depth, event->seq, event->received_at);
		if (task != NULL)
			break;
	}
	check_ancestors(request);
	has_children = check_children(request);
	budget_set(request, event->seq);
	event->attempt = request->attempt;
	begin(task, request, has_children, event->received_at);
	return true;
}

/* ----------------------------------------------------------------- reports */

/* the agent is heard: it holds the task for as long again as it claimed it */
static void
renew_lease(Task *task, TimestampTz at)
{
	TimestampTz until;

	if (task->lease == 0)
		task->lease = (int64) clutch_default_lease * USECS_PER_SEC;
	until = claim_lease_end(task, at + task->lease);
	if (task->lease_until < until)
		task->lease_until = until;
	timer_set(task);
}

static void
describe(const Envelope *report, TaskEvent *event)
{
	JsonbContainer *payload = report->payload.val.binary.data;

	if (report->type == MSG_TASK_ERROR)
	{
		event->code = document_get_text(payload, "code");
		event->detail = document_get_text(payload, "message");
	}
	else if (report->type == MSG_TASK_CANCEL)
		event->detail = document_get_text(payload, "reason");
}

static void
apply_report(Event *event, Task *task)
{
	const Envelope *report = &event->envelope;
	TaskEvent	step = {STEP_ACCEPT, event->seq, event->received_at, report->from_agent};
	Slice		freed = SLICE_NONE;

	(void) task_step_of(report->type, MOVE_NONE, &step.step);
	question_step(report, &step);
	describe(report, &step);
	switch (step.step)
	{
		case STEP_ACCEPT:
		case STEP_PROGRESS:
			if (task->status == TASK_ASSIGNED)
			{
				ready_remove(task);
				step.wake_at = claim_runtime_end(task, event->received_at);
			}
			task_apply(task, &step);
			if (task->status == TASK_RUNNING)
				renew_lease(task, event->received_at);
			break;
		case STEP_PARK:
			freed = assign_withdraw(task, OUTCOME_NONE);
			task_apply(task, &step);
			question_put(task);
			timer_set(task);
			break;
		default:
			if (step.step != STEP_CANCEL)
				breaker_count(task->agent_id, event->seq, event->received_at,
							  step.step == STEP_ERROR ? BREAKER_FAILED : BREAKER_DONE);
			freed = assign_withdraw(task, step.step == STEP_RESULT ? OUTCOME_DONE :
									step.step == STEP_ERROR ? OUTCOME_FAILED : OUTCOME_NONE);
			task_apply(task, &step);
			if (step.step == STEP_ERROR)
				(void) retry_after_error(task, report);
			break;
	}
	task_save(task);
	if (step.step == STEP_CANCEL)
		cancel_descendants(task);
	if (slice_present(freed))
		assign_offer(freed);
	ending_tell(task);
}

static Task *
lock_for(const Envelope *report)
{
	if (report->type == MSG_TASK_CANCEL)
		return task_lock_to_cancel(report->task_id);
	if (report->type == MSG_TASK_RESULT || report->type == MSG_TASK_ERROR)
		return task_lock_to_end(report->task_id, true);
	return task_lock(report->task_id, true);
}

/* a sign of life; who was lost is given work again, and what ends then tells its parent */
static Task *
hear(const Envelope *report, Task *task)
{
	uint64		changes = task_changes();

	liveness_sign(report->from_agent, false);
	return task_changes() == changes ? task : task_lock(report->task_id, true);
}

bool
intake_report(Event *event)
{
	const Envelope *report = &event->envelope;
	Task	   *task;

	/* the guard of the id before the lock of the task: send_batch relies on it */
	if (dedup_seen(event))
		return false;
	task = lock_for(report);
	if (task == NULL)
		verdict_task_not_found(report->task_id, "/task_id");
	verdict_check_run(task, report->run_id);
	event->late = verdict_on_report(task, report) == VERDICT_LATE;
	event->attempt = report->has_attempt ? report->attempt : task->attempt;
	event->scope = task->scope;
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	/* the money is spent, late or not; but not by who never had the task */
	if (task_was_with(task, report->from_agent))
		spending_charge(report, event->seq);
	if (slice_equal(report->from_agent, task->agent_id))
		task = hear(report, task);
	if (!event->late)
		apply_report(event, task);
	return true;
}
