/*-------------------------------------------------------------------------
 *
 * assign.c
 *	  Giving a task to an agent, or making it wait.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/agenda.h"
#include "flow/assign.h"
#include "flow/budget.h"
#include "flow/emission.h"
#include "flow/ending.h"
#include "flow/move.h"
#include "protocol/problem.h"
#include "queue/queue.h"
#include "queue/requester.h"
#include "queue/timer.h"
#include "queue/yielding.h"
#include "registry/slot.h"
#include "routing/decision.h"
#include "routing/router.h"
#include "routing/rule.h"
#include "utils/memutils.h"
#include "wake/notify.h"

/* ------------------------------------------------------------------- slots */

/* Takes a slot of one candidate.  Returns its number, or -1 if there is none. */
static int
assign_candidate_take_slot(const Task *task, const Candidate *candidate)
{
	return slot_take(candidate->agent_id, candidate->max_concurrency, task->task_id,
					 task->request_seq);
}

/*
 * Takes a slot of the first of the ranked candidates that has one.  Returns the index of that
 * candidate, or -1.  Candidates that turn out to be full are rejected.
 */
static int
assign_choice_take_slot(const Task *task, Choice *choice, int *slot_no)
{
	while (choice->ncandidates > 0)
	{
		*slot_no = assign_candidate_take_slot(task, &choice->candidates[0]);
		if (*slot_no >= 0)
			return 0;
		router_reject_full(choice, 0);
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

static void
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
 * Wakes candidates, so that they claim.  An agent that was full may have room by now, and one
 * that listens but has not called for a long time becomes available again by calling.
 */
static void
assign_wake_candidates(const Choice *choice)
{
	const RejectionTally *full = &choice->rejected[REJECTED_CONCURRENCY];
	const RejectionTally *away = &choice->rejected[REJECTED_STATUS];

	for (int i = 0; i < full->nexamples; i++)
		notify_agent(roster_agent(choice->roster, full->examples[i])->agent_id);
	for (int i = 0; i < away->nexamples; i++)
		notify_agent(roster_agent(choice->roster, away->examples[i])->agent_id);
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
		timer_set(task);
		task_save(task);
		return;
	}
	failure.payload = failure_payload(requirement, choice, request_id);
	event.code = code;
	event.detail = document_get_text(&failure.payload->root, "message");
	(void) move_task(task, &failure, &event);
}

/* ----------------------------------------------------------------- routing */

/* Ends the task if the budget of its run is used up, before it costs more. */
static bool
assign_end_without_budget(Task *task)
{
	char	   *used_up = budget_exceeded(task);

	if (used_up == NULL)
		return false;
	ending_fail(task, "BUDGET_EXCEEDED",
				psprintf("the budget of the run is used up: %s", used_up));
	return true;
}

/* Gives a task back to the agent that asked a question or suspended it, if it can still take it. */
static bool
assign_give_back(Task *task, const Requirement *requirement, Slice request_id, TimestampTz at)
{
	Requirement same = *requirement;
	Choice	   *choice;
	int			selected;
	int			slot_no;

	if (task->past_agents.n == 0 || !claim_reason_goes_back(task->reason))
		return false;
	same.named.n = 1;
	same.named.items = &task->past_agents.items[task->past_agents.n - 1];
	same.groups.n = 0;
	same.resumes = true;
	choice = router_choose(&same);
	selected = assign_choice_take_slot(task, choice, &slot_no);
	if (selected >= 0)
		assign_give(task, &same, choice, selected, slot_no, request_id, at);
	return selected >= 0;
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
	AssignMakeRoom make_room;	/* NULL if other tasks must be left to the agenda */
} RouteMode;

/* Returns true if an agent has the task now. */
static bool
assign_route(Task *task, const Envelope *request, TimestampTz at, RouteMode mode)
{
	Requirement requirement;
	Choice	   *choice;
	int			selected;
	int			slot_no;

	if (assign_end_without_budget(task))
		return false;
	assign_read_requirement(task, request, &requirement);
	if (requirement.nrules > 0 && emission_share(task, request, &requirement))
		return false;
	if (assign_give_back(task, &requirement, request->id, at))
		return true;
	choice = router_choose(&requirement);
	selected = assign_choice_take_slot(task, choice, &slot_no);
	if (selected < 0 && mode.make_room != NULL && mode.make_room(task, choice))
	{
		choice = router_choose(&requirement);
		selected = assign_choice_take_slot(task, choice, &slot_no);
	}
	if (selected >= 0)
	{
		assign_give(task, &requirement, choice, selected, slot_no, request->id, at);
		return true;
	}
	if (mode.is_new)
		requester_require_room(request->from_agent, &requirement);
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

/* ----------------------------------------------------- what waits, one agent */

/* Returns the index of the agent among the candidates, or -1. */
static int
assign_find_candidate(const Choice *choice, Slice agent_id)
{
	for (int i = 0; i < choice->ncandidates; i++)
		if (slice_equal(choice->candidates[i].agent_id, agent_id))
			return i;
	return -1;
}

/* so many of an agent's tasks are looked at to tell whether it works at all */
#define IDLE_LOOKS		16

/* Is the agent working on no task, as far as that can be determined cheaply? */
static bool
assign_agent_is_idle(Slice agent_id)
{
	int			from = 0;
	ListCell   *cell;

	foreach(cell, slot_list_tasks(agent_id, &from, IDLE_LOOKS))
	{
		Task	   *task = task_look(*(Slice *) lfirst(cell), ROWS_LATEST);

		if (task != NULL && task->status == TASK_RUNNING && slice_equal(task->agent_id, agent_id))
			return false;
	}
	return true;
}

/* Takes an offered task, which is locked, from the agent that has not claimed it. */
static void
assign_take_unclaimed(Task *task)
{
	TaskEvent	event = {STEP_UNCLAIMED};
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_UNCLAIMED, .to = task->agent_id};
	DocumentBuilder b;

	event.was_idle = assign_agent_is_idle(task->agent_id);
	document_begin(&b);
	document_put_cstring(&b, "state", "unclaimed");
	document_put_text(&b, "agent_id", task->agent_id);
	document_put_timestamp(&b, "since", task->since);
	document_put_bool(&b, "idle", event.was_idle);
	notice.payload = document_end(&b);
	(void) move_task(task, &notice, &event);
}

void
assign_offer(Task *task)
{
	Requirement requirement;
	Envelope	request;

	assign_read_request(task, &request);
	assign_read_requirement(task, &request, &requirement);
	waiting_offer(task, &requirement);
	timer_set(task);
	task_save(task);
}

/*
 * Returns the index of the candidate that is to get a pending task, or -1.  This is the receiver,
 * unless it is to be avoided and is not the best candidate.
 */
static int
assign_select_for_pending(const Choice *choice, const Receiver *receiver)
{
	int			selected = assign_find_candidate(choice, receiver->agent_id);

	return selected > 0 && slice_equal(choice->requirement.avoid, receiver->agent_id) ? -1 : selected;
}

/*
 * The same for an offered task.  An agent that has had it before gets it only if it is asking for
 * work; otherwise agents that never claim would pass it around forever.
 */
static int
assign_select_for_offered(const Task *task, const Choice *choice, const Receiver *receiver)
{
	int			i;

	for (i = 0; i < choice->ncandidates; i++)
	{
		Slice		agent_id = choice->candidates[i].agent_id;
		bool		is_receiver = slice_equal(agent_id, receiver->agent_id);

		if (slice_equal(agent_id, task->agent_id) ||
			(slice_present(receiver->agent_id) && !is_receiver))
			continue;
		if ((is_receiver && receiver->claims) || !task_was_with(task, agent_id))
			return i;
	}
	return -1;
}

/* May the task at this place be given to anybody at all? */
static bool
assign_may_give(const Task *task, const WaitingPlace *place, const Receiver *receiver)
{
	if (!waiting_is_at(task, place))
		return false;
	if (task_is_offered(task))
		return !slice_equal(task->agent_id, receiver->agent_id) && budget_exceeded(task) == NULL;
	/* it must end, which is a consequence of the claim that finds it */
	if (budget_exceeded(task) == NULL)
		return true;
	agenda_add_task(CONSEQUENCE_ROUTE, task->depth, task->task_id);
	return false;
}

/*
 * Chooses by what can be read without a lock, and then gives the task under its lock if it is
 * still in its place.  A task that the agent does not get is never locked, so an open transaction
 * that claims locks only its own tasks.
 */
static bool
assign_choose_and_give(const WaitingPlace *place, const Receiver *receiver)
{
	Task	   *task = task_look(place->task_id, ROWS_LATEST);
	Jsonb	   *document;
	Requirement requirement;
	Envelope	request;
	Choice	   *choice;
	const Candidate *chosen;
	int			selected;
	int			slot_no;

	if (!assign_may_give(task, place, receiver))
		return false;
	assign_read_request(task, &request);
	assign_read_requirement(task, &request, &requirement);
	choice = router_choose(&requirement);
	selected = task_is_offered(task) ? assign_select_for_offered(task, choice, receiver) :
		assign_select_for_pending(choice, receiver);
	if (selected < 0)
		return false;
	chosen = &choice->candidates[selected];
	if (!slot_is_likely(chosen->agent_id, chosen->max_concurrency))
		return false;
	document = task->request;
	task = waiting_lock(place);
	if (task != NULL)
		task->request = document;
	slot_no = task == NULL ? -1 : assign_candidate_take_slot(task, chosen);
	if (slot_no < 0)
		return false;
	if (task_is_offered(task))
		assign_take_unclaimed(task);
	assign_give(task, &requirement, choice, selected, slot_no, request.id, task->since);
	return true;
}

/* Each task is tried in a memory context of its own, because requests may be large. */
bool
assign_waiting_to(const WaitingPlace *place, const Receiver *receiver)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch assign waiting",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	bool		given = assign_choose_and_give(place, receiver);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return given;
}

/* --------------------------------------------------------------- hand-over */

void
assign_hand_over(Task *task, const Envelope *request, int64 seq, TimestampTz at)
{
	TaskEvent	event = {STEP_ASSIGN, seq, at};
	Requirement requirement;
	Choice	   *choice;
	int			selected;
	int			slot_no;

	requirement_of(request, task->scope, &requirement);
	choice = router_choose(&requirement);
	selected = assign_choice_take_slot(task, choice, &slot_no);
	if (selected < 0)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/to", routing_failure_name(choice->failure)),
				 errmsg("task \"%.*s\" cannot be handed over: the agent named in \"to\" cannot take it",
						task->task_id.len, task->task_id.s),
				 errhint("Hand the task over when the agent is free, or request a new task.")));
	event.agent = slice_copy(choice->candidates[selected].agent_id);
	move_to_agent(task, NULL, &event, slot_no);
}
