/*-------------------------------------------------------------------------
 *
 * rebuild.c
 *	  Every derived table, made anew from the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/query.h"
#include "base/rows.h"
#include "flow/assign.h"
#include "flow/budget.h"
#include "flow/claim.h"
#include "flow/dependency.h"
#include "flow/join.h"
#include "flow/rebuild.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "queue/question.h"
#include "queue/ready.h"
#include "queue/timer.h"
#include "queue/waiting.h"
#include "registry/agent.h"
#include "registry/breaker.h"
#include "registry/slot.h"
#include "routing/requirement.h"
#include "settings.h"
#include "store/epoch.h"
#include "store/event.h"
#include "store/scope.h"
#include "store/spending.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* an event of the log, as far as rebuilding needs it */
typedef struct LoggedEvent
{
	Envelope	envelope;
	int64		seq;
	TimestampTz at;
	Slice		scope;
} LoggedEvent;

static void
empty_state(void)
{
	static QueryPlan lock = {"LOCK TABLE clutch.events IN SHARE ROW EXCLUSIVE MODE", 0};
	static QueryPlan empty = {
		"TRUNCATE clutch.agent_registry, clutch.agent_slot, clutch.agent_failure, clutch.run_scope, "
		"clutch.task, clutch.ready, clutch.waiting, "
		"clutch.dependency, clutch.budget, clutch.spending, clutch.question, clutch.timer", 0
	};

	(void) query_execute(&lock, NULL, NULL);
	(void) query_execute(&empty, NULL, NULL);
}

/* the slot is taken or freed as it was when it happened, whatever the limit */
static void
hold_slot(Task *task)
{
	if (task->slot_no < 0 && slice_present(task->agent_id))
		task->slot_no = slot_take(task->agent_id, PG_INT32_MAX, task->task_id,
								  task->request_seq);
}

static void
assign_logged(Task *task, Slice agent_id, int64 seq, TimestampTz at)
{
	TaskEvent	event = {STEP_ASSIGN, seq, at, agent_id};

	(void) assign_withdraw(task, OUTCOME_NONE);
	task_apply(task, &event);
	hold_slot(task);
}

static void
rebuild_request(LoggedEvent *logged)
{
	const Envelope *request = &logged->envelope;
	Task	   *task = task_lock(request->task_id, true);
	Requirement requirement;

	if (task != NULL)
	{
		/* not late, so it was handed over, unless to who has it */
		if (!slice_equal(task->agent_id, request->to_agents.items[0]))
			assign_logged(task, request->to_agents.items[0], logged->seq, logged->at);
		task_save(task);
		return;
	}
	(void) scope_of_request(&logged->envelope, false);
	task = task_create(request, logged->scope, task_depth_below(request->parent_task_id),
					   logged->seq, logged->at);
	budget_set(request, logged->seq);
	join_begin(task, slice_present(task->parent_task_id) ?
			   task_look(task->parent_task_id, ROWS_LATEST) : NULL);
	(void) dependency_begin(task, request);
	requirement_of(request, task->scope, &requirement);
	/* given without choice, unless a routing.failure follows and takes it back */
	if (requirement_is_direct(&requirement) && !requirement.has_after && !task_is_held(task))
		assign_logged(task, requirement.named.items[0], logged->seq, logged->at);
	task_save(task);
}

/* the agent that a request named could not have it after all */
static void
take_back(Task *task, const LoggedEvent *logged)
{
	(void) assign_withdraw(task, OUTCOME_NONE);
	task->agent_id = SLICE_NONE;
	task->status = TASK_PENDING;
	task->since = task->created_at;
}

static int
outcome_of(TaskStep step)
{
	if (step == STEP_RESULT)
		return OUTCOME_DONE;
	if (step == STEP_ERROR || step == STEP_TIMEOUT || step == STEP_LEASE_EXPIRED)
		return OUTCOME_FAILED;
	return OUTCOME_NONE;
}

/* what the database said with a move of its own */
static void
describe_move(JsonbContainer *payload, TaskEvent *event)
{
	int64		priority;

	if (event->step == STEP_ANSWER)
		(void) document_get_int(payload, "answer_seq", &event->answer_seq);
	if (event->step == STEP_RETRY &&
		!clock_parse_rfc3339(document_get_text(payload, "not_before"), &event->wake_at))
		event->wake_at = 0;
	if (event->step == STEP_RETRY &&
		!clock_parse_rfc3339(document_get_text(payload, "deadline"), &event->deadline))
		event->deadline = 0;
	if (event->step == STEP_LIFT && document_get_int(payload, "priority", &priority))
		event->priority = priority;
}

/*
 * As intake, ending and claim do.  A task that the database ended before its
 * agent could have it seems to be given, until that event says so.
 */
static void
count_outcome(const Task *task, const TaskEvent *event, JsonbContainer *payload)
{
	TimestampTz until;
	bool		failed = false;

	if (event->step == STEP_ERROR)
		failed = slice_equal(event->agent, task->agent_id) ||
			(task->slot_no >= 0 &&
			 !slice_equal(document_get_text(payload, "was"), SLICE_OF("pending")));
	else if (event->step == STEP_TIMEOUT)
		failed = task->slot_no >= 0;
	else if (event->step == STEP_LEASE_EXPIRED)
		failed = clock_parse_rfc3339(document_get_text(payload, "lease_until"), &until) &&
			until <= event->at;
	if (failed || event->step == STEP_RESULT)
		breaker_count(task->agent_id, event->seq, event->at,
					  !failed ? BREAKER_DONE :
					  event->step == STEP_ERROR ? BREAKER_FAILED : BREAKER_TIMED_OUT);
}

