/*-------------------------------------------------------------------------
 *
 * displace.c
 *	  Displacement: more urgent work takes the place of ready work that nobody
 *	  has begun.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/assign.h"
#include "flow/displace.h"
#include "flow/move.h"
#include "queue/ready.h"
#include "queue/waiting.h"
#include "queue/yielding.h"
#include "routing/router.h"
#include "utils/memutils.h"

/*
 * Displaces the victim, which is locked and ready.  Afterwards its agent has a
 * free slot.
 */
static void
displace_task(Task *victim, const Task *by)
{
	TaskEvent	event = {STEP_DISPLACE, .since = victim->left_since};
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_DISPLACED, .to = victim->agent_id};
	DocumentBuilder b;

	event.detail = slice_of_cstring(psprintf("task \"%.*s\" of priority %d has taken its place",
											 by->task_id.len, by->task_id.s, by->priority));
	document_begin(&b);
	document_put_cstring(&b, "state", "displaced");
	document_put_text(&b, "agent_id", victim->agent_id);
	document_put_text(&b, "because", by->task_id);
	document_put_int(&b, "priority", by->priority);
	document_put_int(&b, "was", victim->priority);
	document_put_timestamp(&b, "since", event.since);
	document_put_text(&b, "message", event.detail);
	notice.payload = document_end(&b);
	(void) move_task(victim, &notice, &event);
	assign_put_back(victim);
	/*
	 * another agent may have room for it, or a task that is even less urgent
	 */
	agenda_add_task(CONSEQUENCE_ROUTE, victim->depth, victim->task_id);
}

/*
 * Returns true if a task of less priority has been displaced, so that a slot
 * is free.
 */
static bool
displace_make_room(const Task *task, const Choice *choice)
{
	Task	   *victim = yielding_lock(choice, task->priority);

	if (victim != NULL)
		displace_task(victim, task);
	return victim != NULL;
}

bool
displace_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_lock_now(consequence->subject, &busy);

	if (task == NULL)
		return !busy;
	if (task->status == TASK_PENDING && !task_is_held(task))
		(void) assign_making_room(task, displace_make_room);
	return true;
}

/* -------------------------------------------------------------- batch work */

/*
 * Is the task worth locking, judging by what can be read without a lock?  A
 * claim may be a part of a long transaction, which should not keep others from
 * tasks that it does not get.
 */
static bool
displace_might_help(const WaitingPlace *place)
{
	Task	   *task = task_look(place->task_id, ROWS_LATEST);
	Requirement requirement;
	Envelope	request;
	Choice	   *choice;

	if (!waiting_is_at(task, place) || task->status != TASK_PENDING || task->priority == LEVEL_BATCH)
		return false;
	assign_read_request(task, &request);
	assign_read_requirement(task, &request, &requirement);
	choice = router_choose(&requirement);
	return choice->ncandidates > 0 || yielding_is_any(choice, task->priority);
}

/* Each task is judged in a memory context of its own, because requests may be large. */
static WaitingTried
displace_for_place(const WaitingPlace *place, void *arg)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch displace waiting",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	Task	   *task = displace_might_help(place) ? waiting_lock(place) : NULL;
	bool		left = task != NULL && assign_making_room(task, displace_make_room);

	(void) arg;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return left ? WAITING_LEFT : WAITING_STAYS_ALONE;
}

int
displace_batch_work(Slice agent_id, int n)
{
	int			urgency;
	int64		queue_no;

	if (waiting_is_empty() ||
		!ready_look_for_yielding(agent_id, LEVEL_LOW, &urgency, &queue_no))
		return 0;
	return waiting_try_fitting(&(WaitingLook) {agent_id, n, true, displace_for_place});
}
