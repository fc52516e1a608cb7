/*-------------------------------------------------------------------------
 *
 * assign_waiting.c
 *	  Giving what waits, or is offered, to one agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/agenda.h"
#include "flow/assign_part.h"
#include "flow/budget.h"
#include "flow/move.h"
#include "queue/timer.h"
#include "registry/slot.h"
#include "routing/router.h"

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
assign_select_for_pending(Choice *choice, const Receiver *receiver)
{
	int			selected = router_list_agent(choice, receiver->agent_id);

	return selected > 0 && slice_equal(choice->requirement.avoid, receiver->agent_id) ? -1 : selected;
}

/*
 * The same for an offered task.  An agent that has had it before gets it only if it is asking for
 * work; otherwise agents that never claim would pass it around forever.
 */
static int
assign_select_for_offered(const Task *task, Choice *choice, const Receiver *receiver)
{
	if (slice_present(receiver->agent_id))
		return receiver->claims || !task_was_with(task, receiver->agent_id) ?
			router_list_agent(choice, receiver->agent_id) : -1;
	for (int i = 0; i < choice->ncandidates; i++)
		if (!task_was_with(task, choice->candidates[i].agent_id))
			return i;
	return -1;
}

/* May the task at this place be given to anybody at all?  If not, *stays is set. */
static bool
assign_may_give(const Task *task, const WaitingPlace *place, const Receiver *receiver,
				WaitingTried *stays)
{
	bool		by_run;

	*stays = WAITING_STAYS_ALONE;
	if (!waiting_is_at(task, place))
		return false;
	if (task_is_offered(task) && slice_equal(task->agent_id, receiver->agent_id))
		return false;
	if (budget_exceeded(task, &by_run) == NULL)
		return true;
	if (by_run)
		*stays = WAITING_STAYS_FOR_RUN;
	/* it must end, which is a consequence of the claim that finds it */
	if (!task_is_offered(task))
		agenda_add_task(CONSEQUENCE_ROUTE, task->depth, task->task_id);
	return false;
}

/*
 * Would every other task of the kind and run stay as well?  An agent that looks
 * for itself finds this out on its own (queue/left_out.h).
 */
static bool
assign_is_for_run(const Choice *choice, const Receiver *receiver)
{
	return !slice_present(receiver->agent_id) && choice->rejected[REJECTED_BUDGET].count > 0;
}

/*
 * Chooses by what can be read without a lock, and then gives the task under its lock if it is
 * still in its place.  A task that the agent does not get is never locked, so an open transaction
 * that claims locks only its own tasks.
 */
WaitingTried
assign_waiting_to(const WaitingPlace *place, const Receiver *receiver)
{
	Task	   *task = task_look(place->task_id, ROWS_LATEST);
	Jsonb	   *document;
	Requirement requirement;
	Envelope	request;
	Choice	   *choice;
	const Candidate *chosen;
	int			selected;
	int			slot_no;
	WaitingTried stays;

	if (!assign_may_give(task, place, receiver, &stays))
		return stays;
	assign_read_request(task, &request);
	assign_read_requirement(task, &request, &requirement);
	requirement.looks = slice_present(receiver->agent_id);
	choice = router_choose(&requirement);
	selected = task_is_offered(task) ? assign_select_for_offered(task, choice, receiver) :
		assign_select_for_pending(choice, receiver);
	if (selected < 0)
		return assign_is_for_run(choice, receiver) ? WAITING_STAYS_FOR_RUN : WAITING_STAYS_ALONE;
	chosen = &choice->candidates[selected];
	if (!slot_is_likely(chosen->agent_id, chosen->max_concurrency))
		return WAITING_STAYS_ALONE;
	document = task->request;
	task = waiting_lock(place);
	if (task != NULL)
		task->request = document;
	slot_no = task == NULL ? -1 : assign_candidate_take_slot(task, chosen);
	if (slot_no < 0)
		return WAITING_STAYS_ALONE;
	if (task_is_offered(task))
		assign_take_unclaimed(task);
	assign_give(task, &requirement, choice, selected, slot_no, request.id, task->since);
	return WAITING_LEFT;
}
