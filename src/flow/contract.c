/*-------------------------------------------------------------------------
 *
 * contract.c
 *	  Contracts: what the workflow of a run requires of its tasks.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "base/guard.h"
#include "contract/binding.h"
#include "contract/payload_type.h"
#include "contract/workflow.h"
#include "flow/contract.h"
#include "flow/ending.h"
#include "flow/retry.h"
#include "lib/stringinfo.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "settings.h"

/* ----------------------------------------------------------------- binding */

static void
contract_refuse_workflow(const Envelope *request)
{
	char	   *names = workflow_list_names();

	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/meta/clutch/workflow", "WORKFLOW_NOT_FOUND"),
			 errmsg("workflow \"%.*s\" is not registered", request->orders.workflow.len,
					request->orders.workflow.s),
			 names != NULL ? errhint("The registered workflows are %s.", names) :
			 errhint("Ask an operator to run SELECT clutch.register_workflow(workflow).")));
}

static void
contract_refuse_other(const Envelope *request, const RunBinding *bound)
{
	if (bound != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/meta/clutch/workflow", "WORKFLOW_MISMATCH"),
				 errmsg("run \"%.*s\" is bound to version %d of workflow \"%.*s\"",
						request->run_id.len, request->run_id.s, bound->version,
						bound->workflow.len, bound->workflow.s),
				 errhint("Leave the workflow out, or begin another run.")));
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/meta/clutch/workflow", "WORKFLOW_MISMATCH"),
			 errmsg("run \"%.*s\" was begun without a workflow", request->run_id.len,
					request->run_id.s),
			 errhint("Name the workflow in the first request of a run.")));
}

/*
 * Binds the run to the version that is asked for, which is filled in if it is
 * the newest one.  *is_news is set to false if another transaction has just
 * bound the run.  Returns false if no such version is registered.
 */
static bool
contract_bind_run(Slice run_id, RunBinding *asked, WorkflowState state, bool *is_news)
{
	uint64		guard = workflow_binding_guard(asked->workflow);
	Workflow	workflow;
	bool		found;

	guard_take(guard);
	found = asked->version >= 0 &&
		workflow_find(asked->workflow, asked->version, state, &workflow);
	if (found)
	{
		asked->version = (int) workflow.version;
		*is_news = binding_set(run_id, asked);
	}
	guard_release(guard);
	return found;
}

/*
 * Checks a request of a run that is bound already; it may name the workflow
 * again.
 */
static void
contract_compare_workflow(const Envelope *request, const RunBinding *asked, const RunBinding *bound)
{
	Workflow	workflow;

	if (asked->version < 0 || !workflow_find(asked->workflow, asked->version, WORKFLOW_ANY, &workflow))
		contract_refuse_workflow(request);
	if (!slice_equal(asked->workflow, bound->workflow) ||
		(asked->version > 0 && asked->version != bound->version))
		contract_refuse_other(request, bound);
}

bool
contract_bind(const Envelope *request, bool run_has_tasks)
{
	RunBinding	asked;
	RunBinding	bound;
	bool		is_news = false;

	workflow_split_name(request->orders.workflow, &asked.workflow, &asked.version);
	while (!is_news)
	{
		RunBinding	next = asked;

		if (binding_await_run(request->run_id, &bound))
		{
			contract_compare_workflow(request, &asked, &bound);
			return false;
		}
		if (run_has_tasks)
			contract_refuse_other(request, NULL);
		if (!contract_bind_run(request->run_id, &next, WORKFLOW_REGISTERED, &is_news))
			contract_refuse_workflow(request);
	}
	return true;
}

void
contract_confirm(const Task *task, const Envelope *request)
{
	int64		last;

	if (task == NULL)
		binding_forget_run(request->run_id);
	else if (task_count_requested(task->run_id, 0, task->request_seq - 1, 1, ROWS_DIRTY, &last) > 0)
		contract_refuse_other(request, NULL);
}

/*
 * Returns false if the run is not bound, or to a definition that this database
 * does not have.
 */
static bool
contract_workflow_of_run(Slice run_id, Workflow *workflow)
{
	RunBinding	binding;

	return binding_of_run(run_id, &binding) &&
		workflow_find(binding.workflow, binding.version, WORKFLOW_ANY, workflow);
}

/* ------------------------------------------------------------------- steps */

static void
contract_refuse_step(const Envelope *request, const Workflow *workflow)
{
	Slice		step = request->orders.step_of;

	if (workflow == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/meta/clutch/step_of", "STEP_NOT_FOUND"),
				 errmsg("run \"%.*s\" has no workflow, and so no step \"%.*s\"",
						request->run_id.len, request->run_id.s, step.len, step.s),
				 errhint("Name a workflow in meta.clutch.workflow of the first request of the run.")));
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/meta/clutch/step_of", "STEP_NOT_FOUND"),
			 errmsg("workflow \"%.*s\" has no step \"%.*s\"", workflow->name.len, workflow->name.s,
					step.len, step.s),
			 errhint("Its steps are %s.", workflow_list_steps(workflow))));
}