static void
rebuild_step(LoggedEvent *logged)
{
	const Envelope *e = &logged->envelope;
	JsonbContainer *payload = e->payload.val.binary.data;
	TaskEvent	event = {STEP_ACCEPT, logged->seq, logged->at, e->from_agent};
	Task	   *task = task_lock(e->task_id, true);

	if (task == NULL || !task_step_of(e->type, e->orders.move, &event.step))
		return;
	question_step(e, &event);
	describe_move(payload, &event);
	event.code = document_get_text(payload, "code");
	event.detail = document_get_text(payload, e->type == MSG_TASK_CANCEL ? "reason" : "message");
	count_outcome(task, &event, payload);
	if (task->status == TASK_ASSIGNED && (event.step == STEP_ACCEPT || event.step == STEP_PROGRESS))
		event.wake_at = claim_runtime_end(task, event.at);
	switch (event.step)
	{
		case STEP_ASSIGN:
			assign_logged(task, document_get_text(payload, "selected"), event.seq, event.at);
			break;
		case STEP_FAIL_TO_ROUTE:
			if (task->status == TASK_ASSIGNED)
				take_back(task, logged);
			task_apply(task, &event);
			break;
		case STEP_ACCEPT:
			if (!clock_parse_rfc3339(document_get_text(payload, "lease_until"), &task->lease_until))
				task->lease_until = 0;
			task_apply(task, &event);
			break;
		case STEP_PROGRESS:
		case STEP_JOIN:
		case STEP_LIFT:
			task_apply(task, &event);
			break;
		case STEP_ERROR:
		case STEP_CANCEL:
			/* the database ended it before the agent it names could have it */
			if (task->status == TASK_ASSIGNED &&
				slice_equal(document_get_text(payload, "was"), SLICE_OF("pending")) &&
				slice_equal(e->from_agent, slice_of_cstring(clutch_orchestrator)))
				take_back(task, logged);
			/* FALLTHROUGH */
		default:
			(void) assign_withdraw(task, outcome_of(event.step));
			task_apply(task, &event);
			break;
	}
	task_save(task);
}

static void
rebuild_event(LoggedEvent *logged)
{
	MessageType type = logged->envelope.type;

	if (message_type_is_agent(type))
		agent_apply(&logged->envelope, logged->seq, logged->at);
	else if (type == MSG_TASK_REQUEST)
		rebuild_request(logged);
	else if (message_type_is_task(type))
		rebuild_step(logged);
}

/* as intake does */
static void
charge(const LoggedEvent *logged)
{
	const Envelope *report = &logged->envelope;
	Task	   *task = report->orders.has_usage ? task_look(report->task_id, ROWS_LATEST) : NULL;

	if (task != NULL && task_was_with(task, report->from_agent))
		spending_charge(report, logged->seq);
}

static int64
replay_log(void)
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
		/* from elsewhere: never judged here */
		if (rows_int4(&scan, Anum_event_epoch) > 0)
		{
			envelope_read_admitted(rows_jsonb(&scan, Anum_event_envelope),
								   &logged.envelope, problem_list());
			logged.seq = rows_int8(&scan, Anum_event_seq);
			logged.at = rows_timestamp(&scan, Anum_event_received_at);
			logged.scope = rows_text(&scan, Anum_event_scope);
			charge(&logged);
			/* late: changed nothing else */
			if (!rows_bool(&scan, Anum_event_late))
				rebuild_event(&logged);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
	return n;
}

/* ------------------------------------------------------------------ queues */

static int
compare_since(const ListCell *a, const ListCell *b)
{
	const Task *x = lfirst(a);
	const Task *y = lfirst(b);

	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return x->request_seq < y->request_seq ? -1 : x->request_seq > y->request_seq ? 1 : 0;
}

static void
put_to_wait(Task *task)
{
	Jsonb	   *document = event_read(task->request_seq, ROWS_LATEST);
	Requirement requirement;
	Envelope	request;

	if (document == NULL)
		return;
	envelope_read_admitted(document, &request, problem_list());
	requirement_of(&request, task->scope, &requirement);
	waiting_put(task, &requirement);
}

/* by what it waits for, in its queue or held */
static void
queue_pending(Task *task)
{
	if (slice_equal(task->waiting_for, SLICE_OF("sibling")) && !dependency_hold(task))
		task->waiting_for = SLICE_OF("time");
	if (!task_is_held(task) && !dependency_hold(task))
		put_to_wait(task);
}

/* what is not over goes back to its queue, in the order in which it came */
static int64
rebuild_queues(void)
{
	List	   *live = NIL;
	int64		n;
	ListCell   *cell;

	foreach(cell, task_list_live(&n))
	{
		CHECK_FOR_INTERRUPTS();
		live = lappend(live, task_lock(*(Slice *) lfirst(cell), true));
	}
	list_sort(live, compare_since);
	foreach(cell, live)
	{
		Task	   *task = lfirst(cell);

		CHECK_FOR_INTERRUPTS();
		if (task->status == TASK_ASSIGNED)
			ready_put(task);
		else if (task->status == TASK_INPUT_REQUIRED)
			question_put(task);
		else if (task->status == TASK_PENDING)
			queue_pending(task);
		else if (task->status == TASK_RUNNING && task->lease_until == 0)
			task->lease_until = TimestampTzPlusMilliseconds(clock_now(),
															(int64) clutch_default_lease * 1000);
		timer_set(task);
		task_save(task);
	}
	return n;
}

RebuildReport
rebuild_all(void)
{
	RebuildReport report;

	empty_state();
	report.events = replay_log();
	report.tasks = rebuild_queues();
	report.agents = roster_size(roster_get());
	return report;
}
