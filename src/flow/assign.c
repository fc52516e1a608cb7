/*-------------------------------------------------------------------------
 *
 * assign.c
 *	  Giving a task to an agent, or putting it to wait.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "flow/assign.h"
#include "flow/budget.h"
#include "flow/ending.h"
#include "queue/question.h"
#include "queue/ready.h"
#include "queue/timer.h"
#include "queue/waiting.h"
#include "registry/breaker.h"
#include "registry/slot.h"
#include "routing/decision.h"
#include "routing/router.h"
#include "settings.h"
#include "task/notice.h"
#include "utils/memutils.h"
#include "wake/notify.h"

/* the first of the ranked candidates that has a slot; -1: none has */
static int
take_slot(Task *task, Choice *choice)
{
	int			i = 0;

	while (i < choice->ncandidates)
	{
		const Candidate *candidate = &choice->candidates[i];

		task->slot_no = slot_take(candidate->agent_id, candidate->max_concurrency,
								  task->task_id, task->request_seq);
		if (task->slot_no >= 0)
			return i;
		router_reject_full(choice, i);
	}
	return -1;
}

static bool
is_first_assignment(const Task *task)
{
	return task->attempt == 1 && !slice_present(task->code);
}

/*
 * A request that names one agent is given to it without choice, hence
 * without a decision event; once it was held or had to wait, the log must
 * say when it was given after all.  So it must if it names others to wait for:
 * whether they were over when it came, the order of the log does not tell.
 */
static void
give(Task *task, const Requirement *requirement, const Choice *choice,
	 int selected, Slice request_id, TimestampTz at)
{
	TaskEvent	event = {STEP_ASSIGN, task->request_seq, at};

	event.agent = slice_copy(choice->candidates[selected].agent_id);
	if (!requirement_is_direct(requirement) || !is_first_assignment(task) ||
		requirement->has_after || task_is_held(task))
	{
		Jsonb	   *payload = decision_payload(requirement, choice, selected,
											   request_id, task->attempt);
		Receipt		receipt = notice_append(task, MSG_ROUTING_DECISION, MOVE_NONE,
											SLICE_NONE, event.agent, payload);

		event.seq = receipt.seq;
		event.at = receipt.received_at;
	}
	waiting_remove(task);
	task_apply(task, &event);
	ready_put(task);
	timer_set(task);
}

/*
 * An agent that was full may have become free since, and one that listens and
 * has not called for long is not UNAVAILABLE if it does: let them claim.
 */
static void
wake_candidates(const Choice *choice)
{
	const RejectionTally *full = &choice->rejected[REJECTED_CONCURRENCY];
	const RejectionTally *away = &choice->rejected[REJECTED_STATUS];
	int			i;

	for (i = 0; i < full->nexamples; i++)
		notify_agent(roster_agent(choice->roster, full->examples[i])->agent_id);
	for (i = 0; i < away->nexamples; i++)
		notify_agent(roster_agent(choice->roster, away->examples[i])->agent_id);
}

/* routing.failure is said once per change of code, and when it is held no longer */
static void
wait_for_agent(Task *task, const Requirement *requirement, const Choice *choice,
			   Slice request_id)
{
	wake_candidates(choice);
	if (task_is_held(task) || !slice_equal(task->code, slice_of_cstring(routing_failure_name(choice->failure))))
	{
		TaskEvent	event = {STEP_FAIL_TO_ROUTE};
		Jsonb	   *payload = failure_payload(requirement, choice, request_id);
		Receipt		receipt = notice_append(task, MSG_ROUTING_FAILURE, MOVE_NONE,
											SLICE_NONE, task->from_agent, payload);

		event.seq = receipt.seq;
		event.at = receipt.received_at;
		event.code = slice_of_cstring(routing_failure_name(choice->failure));
		event.detail = document_get_text(&payload->root, "message");
		task_apply(task, &event);
	}
	waiting_put(task, requirement);
	timer_set(task);
}

/* what the run may cost is used up: the task ends before it costs more */
static bool
end_without_budget(Task *task)
{
	char	   *used_up = budget_exceeded(task);

	if (used_up == NULL)
		return false;
	ending_fail(task, "BUDGET_EXCEEDED",
				psprintf("the budget of the run is used up: %s", used_up));
	return true;
}

/* who asked gets the answer, if it still can */
static bool
give_back(Task *task, const Requirement *requirement, Slice request_id, TimestampTz at)
{
	Requirement same = *requirement;
	Choice	   *choice;
	int			selected;

	if (task->past_agents.n == 0 || !slice_equal(task->reason, SLICE_OF("resumed")))
		return false;
	same.named.n = 1;
	same.named.items = &task->past_agents.items[task->past_agents.n - 1];
	same.groups.n = 0;
	same.resumes = true;
	choice = router_choose(&same);
	selected = take_slot(task, choice);
	if (selected >= 0)
		give(task, &same, choice, selected, request_id, at);
	return selected >= 0;
}

static bool
route(Task *task, const Envelope *request, TimestampTz at)
{
	Requirement requirement;
	Choice	   *choice;
	int			selected;

	if (end_without_budget(task))
		return false;
	requirement_of(request, task->scope, &requirement);
	if (give_back(task, &requirement, request->id, at))
	{
		task_save(task);
		return true;
	}
	if (task->past_agents.n > 0)
		requirement.avoid = task->past_agents.items[task->past_agents.n - 1];
	choice = router_choose(&requirement);
	selected = take_slot(task, choice);
	if (selected >= 0)
		give(task, &requirement, choice, selected, request->id, at);
	else
		wait_for_agent(task, &requirement, choice, request->id);
	task_save(task);
	return selected >= 0;
}

