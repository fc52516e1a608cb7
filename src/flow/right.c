/*-------------------------------------------------------------------------
 *
 * right.c
 *	  Rights: who may write into a run, and so name its tasks.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/guard.h"
#include "base/wait.h"
#include "flow/right.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "queue/queue.h"
#include "registry/agent.h"
#include "registry/roster.h"
#include "settings.h"
#include "store/audit.h"
#include "store/participant.h"
#include "store/scope.h"
#include "store/visibility.h"
#include "task/verdict.h"
#include "trust/principal.h"
#include "utils/memutils.h"

/* ------------------------------------------------------------------- groups */

/*
 * Returns the groups of the agents, including the group of all agents, each
 * once.
 */
static SliceList
right_groups_of(const SliceList *agents)
{
	List	   *names = NIL;
	SliceList	groups = {0, NULL};
	ListCell   *cell;

	for (int i = 0; i < agents->n; i++)
	{
		const RosterAgent *agent = roster_look(agents->items[i]);

		for (int k = 0; agent != NULL && k < agent->card.groups.n; k++)
			names = slice_list_add(names, agent->card.groups.items[k]);
	}
	if (agents->n > 0)
		names = slice_list_add(names, SLICE_OF("group:*"));
	names = slice_list_sort_unique(names);
	groups.items = palloc(sizeof(Slice) * (list_length(names) + 1));
	foreach(cell, names)
		groups.items[groups.n++] = *(Slice *) lfirst(cell);
	return groups;
}

/* Is an event of the run addressed to the agent, or to one of its groups? */
static bool
right_was_addressed(Slice agent_id, Slice run_id)
{
	SliceList	agents = {1, &agent_id};
	SliceList	groups;
	int			i;

	if (participant_was_addressed(agent_id, run_id))
		return true;
	groups = right_groups_of(&agents);
	for (i = 0; i < groups.n; i++)
		if (participant_was_addressed(groups.items[i], run_id))
			return true;
	return false;
}

/* -------------------------------------------------------------------- tasks */

