/*-------------------------------------------------------------------------
 *
 * emission_share.c
 *	  Sharing requests out: each of several agents gets a child.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/savepoint.h"
#include "contract/binding.h"
#include "flow/emission_part.h"
#include "flow/ending.h"
#include "flow/move.h"
#include "protocol/problem.h"
#include "settings.h"
#include "task/edge.h"
#include "trust/principal.h"

/* ---------------------------------------------------------------- the event */

/* an element of "children" in the event */
typedef struct SharedChild
{
	Slice		task_id;
	Slice		to;				/* an agent or a group */
} SharedChild;

/*
 * Reads the children, in the order of the rules, into a palloc'd array.
 * Returns their number.
 */
static int
emission_share_read(JsonbContainer *payload, SharedChild **children)
{
	JsonbContainer *array = document_get_container(payload, "children");
	int			n = array != NULL && JsonContainerIsArray(array) ? JsonContainerSize(array) : 0;

	*children = palloc(sizeof(SharedChild) * n);
	for (int i = 0; i < n; i++)
	{
		JsonbValue *child = getIthJsonbValueFromContainer(array, i);
		JsonbContainer *object = child->type == jbvBinary ? child->val.binary.data : NULL;

		(*children)[i].task_id = document_get_text(object, "task_id");
		(*children)[i].to = document_get_text(object, "to");
	}
	return n;
}

/* Returns the payload of the event that has shared the task out. */
static JsonbContainer *
emission_share_payload(const Task *task)
{
	Jsonb	   *event = event_read(task->wait_seq, ROWS_LATEST);

	return event == NULL ? NULL : document_get_container(&event->root, "payload");
}

static Jsonb *
emission_share_build(Emission *emission, const Sharing *sharing, const Requirement *requirement)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "shared");
	document_put_text(&b, "rule", sharing->rule);
	document_put_jsonb(&b, "emit", emission->emit);
	if (requirement->priority >= 0)
		document_put_int(&b, "priority", requirement->priority);
	if (sharing->left_out > 0)
		document_put_int(&b, "left_out", sharing->left_out);
	document_open_array(&b, "children");
	for (emission->n = 0; emission->n < sharing->among.n; emission->n++)
	{
		document_open_object(&b, NULL);
		document_put_text(&b, "task_id", emission_id(emission, "task"));
		document_put_text(&b, "to", sharing->among.items[emission->n]);
		document_close_object(&b);
	}
	document_close_array(&b);
	return document_end(&b);
}

/* ------------------------------------------------------------------ sharing */

/*
 * Is the task a step of a workflow?  A step is done by a single agent, whose
 * result must obey the contract of the step.
 */
static bool
emission_share_is_step(const Task *task)
{
	TaskBinding bound;

	return binding_of_task(task->task_id, &bound) && slice_present(bound.step);
}

/*
 * Has the task never been given to an agent, shared out, or put into a queue?
 * Any claim may give a task in a queue to an agent, so such a task stays with
 * a single agent.
 */
static bool
emission_share_is_new(const Task *task)
{
	return task->past_agents.n == 0 && !slice_present(task->code) && !task_is_shared(task);
}

static void
emission_share_insert_edges(const Task *task, JsonbContainer *payload)
{
	SharedChild *children;
	int			n = emission_share_read(payload, &children);

	for (int i = 0; i < n; i++)
		edge_insert(task, children[i].task_id, 0);
}

/* Fills in the rule and the sharing, if the request is to be shared out. */
static bool
emission_share_find(Emission *emission, const Requirement *requirement, Sharing *sharing)
{
	if (!rule_sharing_of(&emission->envelope, requirement, sharing))
		return false;
	emission->rule = sharing->rule;
	emission->emit = rule_emit_of(sharing->rule);
	return emission_is_wanted(emission);
}

/* Returns the emission of a request that may not be in the log. */
static Emission
emission_share_of_request(const Envelope *request, const Requirement *requirement)
{
	Emission	emission = {.document = request->doc, .envelope = *request, .event_is_request = true};

	emission.task = task_of_request(request, requirement->scope, 0, 0, clock_now());
	return emission;
}

bool
emission_would_share(const Envelope *request, const Requirement *requirement, Sharing *sharing)
{
	Emission	emission = emission_share_of_request(request, requirement);

	return !slice_present(request->orders.step_of) && emission_share_find(&emission, requirement, sharing);
}

Jsonb *
emission_would_request(const Envelope *request, const Requirement *requirement, const Sharing *sharing, int n)
{
	Emission	emission = emission_share_of_request(request, requirement);

	emission.rule = sharing->rule;
	emission.emit = rule_emit_of(sharing->rule);
	emission.sender = requirement_sender(request);
	emission.shares = true;
	emission.n = n;
	return emission_make(&emission, request->doc, sharing->among.items[n], SLICE_NONE);
}

bool
emission_share(Task *task, const Envelope *request, const Requirement *requirement)
{
	Emission	emission = {.document = request->doc, .envelope = *request, .task = task, .event_is_request = true};
	TaskEvent	event = {STEP_SHARE, .has_priority = requirement->priority >= 0, .priority = requirement->priority};
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_SHARED, .to = task->from_agent};
	Sharing		sharing;

	if (!emission_share_is_new(task) || !emission_share_find(&emission, requirement, &sharing) ||
		emission_share_is_step(task))
		return false;
	notice.payload = emission_share_build(&emission, &sharing, requirement);
	emission_share_insert_edges(task, &notice.payload->root);
	(void) move_task(task, &notice, &event);
	if (sharing.left_out > 0)
		ereport(principal_level(emission.envelope.from_agent),
				(errmsg("rule \"%.*s\" has shared task \"%.*s\" out among the first %d agents and groups, and left out %d more",
						sharing.rule.len, sharing.rule.s, task->task_id.len, task->task_id.s,
						sharing.among.n, sharing.left_out)));
	agenda_add_task(CONSEQUENCE_SHARE, task->depth, task->task_id);
	return true;
}

