/*-------------------------------------------------------------------------
 *
 * keep.c
 *	  Storing the output of a named step once, whoever repeats the step.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/keep.h"
#include "flow/open_work.h"
#include "flow/right.h"
#include "store/redaction.h"
#include "task/output.h"
#include "task/report.h"

/*
 * Returns what the event stored.  output must be equal to that, or null.  If the
 * event was redacted, there is nothing left to compare, and an agent that does
 * the step again must be able to go on.
 */
static Jsonb *
keep_require_same(Slice task_id, Slice name, int64 seq, Jsonb *output)
{
	JsonbValue	null = {.type = jbvNull};
	Jsonb	   *event = event_read(seq, ROWS_LATEST);
	Jsonb	   *kept = output_read(event);

	if (event != NULL && slice_present(redaction_of(event)))
		return kept;
	if (!output_equal(output, kept) && !output_equal(output, document_of_value(&null)))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_STEP_DIFFERS),
				 errproblem("/meta/clutch/step/output", "STEP_DIFFERS"),
				 errmsg("step \"%.*s\" of task \"%.*s\" was kept with another output",
						name.len, name.s, task_id.len, task_id.s),
				 errhint("The output of a step is kept once: read it with clutch.steps before you do the step, or choose another name.")));
	return kept;
}

void
keep_step(const Task *task, const Envelope *progress, int64 seq)
{
	Slice		name = progress->orders.step;
	int64		kept_seq = output_find(task->task_id, name);
	JsonbValue	output = progress->orders.output;

	if (kept_seq == 0)
	{
		output_insert(task->task_id, name, seq);
		open_work_add_step(task->task_id, seq);
	}
	else
		(void) keep_require_same(task->task_id, name, kept_seq, document_of_value(&output));
}

void
keep_replay(const Envelope *progress, int64 seq)
{
	if (output_find(progress->task_id, progress->orders.step) == 0)
		output_insert(progress->task_id, progress->orders.step, seq);
}

/* ----------------------------------------------------------------- sending */

static Jsonb *
keep_order(Slice name, Jsonb *output)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_text(&b, "name", name);
	document_put_jsonb(&b, "output", output);
	return document_end(&b);
}

static Jsonb *
keep_payload(Slice name)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "step");
	document_put_text(&b, "step", name);
	return document_end(&b);
}

/* Does the agent have this attempt of the task now?  0 means any attempt. */
static bool
keep_is_held(const Task *task, Slice agent_id, int attempt)
{
	return !task_status_is_over(task->status) && slice_equal(task->agent_id, agent_id) &&
		(attempt == 0 || attempt == task->attempt);
}

/*
 * Raises an error if the agent no longer holds the task.  It must not go on as
 * if it had stored the step, because what it has written together with the
 * step would then be there twice.
 */
static void
keep_refuse_late(Slice agent_id, Slice task_id)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("task_id", "NOT_HELD"),
			 errmsg("\"%.*s\" does not hold this attempt of task \"%.*s\" any more",
					agent_id.len, agent_id.s, task_id.len, task_id.s),
			 errhint("The step is not kept: drop the task and claim the next.")));
}

Jsonb *
keep_send(Slice agent_id, Slice task_id, Slice name, Jsonb *output, int attempt)
{
	Report		report = {MSG_TASK_PROGRESS, agent_id, .attempt = attempt, .order = "step"};
	Task	   *task = right_look_task(agent_id, task_id);
	int64		kept_seq = output_find(task_id, name);

	if (kept_seq != 0 && keep_is_held(task, agent_id, attempt))
		return keep_require_same(task_id, name, kept_seq, output);
	report.payload = keep_payload(name);
	report.order_value = keep_order(name, output);
	if (report_send(task, &report).late)
		keep_refuse_late(agent_id, task_id);
	return output_read(event_read(output_find(task_id, name), ROWS_LATEST));
}
