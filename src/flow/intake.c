/*-------------------------------------------------------------------------
 *
 * intake.c
 *	  Taking task events in: each is judged under the lock of its task, and
 *	  then applied.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "contract/binding.h"
#include "flow/assign.h"
#include "flow/budget.h"
#include "flow/cancel.h"
#include "flow/contract.h"
#include "flow/dependency.h"
#include "flow/ending.h"
#include "flow/intake.h"
#include "flow/join.h"
#include "flow/keep.h"
#include "flow/lift.h"
#include "flow/liveness.h"
#include "flow/move.h"
#include "flow/open_work.h"
#include "flow/retry.h"
#include "flow/right.h"
#include "flow/suspend.h"
#include "flow/ticker.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "queue/timer.h"
#include "settings.h"
#include "store/dedup.h"
#include "store/scope.h"
#include "store/spending.h"
#include "store/visibility.h"
#include "task/verdict.h"
#include "utils/timestamp.h"

/* ---------------------------------------------------------------- requests */

/*
 * Walks up from the parent.  This must be called after our own row has been
 * written, so that of two requests that name each other as parents, at least
 * one sees the other; a parent that is not committed yet is waited for.  A
 * parent that has not been requested is accepted, because its own request will
 * walk up in turn.  The walk ends at a task whose ancestors all existed before
 * it.
 */
static void
intake_check_ancestors(const Envelope *request)
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
					 errmsg("parent task \"%.*s\" does not belong to run \"%.*s\"",
							ancestor.len, ancestor.s, request->run_id.len, request->run_id.s),
					 errhint("A subtask belongs to the run of its parent: name that run, or leave run_id out of clutch.envelope, which takes it from the parent.")));
		if (slice_equal(ancestor, request->parent_task_id))
			right_require_to_name(request, task, "/parent_task_id");
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

/*
 * Applies the same rule to children that were requested before their parent.
 * Returns whether there are any.
 */
static bool
intake_check_children(const Envelope *request)
{
	bool		any;
	Slice		child = task_child_elsewhere(request->task_id, request->run_id, &any);

	if (slice_present(child))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/run_id", "PARENT_IN_OTHER_RUN"),
				 errmsg("task \"%.*s\" was named as a parent in another run than \"%.*s\"",
						request->task_id.len, request->task_id.s,
						request->run_id.len, request->run_id.s),
				 errhint("A subtask belongs to the run of its parent: request the task in the run of its subtasks, or make a new task_id.")));
	return any;
}

/*
 * Handles a second request for an existing task, which is a hand-over or is
 * refused.
 */
static void
intake_take_second_request(Event *event, Task *task)
{
	const Envelope *request = &event->envelope;

	verdict_check_run(task, request->run_id);
	verdict_check_hand_over(task, request);
	/* these are refused unless they are those of the run */
	(void) scope_of_request(request, true);
	visibility_set(request, true);
	event->scope = task->scope;
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	/* a repetition that names the agent that has the task changes nothing */
	if (!slice_equal(task->agent_id, request->to_agents.items[0]))
		assign_hand_over(task, request, event->seq, event->received_at);
	event->attempt = task->attempt;
	event->assigned_to = task->agent_id;
}

static void
intake_route_or_hold(Task *task, const Envelope *request, DependencyState state, TimestampTz at)
{
	if (state == DEPENDENCY_FAILED)
		dependency_fail(task);
	else if (task_is_held(task))
	{
		timer_set(task);
		task_save(task);
	}
	else
		assign_new(task, request, at);
}

/*
 * Records what the new task belongs to and waits for, and then finds the agent
 * that gets it.
 */
static void
intake_begin_task(Task *task, const Envelope *request, bool has_children, TimestampTz at)
{
	Task	   *parent = slice_present(task->parent_task_id) ?
		task_look(task->parent_task_id, ROWS_LATEST) : NULL;
	DependencyState state;

	join_begin(task, parent);
	state = dependency_begin(task, request);
	if (parent != NULL && cancel_orphan(task))
		return;
	intake_route_or_hold(task, request, state, at);
	lift_for_waiters(task);
	if (state == DEPENDENCY_OPEN || has_children)
		lift_awaited(task);
	if (parent != NULL && !task_status_is_over(parent->status))
		lift_child(task, parent);
}

/*
 * Creates the row of a new task, with the scope and seq of the event.  Returns
 * NULL if the task already exists.  That is rare, so we do not look for it
 * first, unless the request names a scope, a visibility or a workflow, which
 * count only for a new task.
 */
static Task *
intake_request_create(Event *event, int depth)
{
	const Envelope *request = &event->envelope;
	bool		names_workflow = slice_present(request->orders.workflow);
	bool		is_named = slice_present(request->orders.scope) || names_workflow ||
		request->orders.visibility != VISIBILITY_UNSAID;
	RunBinding	binding;
	bool		run_has_tasks;
	bool		binds;
	Task	   *task;

	if (is_named && task_lock_requested(request->task_id) != NULL)
		return NULL;
	if (is_named)
	{
		scope_await(request->run_id);
		visibility_await(request->run_id);
	}
	/* a prune may be removing this, and the tasks as well */
	if (names_workflow)
		(void) binding_await_run(request->run_id, &binding);
	run_has_tasks = is_named && task_run_has_any(request->run_id);
	event->scope = scope_of_request(request, run_has_tasks);
	visibility_set(request, run_has_tasks);
	binds = names_workflow && contract_bind(request, run_has_tasks);
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	task = task_create(request, event->scope, depth, event->seq, event->received_at);
	if (binds)
		contract_confirm(task, request);
	return task;
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
	while ((task = intake_request_create(event, depth)) == NULL)
	{
		Task	   *existing = task_lock(request->task_id);

		/* while we waited for the lock, a prune may have removed it */
		if (existing == NULL)
			continue;
		intake_take_second_request(event, existing);
		return true;
	}
	open_work_add_request(request->task_id, event->seq, "");
	intake_check_ancestors(request);
	has_children = intake_check_children(request);
	budget_set(request, event->seq);
	contract_begin(task, request);
	if (request->orders.has_deadline)
		ticker_warn(_("A deadline is noticed only when something ticks, an idle agent claims, or the agent reports."));
	event->attempt = request->attempt;
	intake_begin_task(task, request, has_children, event->received_at);
	if (task->status == TASK_ASSIGNED)
		event->assigned_to = task->agent_id;
	return true;
}

