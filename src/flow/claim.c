/*-------------------------------------------------------------------------
 *
 * claim.c
 *	  Taking work and holding it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/savepoint.h"
#include "commands/trigger.h"
#include "flow/agenda.h"
#include "flow/claim.h"
#include "flow/displace.h"
#include "flow/due.h"
#include "flow/ending.h"
#include "flow/move.h"
#include "flow/offer.h"
#include "flow/postponed.h"
#include "flow/restored.h"
#include "queue/ready.h"
#include "queue/timer.h"
#include "registry/roster.h"
#include "store/participant.h"
#include "utils/timestamp.h"

/*
 * The part of a tick's work that a claim does in passing.  An agent that finds
 * work leaves that to others, except in every 16th claim of a session, because
 * even if agents are never idle, the task of a dead one must not wait forever.
 */
#define IDLE_SHARE		8
#define BUSY_SHARE		1
#define BUSY_EVERY		16

typedef struct Claim
{
	Slice		agent_id;
	bool		is_paused;
	int64		lease;
	bool		is_wary;		/* tasks are accepted in savepoints */
	List	   *failed;			/* Slice *, those that could not be accepted */
	List	   *tasks;			/* Task *, claimed so far */
} Claim;

/*
 * Is a task being accepted?  If a claim begins with this set, the one before it
 * in this session has failed, or has passed over a task.  Only then does a
 * claim pay for savepoints, and if it is the first one, because many sessions
 * make only one.
 */
static bool accepting = true;

/*
 * if more tasks than this cannot be accepted, it is not because of the tasks
 */
#define MOST_FAILED		16

void
claim_accept(Task *task, Slice agent_id, int64 lease)
{
	TimestampTz now = clock_now();
	TimestampTz runtime_end = move_runtime_end(task, now);
	TaskEvent	event = {STEP_ACCEPT, .agent = agent_id, .wake_at = runtime_end};
	Notice		notice = {MSG_TASK_ACCEPT, MOVE_NONE, agent_id, task->from_agent};
	DocumentBuilder b;

	move_lease(task, now, lease, runtime_end);
	document_begin(&b);
	document_put_int(&b, "attempt", task->attempt);
	document_put_timestamp(&b, "lease_until", task->lease_until);
	notice.payload = document_end(&b);
	(void) move_task(task, &notice, &event);
	participant_remember(agent_id, task->run_id);
}

static void
claim_add_context(void *arg)
{
	const Task *task = arg;

	errcontext("while claiming task \"%.*s\"", task->task_id.len, task->task_id.s);
}

/* Claims a ready task of the agent, unless its deadline has passed. */
static bool
claim_take(Task *task, void *arg)
{
	Claim	   *claim = arg;
	ErrorContextCallback context = {error_context_stack, claim_add_context, task};
	bool		is_over;

	error_context_stack = &context;
	accepting = true;
	is_over = ending_at_deadline(task, clock_now());
	if (!is_over)
	{
		claim_accept(task, claim->agent_id, claim->lease);
		claim->tasks = lappend(claim->tasks, task);
	}
	accepting = claim->failed != NIL;
	error_context_stack = context.previous;
	return !is_over;
}

/* The task may have been accepted already, if what failed is a deferred trigger. */
static void
claim_take_back(Claim *claim, Slice task_id)
{
	const Task *last = claim->tasks != NIL ? llast(claim->tasks) : NULL;

	if (last != NULL && slice_equal(last->task_id, task_id))
		claim->tasks = list_delete_last(claim->tasks);
}

/*
 * Passes over a task that cannot be accepted, so that it does not keep the
 * agent from the others.  A claim that finds nothing else looks at it again.
 * Where no event is admitted, it is not because of the task.
 */
static void
claim_fail(Slice task_id, ErrorData *error, void *arg)
{
	Claim	   *claim = arg;

	claim_take_back(claim, task_id);
	if (slice_list_has(claim->failed, task_id))
		return;
	if (savepoint_failed_by_chance(error) || list_length(claim->failed) == MOST_FAILED ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		ReThrowError(error);
	claim->failed = slice_list_add(claim->failed, task_id);
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("task \"%.*s\" cannot be claimed: %s", task_id.len, task_id.s, error->message),
			 errhint("The other tasks of the agent are handed out. This one can be claimed when nothing refuses it, or cancelled. %s", savepoint_advice(error))));
}