static void
right_scan_ready(RowScan *scan, Slice agent_id, RowSnapshot which)
{
	rows_begin(scan, TABLE_READY, INDEX_READY, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(scan);
}

static void
right_scan_tasks(RowScan *scan, Slice run_id, RowSnapshot which)
{
	rows_begin(scan, TABLE_TASK, INDEX_TASK_RUN_ID, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(scan);
}

/*
 * Returns the run of the task at which the scan of ready tasks is, or an absent
 * slice if the snapshot does not see the task.  Resets "memory", to which the
 * result belongs: an agent may have a million of them.
 */
static Slice
right_run_of_ready(const RowScan *scan, RowSnapshot which, MemoryContext memory)
{
	MemoryContext before;
	Task	   *task;

	MemoryContextReset(memory);
	before = MemoryContextSwitchTo(memory);
	task = task_look(rows_text(scan, Anum_queue_task_id), which);
	MemoryContextSwitchTo(before);
	return task != NULL ? task->run_id : SLICE_NONE;
}

static MemoryContext
right_memory(void)
{
	return AllocSetContextCreate(CurrentMemoryContext, "clutch ready task", ALLOCSET_SMALL_SIZES);
}

/*
 * Adds the runs of the tasks that the agent can claim.  For those that it has
 * claimed, the log has its events.
 */
static List *
right_list_runs_of_ready(List *runs, Slice agent_id)
{
	MemoryContext memory = right_memory();
	RowScan		scan;

	right_scan_ready(&scan, agent_id, ROWS_ACTIVE);
	while (rows_next(&scan))
	{
		Slice		run_id = right_run_of_ready(&scan, ROWS_ACTIVE, memory);

		CHECK_FOR_INTERRUPTS();
		if (slice_present(run_id))
			runs = slice_list_add(runs, run_id);
	}
	rows_end(&scan);
	MemoryContextDelete(memory);
	return runs;
}

/* Is it a task that has been given to the agent and that it has not claimed? */
static bool
right_is_ready_for(const RowScan *task, Slice agent_id)
{
	return slice_equal(rows_text(task, Anum_task_agent_id), agent_id) &&
		task_row_status(task) == TASK_ASSIGNED;
}

/*
 * Is there a task of the run that the agent can claim?  Its ready tasks and the
 * tasks of the run are looked at in turn, because there may be a million of
 * either; if one of them comes to its end, there is none.
 */
static bool
right_has_ready_task(Slice agent_id, Slice run_id)
{
	MemoryContext memory = right_memory();
	bool		found = false;
	RowScan		ready;
	RowScan		tasks;

	right_scan_ready(&ready, agent_id, ROWS_LATEST);
	right_scan_tasks(&tasks, run_id, ROWS_LATEST);
	while (!found && rows_next(&ready) && rows_next(&tasks))
	{
		CHECK_FOR_INTERRUPTS();
		found = right_is_ready_for(&tasks, agent_id) ||
			slice_equal(right_run_of_ready(&ready, ROWS_LATEST, memory), run_id);
	}
	rows_end(&tasks);
	rows_end(&ready);
	MemoryContextDelete(memory);
	return found;
}

/* ------------------------------------------------------------------- rights */

/*
 * Does the visibility of the run allow those to join who merely have its
 * scope?
 */
static bool
right_is_open_to_scope(Slice run_id)
{
	Visibility	visibility = visibility_is_in_use() ?
		visibility_of_run(run_id, ROWS_DIRTY) : VISIBILITY_SCOPE;

	return visibility == VISIBILITY_SCOPE || visibility == VISIBILITY_PUBLIC;
}

static bool
right_has_scope(Slice agent_id, Slice run_id, GrantHolder holder)
{
	Slice		scope = scope_of_run(run_id);

	return slice_present(scope) && principal_has_scope(agent_id, scope, holder) &&
		right_is_open_to_scope(run_id);
}

static bool
right_is_reserved(Slice run_id)
{
	return slice_equal(run_id, SLICE_OF(AGENTS_RUN)) || slice_equal(run_id, SLICE_OF(AUDIT_RUN));
}

/*
 * The run has been founded, and the agent has not sent an event of it.  May it
 * write into the run nevertheless?
 */
static bool
right_has_been_given(Slice agent_id, Slice run_id, GrantHolder holder)
{
	return right_was_addressed(agent_id, run_id) || right_has_ready_task(agent_id, run_id) ||
		right_has_scope(agent_id, run_id, holder);
}

static bool
right_is_everywhere(Slice agent_id)
{
	return slice_is(agent_id, clutch_orchestrator) || principal_is_operator(principal_role());
}

bool
right_has(Slice agent_id, Slice run_id)
{
	TransactionId founder;

	if (right_is_everywhere(agent_id) || participant_is_remembered(agent_id, run_id))
		return true;
	if (right_is_reserved(run_id))
		return false;
	return participant_has_sent(agent_id, run_id) || right_has_been_given(agent_id, run_id, GRANT_OF_ROLE) ||
		participant_run_state(run_id, &founder) == RUN_IS_OPEN;
}

/*
 * May the agent write into the run, although it has not sent an event of it?
 * While nobody has, the guard is held until our event can be seen, so that of
 * two strangers who found a run at the same time, one comes second.
 */
static bool
right_may_enter(Slice agent_id, Slice run_id, GrantHolder holder)
{
	for (;;)
	{
		TransactionId founder;

		guard_hold(GUARD_RUN, guard_key(GUARD_RUN, run_id, SLICE_NONE, 0));
		switch (participant_run_state(run_id, &founder))
		{
			case RUN_IS_OPEN:
				if (participant_forget_earlier(run_id, &founder))
					return true;
				/* an operator has begun it since */
				break;
			case RUN_IS_FOUNDED:
				guard_drop(GUARD_RUN);
				return right_has_been_given(agent_id, run_id, holder);
			case RUN_IS_DOUBTFUL:
				break;
		}
		/* do not hold any guard while waiting for a transaction */
		guard_drop(GUARD_RUN);
		wait_for_transaction(founder);
		if (participant_has_sent(agent_id, run_id))
			return true;
	}
}

/*
 * What is remembered of a run that somebody without a need for rights has
 * entered, in place of a name.  No agent and no group has this name.
 */
#define ANYBODY		SLICE_OF("*")

/*
 * This may be the first event of the run, too.  It waits for another founder
 * only if somebody took part in an earlier run of that name.  One look at the
 * run serves all agents in whose names the session sends.
 */
static void
right_enter_anywhere(Slice run_id)
{
	TransactionId founder;

	if (right_is_reserved(run_id) || participant_is_remembered(ANYBODY, run_id))
		return;
	while (!participant_forget_earlier(run_id, &founder))
		wait_for_transaction(founder);
	participant_remember(ANYBODY, run_id);
}

static void
right_refuse(Slice agent_id, Slice run_id, const char *place)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem(place, "NOT_A_PARTICIPANT"),
			 errmsg("\"%.*s\" does not take part in run \"%.*s\"",
					agent_id.len, agent_id.s, run_id.len, run_id.s),
			 errhint("Begin a run of your own with a new run_id, or let somebody who takes part in this one send a message to the agent.")));
}

/* Only the database itself writes audit events in the orchestrator's name. */
static void
right_refuse_forged_audit(const Envelope *envelope)
{
	if (audit_is(envelope->run_id, envelope->from_agent, SLICE_NONE, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/run_id", "NOT_ALLOWED"),
				 errmsg("only the database writes into run \"%.*s\" as \"%.*s\"",
						envelope->run_id.len, envelope->run_id.s,
						envelope->from_agent.len, envelope->from_agent.s),
				 errhint("Send it in the name of an agent of yours, or in another run.")));
}

