/*-------------------------------------------------------------------------
 *
 * answer.c
 *	  Answers to the questions of tasks, which are chat.messages.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/answer.h"
#include "flow/ending.h"
#include "flow/requeue.h"
#include "flow/right.h"
#include "registry/roster.h"
#include "settings.h"
#include "store/dedup.h"
#include "task/report.h"
#include "task/task_row.h"
#include "task/verdict.h"

/*
 * Has its question been answered, without the task having been claimed since?
 */
static bool
answer_just_answered(TaskStatus status, ClaimReason reason)
{
	return (status == TASK_PENDING || status == TASK_ASSIGNED) && reason == CLAIM_RESUMED;
}

bool
answer_concerns(const Envelope *message)
{
	bool		concerns = false;
	RowScan		scan;

	if (message->type != MSG_CHAT_MESSAGE)
		return false;
	if (slice_present(message->orders.answer_to))
		return true;
	if (!rows_table_was_used(TABLE_QUESTION))
		return false;
	rows_begin(&scan, TABLE_TASK, INDEX_TASK, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, message->task_id);
	rows_start(&scan);
	if (rows_next(&scan) && slice_equal(rows_text(&scan, Anum_task_run_id), message->run_id))
	{
		TaskStatus	status = task_row_status(&scan);

		concerns = status == TASK_INPUT_REQUIRED ||
			answer_just_answered(status, claim_reason_parse(rows_text(&scan, Anum_task_reason)));
	}
	rows_end(&scan);
	return concerns;
}

/* --------------------------------------------------------------- who may */

static bool
answer_is_in_group(Slice agent_id, Slice group_id)
{
	const RosterAgent *agent = roster_look(agent_id);

	return agent != NULL && slices_have(agent->card.groups, group_id);
}

/*
 * Raises an error unless the agent may answer.  By default a question goes to
 * the agent that requested the task, and anybody may answer it first; a
 * question that is addressed to others may be answered only by them.
 */
static void
answer_require_asked(const Task *task, const Envelope *question, Slice agent_id)
{
	bool		is_open = true;
	int			i;

	if (slice_equal(agent_id, task->from_agent) ||
		slice_is(agent_id, clutch_orchestrator))
		return;
	for (i = 0; i < question->to_agents.n; i++)
	{
		Slice		asked = question->to_agents.items[i];

		if (slice_equal(asked, agent_id) || answer_is_in_group(agent_id, asked))
			return;
		if (!slice_equal(asked, task->from_agent) &&
			!slice_is(asked, clutch_orchestrator))
			is_open = false;
	}
	if (!is_open || !right_sees_task(agent_id, task))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/from/agent_id", "NOT_ASKED"),
				 errmsg("\"%.*s\" was not asked by task \"%.*s\"",
						agent_id.len, agent_id.s, task->task_id.len, task->task_id.s),
				 errhint("Only agents to which the question is addressed and the one that requested the task can answer it.")));
}

/* ---------------------------------------------------------------- judging */

typedef enum AnswerVerdict
{
	ANSWER_FITS,
	ANSWER_LATE,
	ANSWER_NONE					/* it is an ordinary message */
} AnswerVerdict;

static AnswerVerdict
answer_judge(const Task *task, const Envelope *message)
{
	Slice		answer_to = message->orders.answer_to;
	Jsonb	   *document;
	Envelope	question;

	/* the agent that asked may answer only if it has requested the task itself, and says so */
	if (slice_equal(message->from_agent, task->agent_id) &&
		!(slice_present(answer_to) && slice_equal(task->agent_id, task->from_agent)))
		return slice_present(answer_to) ? ANSWER_LATE : ANSWER_NONE;
	if (task->status != TASK_INPUT_REQUIRED)
		return slice_present(answer_to) || answer_just_answered(task->status, task->reason) ?
			ANSWER_LATE : ANSWER_NONE;

	document = event_read(task->question_seq, ROWS_LATEST);
	if (document == NULL)
		return ANSWER_NONE;
	envelope_read_admitted(document, &question, problem_list());
	if (slice_present(answer_to) && !slice_equal(answer_to, question.id))
		return ANSWER_LATE;
	answer_require_asked(task, &question, message->from_agent);
	return ANSWER_FITS;
}

bool
answer_take(Event *event)
{
	const Envelope *message = &event->envelope;
	AnswerVerdict verdict = ANSWER_NONE;
	Task	   *task;

	if (dedup_seen(event))
		return false;
	task = task_lock(message->task_id);
	verdict_require_in_run(task, message->task_id, message->run_id);
	(void) ending_at_deadline(task, event->received_at);
	verdict = answer_judge(task, message);
	event->late = verdict == ANSWER_LATE;
	event->scope = task->scope;
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	if (verdict == ANSWER_FITS)
		requeue_resume(task, event->seq, message->id);
	return true;
}

Receipt
answer_send(Slice from_agent, Slice task_id, Jsonb *payload)
{
	Task	   *task = right_look_task(from_agent, task_id);
	Report		answer = {MSG_CHAT_MESSAGE, from_agent, .payload = payload, .order = "answer_to"};
	Jsonb	   *question;

	question = task->question_seq ? event_read(task->question_seq, ROWS_LATEST) : NULL;
	if (question == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("task_id", "NO_QUESTION"),
				 errmsg("task \"%.*s\" has not asked a question", task_id.len, task_id.s),
				 errhint("The view clutch.approvals lists the tasks that wait for an answer.")));
	answer.to = slice_present(task->agent_id) ? task->agent_id :
		slice_of_cstring(clutch_orchestrator);
	answer.value = document_get_text(&question->root, "id");
	return event_send_new(report_build(task, &answer));
}
