/*-------------------------------------------------------------------------
 *
 * rebuild.c
 *	  Rebuilding all derived tables from the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/crypto.h"
#include "base/hash64.h"
#include "base/query.h"
#include "base/rows.h"
#include "flow/agenda.h"
#include "flow/budget.h"
#include "flow/contract.h"
#include "flow/dependency.h"
#include "flow/emission.h"
#include "flow/expiry.h"
#include "flow/imported.h"
#include "flow/join.h"
#include "flow/keep.h"
#include "flow/move.h"
#include "flow/rebuild.h"
#include "flow/replay.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "protocol/problem.h"
#include "queue/question.h"
#include "queue/ready.h"
#include "queue/suspended.h"
#include "queue/timer.h"
#include "queue/waiting.h"
#include "registry/agent.h"
#include "registry/roster.h"
#include "registry/slot.h"
#include "routing/requirement.h"
#include "routing/rule.h"
#include "settings.h"
#include "store/event.h"
#include "store/participant.h"
#include "store/scope.h"
#include "store/spending.h"
#include "store/visibility.h"
#include "task/edge.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* an event of the log, as far as a rebuild needs it */
typedef struct LoggedEvent
{
	Envelope	envelope;
	int64		seq;
	TimestampTz at;
	Slice		scope;
} LoggedEvent;

/* Was the event that is being replayed imported?  In that case it does not count for any agent here. */
static bool rebuild_is_foreign = false;

static void
rebuild_empty_state(void)
{
	static QueryPlan guard = {"LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE", 0};
	static QueryPlan lock = {"LOCK TABLE clutch.events IN SHARE ROW EXCLUSIVE MODE", 0};
	static QueryPlan empty = {
		"TRUNCATE clutch.agent_registry, clutch.agent_slot, clutch.agent_failure, clutch.pause, clutch.run_scope, "
		"clutch.run_visibility, clutch.task, clutch.ready, clutch.waiting, clutch.dependency, clutch.budget, "
		"clutch.spending, clutch.question, clutch.suspended, clutch.awaited, clutch.step, clutch.timer, clutch.expiry, "
		"clutch.workflow_task"
	};

	(void) query_execute(&guard, NULL);	/* a concurrent GRANT makes TRUNCATE fail */
	(void) query_execute(&lock, NULL);
	(void) query_execute(&empty, NULL);
}

/* --------------------------------------------------------- records of agents */

/* how the tasks of an agent ended */
typedef struct AgentRecord
{
	uint64		agent;			/* key: hash of agent_id */
	Slice		agent_id;
	int64		done;
	int64		failed;
	int64		chosen_seq;
} AgentRecord;

static HTAB *agent_records = NULL;
static MemoryContext agent_records_context = NULL;

static void
rebuild_agent_records_begin(void)
{
	agent_records_context = CurrentMemoryContext;
	agent_records = hash64_create("clutch rebuild agents", sizeof(AgentRecord), 64, agent_records_context);
}

static AgentRecord *
rebuild_agent_record_of(Slice agent_id)
{
	uint64		key = crypto_name_hash(agent_id);
	bool		found;
	AgentRecord *record = hash_search(agent_records, &key, HASH_ENTER, &found);

	if (!found)
	{
		MemoryContext old = MemoryContextSwitchTo(agent_records_context);

		record->agent_id = slice_copy(agent_id);
		record->done = record->failed = record->chosen_seq = 0;
		MemoryContextSwitchTo(old);
	}
	return record;
}

static void
rebuild_agent_records_write(void)
{
	HASH_SEQ_STATUS status;
	AgentRecord *record;

	hash_seq_init(&status, agent_records);
	while ((record = hash_seq_search(&status)) != NULL)
		slot_restore(record->agent_id, record->done, record->failed, record->chosen_seq);
}

/* ------------------------------------------------------------ the log again */

static void
rebuild_count_outcome(const Task *task, AttemptOutcome outcome)
{
	AgentRecord *record = rebuild_agent_record_of(task->agent_id);

	if (outcome == ATTEMPT_DONE)
		record->done++;
	else
		record->failed++;
}

static void
rebuild_count_step(const Task *task, const TaskEvent *event, AttemptOutcome outcome)
{
	if (outcome != ATTEMPT_UNDECIDED)
		rebuild_count_outcome(task, outcome);
	if (event->step == STEP_ASSIGN)
		rebuild_agent_record_of(event->agent)->chosen_seq = task->request_seq;
	move_count_outcome(task->agent_id, event, outcome);
}

/* Does what move_task does, but the task enters its place only after the whole log has been read. */
static void
rebuild_replay_step(Task *task, TaskEvent *event)
{
	AttemptOutcome outcome = step_outcome(task, event);
	TaskStatus	to;

	/* the log does not explain this state; nothing is lost by reading on */
	if (!transition_find(task->status, event->step, &to))
		return;
	if (!rebuild_is_foreign)
		rebuild_count_step(task, event, outcome);
	if (task->status == TASK_ASSIGNED && to == TASK_RUNNING)
		event->wake_at = move_runtime_end(task, event->at);
	(void) record(task, NULL, event);
	task->lease_until = to != TASK_RUNNING ? 0 :
		event->step == STEP_ACCEPT ? event->lease_until : task->lease_until;
}

