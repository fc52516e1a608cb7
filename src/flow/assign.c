/*-------------------------------------------------------------------------
 *
 * assign.c
 *	  Giving a task to an agent, or making it wait.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/document.h"
#include "flow/agenda.h"
#include "flow/assign_part.h"
#include "flow/budget.h"
#include "flow/emission.h"
#include "flow/ending.h"
#include "flow/move.h"
#include "flow/right.h"
#include "protocol/problem.h"
#include "queue/queue.h"
#include "queue/requester.h"
#include "queue/timer.h"
#include "queue/yielding.h"
#include "registry/slot.h"
#include "routing/decision.h"
#include "routing/router.h"
#include "routing/rule.h"
#include "wake/notify.h"

/* ------------------------------------------------------------------- slots */

int
assign_candidate_take_slot(const Task *task, const Candidate *candidate)
{
	return slot_take(candidate->agent_id, candidate->max_concurrency, task->task_id,
					 task->request_seq);
}

/*
 * Takes a slot of the first of the ranked candidates that has one.  Those before it, which turn
 * out to be full, are rejected, so that it is the first candidate afterwards.  Returns the number
 * of the slot, or -1.
 */
static int
assign_choice_take_slot(const Task *task, Choice *choice)
{
	while (choice->ncandidates > 0)
	{
		int			slot_no = assign_candidate_take_slot(task, &choice->candidates[0]);

		if (slot_no >= 0)
			return slot_no;
		router_reject_full(choice);
	}
	return -1;
}

/* ------------------------------------------------------------------ giving */

/* Is the task routed for the first time? */
static bool
assign_is_first(const Task *task)
{
	return task->status == TASK_PENDING && task->attempt == 1 && !slice_present(task->code);
}

/*
 * Does the assignment need a decision event?  A request that names one agent is given to it
 * without a choice, and hence without a decision.  But the log must show when the task was given
 * if that happened later, because the task was held, had to wait, or was tried before.  This
 * includes requests that name tasks to wait for, because the order of the log does not tell
 * whether those were over when the request came.
 */
static bool
assign_needs_decision(const Task *task, const Requirement *requirement)
{
	return !requirement_is_direct(requirement) || !assign_is_first(task) ||
		requirement->has_after || requirement->nrules > 0 || task_is_held(task);
}

void
assign_give(Task *task, const Requirement *requirement, const Choice *choice, int selected,
			int slot_no, Slice request_id, TimestampTz at)
{
	TaskEvent	event = {STEP_ASSIGN, task->request_seq, at};
	Notice		decision = {MSG_ROUTING_DECISION};

	event.has_priority = requirement->priority >= 0;
	event.priority = requirement->priority;
	event.agent = slice_copy(choice->candidates[selected].agent_id);
	if (!assign_needs_decision(task, requirement))
	{
		move_to_agent(task, NULL, &event, slot_no);
		return;
	}
	decision.to = event.agent;
	decision.payload = decision_payload(requirement, choice, selected, request_id,
										task->attempt);
	move_to_agent(task, &decision, &event, slot_no);
}

/*
 * so many agents that are away are woken for a task; more would use up clutch.notify_channels,
 * which the transaction needs for agents that are there
 */
#define MOST_AWAY	20

/*
 * Wakes agents that are away.  Most of them may be gone for good, so each transaction begins with
 * another one.
 */
static void
assign_wake_away(const Choice *choice)
{
	AgentSet   *away = router_list_away(choice);
	int			n = Min(agent_set_count(away), MOST_AWAY);
	int			ordinal = n == 0 ? 0 : (int) ((uint64) GetCurrentTransactionStartTimestamp() % roster_size(choice->roster));

	for (; n > 0; n--)
	{
		ordinal = agent_set_next(away, ordinal);
		if (ordinal < 0)
			ordinal = agent_set_next(away, -1);
		notify_agent(roster_agent(choice->roster, ordinal)->agent_id);
	}
	pfree(away);
}

/*
 * Wakes candidates, so that they claim.  An agent that was full may have room by now, and one
 * that listens but has not called for a long time becomes available again by calling.
 */
static void
assign_wake_candidates(const Choice *choice)
{
	const RejectionTally *full = &choice->rejected[REJECTED_CONCURRENCY];

	for (int i = 0; i < full->nexamples; i++)
		notify_agent(roster_agent(choice->roster, full->examples[i])->agent_id);
	assign_wake_away(choice);
}