void
right_require_sender(const Envelope *envelope)
{
	Slice		agent_id = envelope->from_agent;
	Slice		run_id = envelope->run_id;

	right_refuse_forged_audit(envelope);
	if (participant_is_remembered(agent_id, run_id))
		return;
	if (right_is_everywhere(agent_id))
	{
		right_enter_anywhere(run_id);
		return;
	}
	if (right_is_reserved(run_id))
	{
		if (message_type_is_agent(envelope->type) && slice_equal(run_id, SLICE_OF(AGENTS_RUN)))
			return;
		right_refuse(agent_id, run_id, "/run_id");
	}
	if (!participant_has_sent(agent_id, run_id) &&
		!right_may_enter(agent_id, run_id, principal_holder(envelope->is_signed)))
		right_refuse(agent_id, run_id, "/run_id");
	participant_remember(agent_id, run_id);
}

void
right_require(Slice agent_id, Slice run_id)
{
	if (!right_has(agent_id, run_id))
		right_refuse(agent_id, run_id, "run_id");
}

bool
right_is_parent_only(Slice run_id)
{
	return visibility_is_in_use() && visibility_of_run(run_id, ROWS_LATEST) == VISIBILITY_PARENT_ONLY;
}

bool
right_sees_task(Slice agent_id, const Task *task)
{
	if (!right_is_parent_only(task->run_id) || slice_is(agent_id, clutch_orchestrator))
		return true;
	while (task != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (slice_equal(task->from_agent, agent_id) || task_was_with(task, agent_id))
			return true;
		task = slice_present(task->parent_task_id) ? task_look(task->parent_task_id, ROWS_LATEST) : NULL;
	}
	return false;
}

/*
 * Whoever waits for a task is told how it has ended, and whoever is below one
 * can keep it from going on.
 */
void
right_require_to_name(const Envelope *request, const Task *task, const char *place)
{
	if (right_is_everywhere(request->from_agent) || right_sees_task(request->from_agent, task))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_NOT_FOUND),
			 errproblem(place, "TASK_NOT_FOUND"),
			 errmsg("\"%.*s\" sees no task \"%.*s\"",
					request->from_agent.len, request->from_agent.s, task->task_id.len, task->task_id.s),
			 errhint("In a run that is parent-only, a request names tasks that its sender has requested, has or had, or that are below these.")));
}

Task *
right_look_task(Slice agent_id, Slice task_id)
{
	Task	   *task;

	/*
	 * a role that may not speak for the agent is told only that, and nothing
	 * about the task
	 */
	principal_require(agent_id, "/from/agent_id");
	task = task_look(task_id, ROWS_LATEST);
	if (task == NULL || !right_has(agent_id, task->run_id))
		verdict_task_not_found(task_id);
	return task;
}

void
right_add_recipients(const Event *event)
{
	/*
	 * events of the database itself go only to those who have to do with the
	 * task
	 */
	if (!event->internal && !right_is_reserved(event->envelope.run_id))
		participant_add_recipients(&event->envelope, event->assigned_to);
}

/* Has one of the agents been given a task of the run? */
static bool
right_have_task(const SliceList *agents, Slice run_id)
{
	bool		found = false;
	RowScan		scan;

	right_scan_tasks(&scan, run_id, ROWS_ACTIVE);
	while (!found && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		found = slices_have(*agents, rows_text(&scan, Anum_task_agent_id));
	}
	rows_end(&scan);
	return found;
}

/* Does one of these agents or groups take part in the run by an event? */
static bool
right_any_looks(const SliceList *names, Slice run_id)
{
	for (int i = 0; i < names->n; i++)
		if (participant_look(names->items[i], run_id))
			return true;
	return false;
}

bool
right_take_part(const SliceList *agents, Slice run_id)
{
	SliceList	groups;

	if (right_is_reserved(run_id))
		return false;
	if (right_any_looks(agents, run_id))
		return true;
	groups = right_groups_of(agents);
	return right_any_looks(&groups, run_id) || right_have_task(agents, run_id);
}

List *
right_list_runs(const SliceList *agents)
{
	SliceList	groups = right_groups_of(agents);
	List	   *runs = NIL;
	List	   *found = NIL;
	ListCell   *cell;

	for (int i = 0; i < agents->n; i++)
		runs = right_list_runs_of_ready(runs, agents->items[i]);
	runs = participant_list_runs(runs, &groups);
	foreach(cell, participant_list_runs(runs, agents))
		if (!right_is_reserved(*(Slice *) lfirst(cell)))
			found = lappend(found, lfirst(cell));
	return found;
}