static void
rebuild_replay_assign(Task *task, const LoggedEvent *logged)
{
	TaskEvent	event = {STEP_ASSIGN, logged->seq, logged->at, logged->envelope.to_agents.items[0]};

	rebuild_replay_step(task, &event);
}

/*
 * A request that names one agent gave the task to it without a decision.  If it did not, a
 * routing.failure or the end of the task follows and takes it back (task/step.c).
 */
static void
rebuild_replay_first_request(LoggedEvent *logged)
{
	const Envelope *request = &logged->envelope;
	bool		has_parent = slice_present(request->parent_task_id);
	Task	   *parent = has_parent ? replay_find(request->parent_task_id) : NULL;
	int			depth = parent != NULL ? parent->depth + 1 : has_parent ? TASK_DEPTH_UNKNOWN : 0;
	Task	   *task = task_of_request(request, logged->scope, depth, logged->seq, logged->at);
	Requirement requirement;

	(void) scope_of_request(request, false);
	visibility_set(request, false);
	budget_set(request, logged->seq);
	join_begin(task, parent);
	for (int i = 0; i < request->orders.after.n; i++)
		edge_insert(task, request->orders.after.items[i], 0);
	if (request->orders.after.n > 0)
		task->waiting_for = WAITING_FOR_SIBLING;
	contract_replay(task, request);
	requirement_of(request, task->scope, &requirement);
	if (requirement_is_direct(&requirement) && !task_is_held(task))
		rebuild_replay_assign(task, logged);
	replay_keep(task);
}

static void
rebuild_replay_request(LoggedEvent *logged)
{
	Task	   *task = replay_find(logged->envelope.task_id);

	if (task == NULL)
		rebuild_replay_first_request(logged);
	else if (!slice_equal(task->agent_id, logged->envelope.to_agents.items[0]))
	{
		/* the second request is not late, so it was a hand-over */
		rebuild_replay_assign(task, logged);
		replay_keep(task);
	}
}

static void
rebuild_replay_report(LoggedEvent *logged)
{
	Task	   *task = replay_find(logged->envelope.task_id);
	TaskEvent	event;
	TaskBinding bound;

	if (task == NULL || !step_read(&logged->envelope, logged->seq, logged->at, &event))
		return;
	rebuild_replay_step(task, &event);
	if (event.step == STEP_SHARE && task->wait_seq == logged->seq)
		emission_replay_share(task, &logged->envelope);
	if (event.step == STEP_KEEP)
		keep_replay(&logged->envelope, logged->seq);
	if (contract_binds(&logged->envelope, &bound))
		contract_note(&logged->envelope, &bound, logged->seq);
	/* a retried task may wait for others, as it did the first time */
	if (event.step == STEP_RETRY && event.wake_at == 0 &&
		edge_list_awaited(task->task_id) != NIL)
		task->waiting_for = task_is_shared(task) ? WAITING_FOR_CHILDREN : WAITING_FOR_SIBLING;
	replay_keep(task);
}

/* Does what intake does: the money is spent, late or not. */
static void
rebuild_replay_spending(const LoggedEvent *logged)
{
	const Envelope *report = &logged->envelope;
	Task	   *task = report->orders.has_usage ? replay_find(report->task_id) : NULL;

	if (task != NULL && task_was_with(task, report->from_agent))
		spending_charge(report, logged->seq, logged->at);
}

/* ---------------------------------------------------------------- each event */

static void
rebuild_replay_event(LoggedEvent *logged, bool is_late)
{
	MessageType type = logged->envelope.type;

	rebuild_replay_spending(logged);
	if (is_late)
		return;
	if (message_type_is_agent(type))
		agent_apply(&logged->envelope, logged->seq, logged->at);
	else if (type == MSG_TASK_REQUEST)
		rebuild_replay_request(logged);
	else if (message_type_is_task(type))
		rebuild_replay_report(logged);
	else if (!rebuild_is_foreign)
		expiry_note(&logged->envelope, logged->seq);
}

static int64
rebuild_replay_log(void)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch rebuild event",
											   ALLOCSET_DEFAULT_SIZES);
	int64		n = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		MemoryContext old = MemoryContextSwitchTo(each);
		LoggedEvent logged;

		CHECK_FOR_INTERRUPTS();
		n++;
		/* an event that came by replication was never judged here */
		if (rows_int4(&scan, Anum_event_epoch) > 0)
		{
			envelope_read_admitted(rows_jsonb(&scan, Anum_event_envelope),
								   &logged.envelope, problem_list());
			participant_add_recipients(&logged.envelope, SLICE_NONE);
			logged.seq = rows_int8(&scan, Anum_event_seq);
			logged.at = rows_timestamp(&scan, Anum_event_received_at);
			logged.scope = rows_text(&scan, Anum_event_scope);
			rebuild_is_foreign = imported_has(&logged.envelope, rows_xid8(&scan, Anum_event_xid));
			rebuild_replay_event(&logged, rows_bool(&scan, Anum_event_late));
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
	return n;
}