/*
 * Makes a task wait.  A routing.failure is written once for each change of the code, and when a
 * held task is no longer held.
 */
static void
assign_wait(Task *task, const Requirement *requirement, const Choice *choice,
			Slice request_id)
{
	TaskEvent	event = {STEP_FAIL_TO_ROUTE};
	Notice		failure = {MSG_ROUTING_FAILURE, .to = task->from_agent};
	Slice		code = slice_of_cstring(routing_failure_name(choice->failure));
	bool		is_news = task_is_held(task) || !slice_equal(task->code, code);

	assign_wake_candidates(choice);
	/* the failure says this, too, but the task's place among the waiting ones depends on it */
	if (requirement->priority >= 0)
		step_set_priority(task, requirement->priority);
	waiting_put(task, requirement);
	if (!is_news)
	{
		/* if it has a timer, that may have been put off because the task cannot be moved */
		if (task->next_at == 0)
			timer_set(task);
		task_save(task);
		return;
	}
	failure.payload = failure_payload(requirement, choice, request_id);
	event.code = code;
	event.detail = document_get_text(&failure.payload->root, "message");
	(void) move_task(task, &failure, &event);
}

void
assign_renew_failure(const Task *seen, const WaitingPlace *place, const Requirement *requirement,
					 Slice request_id)
{
	Choice	   *choice = router_choose(requirement);
	Task	   *task;

	if (choice->failure == ROUTING_SUCCEEDED || slice_is(seen->code, routing_failure_name(choice->failure)))
		return;
	task = waiting_lock(place);
	if (task != NULL && task->status == TASK_PENDING)
		assign_wait(task, requirement, choice, request_id);
}

/* ----------------------------------------------------------------- routing */

/*
 * Ends the task if the budget of its run is used up, before it costs more.
 * The participants of a parent-only run are not told what others have spent.
 */
static bool
assign_end_without_budget(Task *task)
{
	char	   *used_up = budget_exceeded(task, NULL);

	if (used_up == NULL)
		return false;
	ending_fail(task, "BUDGET_EXCEEDED", right_is_parent_only(task->run_id) ? "the budget of the run is used up" :
				psprintf("the budget of the run is used up: %s", used_up));
	return true;
}

/*
 * Is there no room for the task among the kinds that its requester may have
 * waiting?  A request that is just being admitted is refused, and one that was
 * held ends.  One that an agent has had may wait again.
 */
static bool
assign_end_without_room(Task *task, const Requirement *requirement, bool is_new)
{
	if (is_new)
		requester_require_room(requirement);
	else if (task_is_held(task) && assign_is_first(task) && !requester_has_room(requirement))
	{
		ending_fail(task, "TOO_MANY_KINDS", requester_no_room(requirement));
		return true;
	}
	return false;
}

/* Gives a task back to the agent that asked a question or suspended it, if it can still take it. */
static bool
assign_give_back(Task *task, const Requirement *requirement, Slice request_id, TimestampTz at)
{
	Requirement same = *requirement;
	Choice	   *choice;
	int			slot_no;

	if (task->past_agents.n == 0 || !claim_reason_goes_back(task->reason))
		return false;
	same.named.n = 1;
	same.named.items = &task->past_agents.items[task->past_agents.n - 1];
	same.groups.n = 0;
	same.resumes = true;
	choice = router_choose(&same);
	slot_no = assign_choice_take_slot(task, choice);
	if (slot_no >= 0)
		assign_give(task, &same, choice, 0, slot_no, request_id, at);
	return slot_no >= 0;
}

/*
 * An agent that had the task and lost it is to be avoided, unless the task is
 * new; in that case it was only displaced there before anybody began it.
 */
void
assign_read_requirement(const Task *task, const Envelope *request, Requirement *requirement)
{
	rule_requirement_of(request, task->scope, requirement);
	/* a rule sets it only once, because the task may have been lifted since */
	if (!assign_is_first(task))
		requirement->priority = -1;
	if (task->past_agents.n > 0 && task->reason != CLAIM_NEW && !claim_reason_goes_back(task->reason))
		requirement->avoid = task->past_agents.items[task->past_agents.n - 1];
}

/* up to this number of full agents, looking for a task that would yield costs as much as looking for waiting tasks */
#define FEW_FULL_AGENTS	4

/*
 * Might the task displace another one?  A task behind others of its kind need not look, because
 * the first of them has looked, and looks again in every tick.
 */