void
emission_replay_share(const Task *task, const Envelope *event)
{
	emission_share_insert_edges(task, event->payload.val.binary.data);
}

/* --------------------------------------------------------------- requesting */

/*
 * Has the child been requested?  Its ID is in the log before that happens, so
 * somebody else may have used it.
 */
static bool
emission_share_is_requested(Slice task_id)
{
	Task	   *child = task_look(task_id, ROWS_LATEST);

	if (child != NULL && !slice_is(child->from_agent, clutch_orchestrator))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/task_id", "TASK_EXISTS"),
				 errmsg("its ID \"%.*s\" belongs to a task that \"%.*s\" has requested; send the request again with another id",
						task_id.len, task_id.s, child->from_agent.len, child->from_agent.s)));
	return child != NULL;
}

/*
 * Returns the template of the children, as the rule has it now, because it may
 * have been corrected, or as it was if the rule is gone.  Returns NULL if the
 * event has been redacted, too.
 */
static Jsonb *
emission_share_template(Slice rule, JsonbContainer *payload)
{
	Jsonb	   *emit = rule_emit_of(rule);
	JsonbValue	was;

	if (emit != NULL || !document_get(payload, "emit", &was))
		return emit;
	return JsonbValueToJsonb(&was);
}

static void
emission_share_send(void *arg)
{
	Emission   *emission = arg;
	JsonbContainer *payload = emission_share_payload(emission->task);
	SharedChild *children;
	int			n = emission_share_read(payload, &children);

	emission->rule = document_get_text(payload, "rule");
	emission->emit = emission_share_template(emission->rule, payload);
	if (emission->emit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("rule \"%.*s\" is gone", emission->rule.len, emission->rule.s)));
	for (int i = 0; i < n; i++)
	{
		emission->n = i;
		if (emission_share_is_requested(children[i].task_id))
			continue;
		emission_send(emission, emission->document, children[i].to, children[i].task_id);
	}
}

/*
 * The task stays locked, so it cannot end while its children are requested.
 * If one of them is refused, none is requested, and the task fails.
 */
bool
emission_settle_share(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_lock_now(consequence->subject, &busy);
	Emission	emission = {.task = task, .shares = true};
	ErrorData  *error;

	if (task == NULL || !task_awaits_others(task) || !task_is_shared(task))
		return !busy;
	emission.document = task_request(task);
	if (emission.document == NULL)
		return true;
	envelope_read_admitted(emission.document, &emission.envelope, problem_list());
	emission.sender = requirement_sender(&emission.envelope);
	error = emission_try(emission_share_send, &emission);
	if (error != NULL && savepoint_failed_by_chance(error))
		return false;
	if (error != NULL)
		ending_fail(task, "SHARE_REFUSED",
					psprintf("a child for one of the agents could not be requested: %s", error->message));
	return true;
}

/* --------------------------------------------------------------- collecting */

/*
 * Returns the first of them that is not a child of the task, or NULL if all
 * are.
 */
static const SharedChild *
emission_share_stranger(const Task *task, const SharedChild *children, int n)
{
	for (int i = 0; i < n; i++)
	{
		Task	   *child = task_look(children[i].task_id, ROWS_LATEST);

		if (child == NULL || !slice_equal(child->parent_task_id, task->task_id) ||
			!slice_is(child->from_agent, clutch_orchestrator))
			return &children[i];
	}
	return NULL;
}

/*
 * Gets what the child has reported.  Returns false if it is no longer in the
 * log.
 */
static bool
emission_share_result(const Task *child, JsonbValue *payload)
{
	Jsonb	   *result = child->result_seq == 0 ? NULL : event_read(child->result_seq, ROWS_LATEST);

	return result != NULL && document_get(&result->root, "payload", payload);
}

/*
 * Puts a result.  Its payload is left out if the results would become larger
 * than an envelope may be.
 */
static void
emission_share_put_result(DocumentBuilder *b, Slice task_id, int *room)
{
	Task	   *child = task_look(task_id, ROWS_LATEST);
	JsonbValue	payload;

	document_open_object(b, NULL);
	document_put_text(b, "task_id", task_id);
	if (child != NULL && slice_present(child->agent_id))
		document_put_text(b, "agent_id", child->agent_id);
	if (child != NULL && emission_share_result(child, &payload) && payload.type == jbvBinary &&
		payload.val.binary.len <= *room)
	{
		*room -= payload.val.binary.len;
		document_put_value(b, "payload", &payload);
	}
	document_close_object(b);
}

void
emission_collect(Task *task)
{
	JsonbContainer *payload = emission_share_payload(task);
	SharedChild *children;
	int			n = emission_share_read(payload, &children);
	int			room = clutch_limits.max_envelope_bytes;
	const SharedChild *stranger = emission_share_stranger(task, children, n);
	DocumentBuilder b;

	/* somebody has used the ID of the child for a request of their own */
	if (stranger != NULL)
	{
		ending_fail(task, "SHARE_REFUSED",
					psprintf("the ID \"%.*s\" of a child belongs to another task; send the request again with another id",
							 stranger->task_id.len, stranger->task_id.s));
		return;
	}
	document_begin(&b);
	document_open_array(&b, "results");
	for (int i = 0; i < n; i++)
		emission_share_put_result(&b, children[i].task_id, &room);
	document_close_array(&b);
	ending_complete(task, document_end(&b));
}