/* Returns NULL if the request does not determine its step. */
static const WorkflowStep *
contract_step_of_request(const Envelope *request, const Workflow *workflow)
{
	if (slice_present(request->orders.step_of))
		return workflow_step(workflow, request->orders.step_of);
	return workflow_step_of_payload(workflow, MSG_TASK_REQUEST, request->payload_type);
}

static const WorkflowStep *
contract_step_of_report(const TaskBinding *bound, const Workflow *workflow, const Envelope *report)
{
	if (slice_present(bound->step))
		return workflow_step(workflow, bound->step);
	return workflow_step_of_payload(workflow, report->type, report->payload_type);
}

/* Is there a task of the run that does the step and is not over? */
static bool
contract_is_being_done(Slice run_id, Slice step)
{
	ListCell   *cell;

	foreach(cell, binding_list_step(run_id, step))
		if (task_is_open(*(Slice *) lfirst(cell)))
			return true;
	return false;
}

/* Does one of these tasks, for which a request waits, do the step in its run? */
static bool
contract_is_awaited(Slice run_id, Slice step, const SliceList *awaited)
{
	for (int i = 0; awaited != NULL && i < awaited->n; i++)
	{
		TaskBinding task;

		if (binding_of_task(awaited->items[i], &task) &&
			slice_equal(task.step, step) && slice_equal(task.run_id, run_id))
			return true;
	}
	return false;
}

/*
 * May a later step begin?  It may if this step is done, or if the request
 * waits for a task of it.  An optional step may also have been left out, or
 * have failed.  Every request of the later step asks this, so all tasks of
 * this step are read only if none has done it.
 */
static bool
contract_is_settled(Slice run_id, const WorkflowStep *before, const SliceList *awaited)
{
	return contract_is_awaited(run_id, before->id, awaited) ||
		binding_step_is_met(run_id, before->id) ||
		(before->is_optional && !contract_is_being_done(run_id, before->id));
}

/* Returns the first step before this one that is not settled, or NULL. */
static const WorkflowStep *
contract_step_before(Slice run_id, const Workflow *workflow, const WorkflowStep *step,
					 const SliceList *awaited)
{
	int			i;

	for (i = 0; i < step->after.n; i++)
	{
		const WorkflowStep *before = workflow_step(workflow, step->after.items[i]);

		if (before != NULL && !contract_is_settled(run_id, before, awaited))
			return before;
	}
	return NULL;
}

static void
contract_check_order(const Envelope *request, const Workflow *workflow, const WorkflowStep *step)
{
	const WorkflowStep *before = contract_step_before(request->run_id, workflow, step,
													  &request->orders.after);

	if (before == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem(slice_present(request->orders.step_of) ? "/meta/clutch/step_of" : "/payload_type",
						"STEP_OUT_OF_ORDER"),
			 errmsg("step \"%.*s\" comes after step \"%.*s\", which has not been done",
					step->id.len, step->id.s, before->id.len, before->id.s),
			 errhint("Name a task of that step in meta.clutch.after, or send the request when the step is done.")));
}

void
contract_begin(const Task *task, const Envelope *request)
{
	RunBinding	binding;
	Workflow	workflow;
	const WorkflowStep *step;

	if (!slice_present(request->orders.workflow) && !binding_await_run(task->run_id, &binding))
	{
		if (slice_present(request->orders.step_of))
			contract_refuse_step(request, NULL);
		return;
	}
	if (!contract_workflow_of_run(task->run_id, &workflow))
		return;
	step = contract_step_of_request(request, &workflow);
	if (step == NULL && slice_present(request->orders.step_of))
		contract_refuse_step(request, &workflow);
	if (step != NULL)
		contract_check_order(request, &workflow, step);
	binding_add_task(task->task_id, task->run_id, step != NULL ? step->id : SLICE_NONE);
}

void
contract_replay(const Task *task, const Envelope *request)
{
	RunBinding	binding;
	Workflow	workflow;
	const WorkflowStep *step;

	if (slice_present(request->orders.workflow) && !binding_of_run(task->run_id, &binding))
	{
		WorkflowState state;
		bool		is_news;

		workflow_split_name(request->orders.workflow, &binding.workflow, &binding.version);
		/* a version that is named was registered when the request came */
		state = binding.version > 0 ? WORKFLOW_ANY : WORKFLOW_REGISTERED;
		if (!contract_bind_run(task->run_id, &binding, state, &is_news))
			return;
	}
	if (!contract_workflow_of_run(task->run_id, &workflow))
		return;
	step = contract_step_of_request(request, &workflow);
	binding_add_task(task->task_id, task->run_id, step != NULL ? step->id : SLICE_NONE);
}

/* ------------------------------------------------------------- the contract */

static void
contract_find_missing(const WorkflowStep *step, const Envelope *report, ProblemList *faults)
{
	DocumentPlace payload = {NULL, SLICE_OF("payload")};
	int			i;

	for (i = 0; i < step->required.n; i++)
	{
		Slice		key = step->required.items[i];
		DocumentPlace place = {&payload, key};
		JsonbValue	value;

		if (!document_get(report->payload.val.binary.data, slice_cstring(key), &value))
			place_fault(&place, faults, "CONTRACT_BROKEN",
						"is missing; step \"%.*s\" of the workflow requires it.",
						step->id.len, step->id.s);
	}
}