/* Takes ready tasks until there are n, but none below the level. */
static void
claim_ready(Claim *claim, int n, PriorityLevel least_level)
{
	int			missing = n - list_length(claim->tasks);

	if (missing > 0 && !claim->is_paused)
		(void) ready_take(claim->agent_id, missing, least_level, claim_take,
						  claim->is_wary ? claim_fail : NULL, claim);
}

/* The same for waiting tasks that fit the agent, after giving them to it. */
static void
claim_waiting(Claim *claim, int n, PriorityLevel least_level)
{
	int			missing = n - list_length(claim->tasks);

	if (missing > 0 && !claim->is_paused && offer_work(claim->agent_id, missing, true) > 0)
		claim_ready(claim, n, least_level);
}

/*
 * Puts a share of a tick's work on the agenda, which also handles some of what
 * was postponed (flow/settle.h).  Most of the time there is nothing to do, and
 * then the commit should not have to pay for looking.
 */
static void
claim_share(int share)
{
	if (postponed_is_any() || (share > 0 && timer_is_due(clock_now())))
		agenda_add_agent(CONSEQUENCE_TIMERS, SLICE_OF(""), share);
}

/*
 * Moves due tasks, which may become the agent's, or make room for one that is
 * waiting.
 */
static void
claim_due(Claim *claim, int n)
{
	bool		may_move = due_may_move_now();
	bool		moved = false;
	int			share;

	claim_share(may_move ? 0 : IDLE_SHARE);
	if (!may_move)
		return;
	for (share = IDLE_SHARE; share > 0 && list_length(claim->tasks) < n; share--)
	{
		DueReport	report = due_work(1);

		if (due_moved(&report) == 0)
			break;
		moved = true;
		claim_ready(claim, n, LEVEL_BATCH);
	}
	if (moved)
		claim_waiting(claim, n, LEVEL_BATCH);
}

List *
claim_tasks(Slice agent_id, int n, int64 lease)
{
	static int	claims = 0;
	Claim		claim = {agent_id, roster_pauses_agent(roster_get(), agent_id), lease, accepting || savepoint_is_deferring()};

	accepting = false;
	(void) restored_epoch();
	rows_expect_writing();
	if (++claims % BUSY_EVERY == 0)
		claim_share(BUSY_SHARE);
	claim_ready(&claim, n, LEVEL_LOW);
	claim_waiting(&claim, n, LEVEL_LOW);
	/* batch work is for an agent that has nothing else to do */
	if (claim.tasks == NIL && !claim.is_paused && displace_batch_work(agent_id, n) > 0)
		claim_ready(&claim, n, LEVEL_LOW);
	if (claim.tasks == NIL)
		claim_ready(&claim, n, LEVEL_BATCH);
	if (claim.tasks == NIL)
		claim_due(&claim, n);
	return claim.tasks;
}

LeaseState
claim_extend(Slice agent_id, Slice task_id, int attempt, int64 lease, TimestampTz *until)
{
	Task	   *task;

	(void) restored_epoch();
	/*
	 * do not lock a task of others, because our transaction may take a long
	 * time
	 */
	task = task_look(task_id, ROWS_LATEST);
	if (task == NULL || !task_was_with(task, agent_id))
		return LEASE_LOST;
	task = task_lock(task_id);
	if (task == NULL)
		return LEASE_LOST;
	(void) ending_at_deadline(task, clock_now());
	if (task->status == TASK_CANCELLED)
		return LEASE_CANCELLED;
	if (task->status != TASK_RUNNING || (attempt > 0 && task->attempt != attempt) ||
		!slice_equal(task->agent_id, agent_id))
		return LEASE_LOST;
	move_lease(task, clock_now(), lease, task->wake_at);
	*until = task->lease_until;
	timer_set(task);
	task_save(task);
	return LEASE_HELD;
}