void
assign_new(Task *task, const Envelope *request, TimestampTz at)
{
	if (task_is_held(task))
		assign_hold(task);
	else
		(void) route(task, request, at);
}

void
assign_hold(Task *task)
{
	timer_set(task);
	task_save(task);
}

void
assign_lift(Task *task, const TaskEvent *lift)
{
	int64		kind = task->queue_kind;
	bool		waits = task->status == TASK_PENDING && task->queue_no != 0;

	if (task->status == TASK_ASSIGNED)
		ready_remove(task);
	else if (waits)
		waiting_remove(task);
	task_apply(task, lift);
	if (task->status == TASK_ASSIGNED)
		ready_put(task);
	else if (waits)
		waiting_put_kind(task, kind);
	task_save(task);
}

static bool
route_again(Task *task)
{
	Jsonb	   *document = event_read(task->request_seq, ROWS_LATEST);
	Envelope	request;

	if (document == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the request of task \"%.*s\" is not in the log",
						task->task_id.len, task->task_id.s),
				 errhint("SELECT * FROM clutch.check() says what is wrong with the log.")));
	envelope_read_admitted(document, &request, problem_list());
	return route(task, &request, task->since);
}

/* a tick does this a thousand times, and a request may be as large as any */
bool
assign_again(const Task *task)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "clutch assign again",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	Task		routed = *task;
	bool		given = route_again(&routed);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return given;
}

void
assign_hand_over(Task *task, const Envelope *request, int64 seq, TimestampTz at)
{
	TaskEvent	event = {STEP_ASSIGN, seq, at};
	Requirement requirement;
	Choice	   *choice;
	Task		next = *task;
	Slice		freed;
	int			selected;

	requirement_of(request, task->scope, &requirement);
	choice = router_choose(&requirement);
	selected = take_slot(&next, choice);
	if (selected < 0)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/to", routing_failure_name(choice->failure)),
				 errmsg("task \"%.*s\" cannot be handed over: the agent named in \"to\" cannot take it",
						task->task_id.len, task->task_id.s),
				 errhint("Hand the task over when the agent is free, or request a new task.")));
	event.agent = slice_copy(choice->candidates[selected].agent_id);
	freed = assign_withdraw(task, OUTCOME_NONE);
	task_apply(task, &event);
	task->slot_no = next.slot_no;
	ready_put(task);
	timer_set(task);
	task_save(task);
	if (slice_present(freed))
		assign_offer(freed);
}

Slice
assign_withdraw(Task *task, int outcome)
{
	Slice		freed = SLICE_NONE;

	if (task->status == TASK_ASSIGNED)
		ready_remove(task);
	else if (task->status == TASK_PENDING)
		waiting_remove(task);
	else if (task->status == TASK_INPUT_REQUIRED)
		question_remove(task);
	timer_clear(task);
	task->lease_until = 0;
	task->lease = 0;
	if (task->slot_no >= 0)
	{
		slot_free(task->agent_id, task->slot_no, task->request_seq, (SlotOutcome) outcome);
		task->slot_no = -1;
		freed = task->agent_id;
	}
	return freed;
}

void
assign_offer(Slice agent_id)
{
	/* with an open breaker it would be given nothing */
	bool		may_have = breaker_limit(agent_id, clock_now(), 1) > 0;
	Task	   *task = may_have ? waiting_take(agent_id) : NULL;

	if (task != NULL)
		(void) assign_again(task);
	/*
	 * Whoever else ended its task, the agent should hear; and what came to
	 * wait meanwhile and cannot be seen yet, it claims itself.
	 */
	notify_agent(agent_id);
}

/*
 * The router may give the task to another agent that is better and free as
 * well; then there is one task less to wait, as when it ends for want of
 * budget.  One that it could give to nobody, though the agent seemed to fit,
 * is looked for again with what the agent has spent by now; if it comes again,
 * that is the end.
 */
#define MOST_FAILED		16

int
assign_pull(Slice agent_id, int n)
{
	Roster	   *roster;
	int			ordinal;
	int			limit;
	int			given = 0;
	int			failed = 0;
	int64		tried = 0;

	/* the usual case, and it must not cost a reading of the registry */
	if (waiting_is_empty())
		return 0;
	roster = roster_get();
	ordinal = roster_find(roster, agent_id);
	limit = ordinal < 0 ? 0 : roster_agent(roster, ordinal)->card.max_concurrency;
	limit = breaker_limit(agent_id, clock_now(), limit);
	while (given < n && failed < MOST_FAILED)
	{
		AgentLoad	load;
		Task	   *task;

		load_read(agent_id, limit, &load);
		/*
		 * Where somebody is taking or freeing the last slot, a task tried in
		 * vain would wake this very agent to try again, until that one commits.
		 */
		if (load.running >= limit || !slot_is_likely(agent_id, limit))
			break;
		task = waiting_take(agent_id);
		if (task == NULL || task->queue_no == tried)
			break;
		if (assign_again(task))
			given++;
		else
		{
			failed++;
			tried = task->queue_no;
			waiting_forget_fitting(agent_id);
		}
	}
	return given;
}