static bool
assign_might_displace(const Task *task, const Choice *choice)
{
	int			full = choice->rejected[REJECTED_CONCURRENCY].count;

	if (task->priority == LEVEL_BATCH || full == 0 || task->status != TASK_PENDING)
		return false;
	return (full <= FEW_FULL_AGENTS || waiting_is_first(task)) &&
		yielding_is_any(choice, task->priority);
}

/* what the caller of assign_route knows about the task, and what it may do to others */
typedef struct RouteMode
{
	bool		is_new;			/* its request is just being admitted */
	bool	   *is_for_run;		/* if not NULL, set to whether the task waits
								 * because of the costs of its run */
	AssignMakeRoom make_room;	/* NULL if other tasks must be left to the agenda */
} RouteMode;

/* Returns true if an agent has the task now. */
static bool
assign_route(Task *task, const Envelope *request, TimestampTz at, RouteMode mode)
{
	Requirement requirement;
	Choice	   *choice;
	int			slot_no;

	if (assign_end_without_budget(task))
		return false;
	assign_read_requirement(task, request, &requirement);
	if (requirement.nrules > 0 && emission_share(task, request, &requirement))
		return false;
	if (assign_give_back(task, &requirement, request->id, at))
		return true;
	choice = router_choose(&requirement);
	slot_no = assign_choice_take_slot(task, choice);
	if (slot_no < 0 && mode.make_room != NULL && mode.make_room(task, choice))
	{
		choice = router_choose(&requirement);
		slot_no = assign_choice_take_slot(task, choice);
	}
	if (slot_no >= 0)
	{
		assign_give(task, &requirement, choice, 0, slot_no, request->id, at);
		return true;
	}
	if (assign_end_without_room(task, &requirement, mode.is_new))
		return false;
	if (mode.is_for_run != NULL)
		*mode.is_for_run = choice->rejected[REJECTED_BUDGET].count > 0;
	assign_wait(task, &requirement, choice, request->id);
	if (mode.make_room == NULL && assign_might_displace(task, choice))
		agenda_add_task(CONSEQUENCE_DISPLACE, task->depth, task->task_id);
	return false;
}

void
assign_new(Task *task, const Envelope *request, TimestampTz at)
{
	(void) assign_route(task, request, at, (RouteMode) {.is_new = true});
}

void
assign_read_request(Task *task, Envelope *request)
{
	Jsonb	   *document = task_request(task);

	if (document == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the request of task \"%.*s\" is not in the log",
						task->task_id.len, task->task_id.s),
				 errhint("SELECT * FROM clutch.check() shows what is wrong with the log.")));
	envelope_read_admitted(document, request, problem_list());
}

bool
assign_making_room(Task *task, AssignMakeRoom make_room)
{
	Envelope	request;

	assign_read_request(task, &request);
	return assign_route(task, &request, task->since, (RouteMode) {.make_room = make_room});
}

bool
assign_again(Task *task)
{
	return assign_making_room(task, NULL);
}

WaitingTried
assign_at_place(Task *task, const WaitingPlace *place)
{
	Envelope	request;
	bool		is_for_run = false;

	assign_read_request(task, &request);
	(void) assign_route(task, &request, task->since, (RouteMode) {.is_for_run = &is_for_run});
	if (!waiting_is_at(task, place))
		return WAITING_LEFT;
	return is_for_run ? WAITING_STAYS_FOR_RUN : WAITING_STAYS;
}

void
assign_put_back(Task *task)
{
	Requirement requirement;
	Envelope	request;

	assign_read_request(task, &request);
	assign_read_requirement(task, &request, &requirement);
	waiting_put_back(task, &requirement);
	task_save(task);
}

/* --------------------------------------------------------------- hand-over */

void
assign_hand_over(Task *task, const Envelope *request, int64 seq, TimestampTz at)
{
	TaskEvent	event = {STEP_ASSIGN, seq, at};
	Requirement requirement;
	Choice	   *choice;
	int			slot_no;

	requirement_of(request, task->scope, &requirement);
	choice = router_choose(&requirement);
	slot_no = assign_choice_take_slot(task, choice);
	if (slot_no < 0)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/to", routing_failure_name(choice->failure)),
				 errmsg("task \"%.*s\" cannot be handed over: the agent named in \"to\" cannot take it",
						task->task_id.len, task->task_id.s),
				 errhint("Hand the task over when the agent is free, or request a new task.")));
	event.agent = slice_copy(choice->candidates[0].agent_id);
	move_to_agent(task, NULL, &event, slot_no);
}