/* ----------------------------------------------------------------- reports */

/*
 * Renews the lease: having been heard of, the agent holds the task for as long
 * again as it had claimed it for.  runtime_end is for a task that begins with
 * this report.
 */
static void
intake_renew_lease(Task *task, TimestampTz at, TimestampTz runtime_end)
{
	int64		lease = task->lease != 0 ? task->lease :
		(int64) clutch_default_lease * USECS_PER_SEC;
	TimestampTz had_until = task->lease_until;

	move_lease(task, at, lease, runtime_end);
	task->lease_until = Max(task->lease_until, had_until);
}

static void
intake_apply_report(Event *event, Task *task)
{
	TaskEvent	step;

	(void) step_read(&event->envelope, event->seq, event->received_at, &step);
	if (step.step == STEP_SUSPEND)
		suspend_check(&event->envelope);
	if (step.step == STEP_SUSPEND && step.wake_at != 0)
		ticker_warn(_("The task is woken at its time only if something ticks then, or an idle agent claims."));
	if (step.step == STEP_KEEP)
		keep_step(task, &event->envelope, event->seq);
	if (step.step == STEP_ACCEPT || step.step == STEP_PROGRESS || step.step == STEP_KEEP)
	{
		bool		begins = task->status == TASK_ASSIGNED;

		if (begins)
			step.wake_at = move_runtime_end(task, step.at);
		if (begins || task->status == TASK_RUNNING)
			intake_renew_lease(task, step.at, begins ? step.wake_at : task->wake_at);
	}
	(void) move_task(task, NULL, &step);
	if (step.step == STEP_SUSPEND)
		lift_children(task);
	if (step.step == STEP_ERROR)
		(void) retry_after_error(task, &event->envelope);
}

/* Does the report end the work of its attempt, for good or until it is woken? */
static bool
intake_gives_up(const Envelope *report)
{
	return report->type == MSG_TASK_RESULT || report->type == MSG_TASK_ERROR ||
		(report->type == MSG_TASK_PROGRESS && (report->asks || report->orders.wait.is_set));
}

/* Returns the seq of the report by which the task has come to rest, or 0. */
static int64
intake_seq_at_rest(const Task *task)
{
	return task->status == TASK_INPUT_REQUIRED ? task->question_seq :
		task->status == TASK_SUSPENDED ? task->wait_seq : task->result_seq;
}

/*
 * Does it repeat the result, error, question or suspension that counted?  Its
 * sender has not seen the acknowledgement, and must be told that it is a
 * duplicate.
 */
static bool
intake_is_repeated(const Event *event, const Task *task)
{
	const Envelope *report = &event->envelope;
	int			attempt = report->has_attempt ? report->attempt : task->attempt;
	int64		seq = intake_seq_at_rest(task);

	if ((!event->late && seq == 0) || !intake_gives_up(report))
		return false;
	if (attempt < task->attempt)
		return dedup_report_seen(event, attempt, 0);
	return seq != 0 && dedup_report_seen(event, attempt, seq);
}

bool
intake_report(Event *event)
{
	const Envelope *report = &event->envelope;
	TaskBinding bound;
	bool		is_bound;
	Task	   *task;

	/*
	 * take the guard of the id before the lock of the task; send_batch relies
	 * on this order
	 */
	if (dedup_seen(event))
		return false;
	task = task_lock(report->task_id);
	verdict_require_in_run(task, report->task_id, report->run_id);
	(void) ending_at_deadline(task, event->received_at);
	event->late = verdict_on_report(task, report) == VERDICT_LATE;
	if (intake_is_repeated(event, task))
		return false;
	event->attempt = report->has_attempt ? report->attempt : task->attempt;
	is_bound = !event->late && contract_binds(report, &bound);
	if (is_bound)
		event->late = contract_ends_attempt(task, report, &bound);
	event->scope = task->scope;
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	/* the money is spent, late or not, unless the agent never had the task */
	if (task_was_with(task, report->from_agent))
		spending_charge(report, event->seq, event->received_at);
	if (slice_equal(report->from_agent, task->agent_id))
		liveness_sign(report->from_agent, false);
	if (event->late)
		return true;
	if (is_bound)
		contract_note(report, &bound, event->seq);
	intake_apply_report(event, task);
	return true;
}

bool
intake_was_seen(Event *event)
{
	const Envelope *report = &event->envelope;
	Task	   *task;

	if (dedup_seen(event))
		return true;
	task = message_type_is_task(report->type) && report->type != MSG_TASK_REQUEST ? task_look(report->task_id, ROWS_LATEST) : NULL;
	if (task == NULL || !slice_equal(task->run_id, report->run_id))
		return false;
	event->late = verdict_on_report(task, report) == VERDICT_LATE;
	return intake_is_repeated(event, task);
}