/*
 * Checks the payload against its registered schema, unless that is switched
 * off.
 */
static void
contract_check_schema(const Envelope *report, ProblemList *faults)
{
	const PayloadType *type = slice_present(report->payload_type) ? payload_type_find(report->payload_type, 0) : NULL;

	if (type != NULL && type->enforcement != ENFORCE_OFF)
		(void) payload_type_check(type, &report->payload, "/payload", faults);
}

/* Returns everything that keeps the report from completing the step. */
static ProblemList *
contract_find_faults(const Task *task, const Workflow *workflow, const WorkflowStep *step,
					 const Envelope *report, bool knew_step)
{
	ProblemList *faults = problem_list();
	DocumentPlace place = {NULL, SLICE_OF("payload_type")};
	const WorkflowStep *before = knew_step ? NULL :
		contract_step_before(task->run_id, workflow, step, NULL);

	if (before != NULL)
		place_fault(&place, faults, "CONTRACT_BROKEN",
					"is that of step \"%.*s\", which comes after step \"%.*s\"; that has not been done.",
					step->id.len, step->id.s, before->id.len, before->id.s);
	if (slice_present(step->payload_type) && !slice_equal(step->payload_type, report->payload_type))
		place_fault(&place, faults, "CONTRACT_BROKEN",
					"is %s; step \"%.*s\" of the workflow expects \"%.*s\".",
					slice_present(report->payload_type) ? place_quote(report->payload_type) : "missing",
					step->id.len, step->id.s, step->payload_type.len, step->payload_type.s);
	else
		contract_check_schema(report, faults);
	contract_find_missing(step, report, faults);
	return faults;
}

/*
 * Returns the names of required steps that no task has done or is doing, or
 * NULL if there are none.
 */
static char *
contract_list_undone(Slice run_id, const Workflow *workflow)
{
	StringInfoData ids;
	int			i;

	initStringInfo(&ids);
	for (i = 0; i < workflow->nsteps; i++)
	{
		const WorkflowStep *step = &workflow->steps[i];

		if (!step->is_optional && !binding_step_is_met(run_id, step->id) && !contract_is_being_done(run_id, step->id))
			appendStringInfo(&ids, "%s%.*s", ids.len > 0 ? ", " : "", step->id.len, step->id.s);
	}
	return ids.len > 0 ? ids.data : NULL;
}

/*
 * Fails a task whose result would end the run although a required step has not
 * been done, and returns whether it has.  The result of a root task that has
 * children and does no step itself ends the run.
 */
static bool
contract_leaves_undone(Task *task, const Workflow *workflow, const Envelope *report)
{
	char	   *undone;

	if (report->type != MSG_TASK_RESULT || slice_present(task->parent_task_id) ||
		task_list_children(task->task_id, ROWS_LATEST) == NIL)
		return false;
	undone = contract_list_undone(task->run_id, workflow);
	if (undone == NULL)
		return false;
	ending_fail(task, "WORKFLOW_INCOMPLETE",
				psprintf("required steps of workflow \"%.*s\" have not been done: %s",
						 workflow->name.len, workflow->name.s, undone));
	return true;
}

bool
contract_binds(const Envelope *report, TaskBinding *bound)
{
	return (report->type == MSG_TASK_RESULT || report->type == MSG_TASK_PROGRESS) &&
		binding_of_task(report->task_id, bound);
}

bool
contract_ends_attempt(Task *task, const Envelope *report, TaskBinding *bound)
{
	Workflow	workflow;
	const WorkflowStep *step;
	ProblemList *faults;

	if (!contract_workflow_of_run(task->run_id, &workflow))
		return false;
	step = contract_step_of_report(bound, &workflow, report);
	if (step == NULL)
		return contract_leaves_undone(task, &workflow, report);
	if (!workflow_step_concerns(step, report->type, report->payload_type))
		return false;
	faults = contract_find_faults(task, &workflow, step, report, slice_present(bound->step));
	if (faults->n == 0)
		return false;
	if (binding_count_fault(bound, task->attempt) < clutch_max_contract_faults)
		problem_raise(faults, ERRCODE_CLUTCH_CONTRACT_BROKEN, "result");
	ending_break_contract(task, faults, step->id);
	(void) retry_after_contract(task);
	return true;
}

void
contract_note(const Envelope *report, TaskBinding *bound, int64 seq)
{
	Workflow	workflow;
	const WorkflowStep *step;

	if (bound->met_seq != 0 || !contract_workflow_of_run(bound->run_id, &workflow))
		return;
	step = contract_step_of_report(bound, &workflow, report);
	if (step == NULL || !workflow_step_concerns(step, report->type, report->payload_type))
		return;
	bound->step = step->id;
	bound->met_seq = seq;
	binding_save_task(bound);
}