/* ------------------------------------------------------------------ places */

/* when a live task came to the place where it is */
typedef struct LiveTask
{
	Slice		task_id;
	TimestampTz since;
	int64		request_seq;
} LiveTask;

static int
rebuild_compare_arrivals(const ListCell *a, const ListCell *b)
{
	const LiveTask *x = lfirst(a);
	const LiveTask *y = lfirst(b);

	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return x->request_seq < y->request_seq ? -1 : x->request_seq > y->request_seq ? 1 : 0;
}

/* Returns false if its request is not in the log. */
static bool
rebuild_read_requirement(const Task *task, Requirement *requirement)
{
	Jsonb	   *document = event_read(task->request_seq, ROWS_LATEST);
	Envelope	request;

	if (document == NULL)
		return false;
	envelope_read_admitted(document, &request, problem_list());
	rule_requirement_of(&request, task->scope, requirement);
	return true;
}

static void
rebuild_place_pending(Task *task)
{
	Requirement requirement;

	if (task_awaits_others(task))
		dependency_wait_again(task);
	if (!task_is_held(task) && rebuild_read_requirement(task, &requirement))
		waiting_put(task, &requirement);
}

/* Offers the task to other agents as well, as a tick would do, if its agent has not claimed it in time. */
static void
rebuild_place_ready(Task *task)
{
	TimestampTz end = timer_claim_end(task);
	Requirement requirement;

	ready_put(task);
	if (end != 0 && end <= clock_now() && rebuild_read_requirement(task, &requirement))
		waiting_offer(task, &requirement);
}

/* Does what move_task does when a task is assigned.  Later, only its deadline is left. */
static void
rebuild_place_timer(Task *task)
{
	TimestampTz early = TimestampTzPlusMilliseconds(task->since,
													(int64) clutch_default_lease * 1000);

	if (task->status == TASK_ASSIGNED && early > clock_now())
		timer_set_before(task, early);
	else
		timer_set(task);
}

/* Wakes the task if what it waits for has happened in a transaction that was postponed. */
static void
rebuild_place_suspended(Task *task)
{
	suspended_put(task);
	agenda_add_task(CONSEQUENCE_WAKE, task->depth, task->task_id);
}

/* Puts the task into the place that its state requires; see flow/move.h. */
static void
rebuild_place_task(Task *task)
{
	/* the task keeps its slot even if the limit has been lowered since */
	if (task_status_holds_slot(task->status))
		task->slot_no = slot_take(task->agent_id, PG_INT32_MAX, task->task_id, task->request_seq);
	if (task->status == TASK_ASSIGNED)
		rebuild_place_ready(task);
	else if (task->status == TASK_INPUT_REQUIRED)
		question_put(task);
	else if (task->status == TASK_SUSPENDED)
		rebuild_place_suspended(task);
	else if (task->status == TASK_PENDING)
		rebuild_place_pending(task);
	else if (task->status == TASK_RUNNING && task->lease_until == 0)
		task->lease_until = TimestampTzPlusMilliseconds(clock_now(),
														(int64) clutch_default_lease * 1000);
	rebuild_place_timer(task);
	task_save(task);
}

/* Puts the tasks that are not over back into their queues in the order in which they arrived. */
static void
rebuild_place_all(void)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch rebuild place",
											   ALLOCSET_DEFAULT_SIZES);
	List	   *live = NIL;
	int64		n;
	ListCell   *cell;
	MemoryContext old;

	foreach(cell, task_list_live(&n))
	{
		Slice		task_id = *(Slice *) lfirst(cell);
		LiveTask   *arrival = palloc(sizeof(LiveTask));
		Task	   *task;

		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(each);
		task = task_look(task_id, ROWS_LATEST);
		*arrival = (LiveTask) {task_id, task->since, task->request_seq};
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
		live = lappend(live, arrival);
	}
	list_sort(live, rebuild_compare_arrivals);
	old = MemoryContextSwitchTo(each);
	foreach(cell, live)
	{
		CHECK_FOR_INTERRUPTS();
		rebuild_place_task(task_look(((LiveTask *) lfirst(cell))->task_id, ROWS_LATEST));
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

RebuildReport
rebuild_all(void)
{
	RebuildReport report;

	rebuild_empty_state();
	rebuild_agent_records_begin();
	imported_begin();
	replay_begin(false);
	report.events = rebuild_replay_log();
	participant_forget_gone_runs();
	report.tasks = replay_end();
	rebuild_agent_records_write();
	rebuild_place_all();
	report.agents = roster_size(roster_get());
	return report;
}

/* ------------------------------------------------------------------ one run */

void
rebuild_import_begin(void)
{
	rebuild_is_foreign = true;
	replay_begin(true);
}

void
rebuild_import_event(const Event *event)
{
	LoggedEvent logged = {event->envelope, event->seq, event->received_at, event->scope};

	rebuild_replay_event(&logged, event->late);
}

int64
rebuild_import_end(void)
{
	return replay_end();
}
